// Goal: the operators over asynchronous sequences give what their documentation says, and leave
// nothing behind. Method: sources that tell when an element has been taken, and a clock that the
// test moves, so that nothing depends on time.

import Synchronization
import Testing

@testable import Cambium

/// A source of elements that come when the test sends them.
private final class Feed: AsyncSequence, Sendable {
  fileprivate struct State: Sendable {
    var queue: [Int] = []
    var sent = 0
    var asked = 0
    var failure: Failed?
    var isOver = false
    var isLeft = false
  }

  struct Failed: Error {}

  private let state = AsyncMonitor(State())

  /// Sends an element; returns once it was taken and the next one is asked for.
  func send(_ element: Int) async {
    put(element)
    _ = await state.wait { $0.asked > $0.sent ? true : nil }
  }

  /// Sends an element without waiting.
  func put(_ element: Int) {
    state.change { state in
      state.queue.append(element)
      state.sent += 1
    }
  }

  func end(_ failure: Failed? = nil) {
    state.change { ($0.isOver, $0.failure) = (true, failure) }
  }

  /// The number of elements that were asked for, as soon as it is one of these at least.
  func asked(_ least: Int) async -> Int {
    await state.wait { $0.asked >= least ? $0.asked : nil } ?? 0
  }

  /// Waits until the iteration was cancelled.
  func left() async { _ = await state.wait { $0.isLeft ? true : nil } }

  func makeAsyncIterator() -> Iterator { Iterator(state: state) }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate let state: AsyncMonitor<State>

    mutating func next() async throws -> Int? {
      state.change { $0.asked += 1 }
      let next = await state.wait { state -> Result<Int?, Failed>? in
        if !state.queue.isEmpty { return .success(state.queue.removeFirst()) }
        if let failure = state.failure { return .failure(failure) }
        return state.isOver ? .success(nil) : nil
      }
      if next == nil { state.change { $0.isLeft = true } }
      return try next?.get() ?? nil
    }
  }
}

/// A clock that the test moves.
private final class HandClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    var ticks: Int
    func advanced(by duration: Duration) -> Instant {
      Instant(ticks: ticks + Int(duration.components.seconds))
    }
    func duration(to other: Instant) -> Duration { .seconds(other.ticks - ticks) }
    static func < (a: Instant, b: Instant) -> Bool { a.ticks < b.ticks }
  }

  fileprivate struct State: Sendable {
    var now = Instant(ticks: 0)
    var sleeping = 0
  }

  private let state = AsyncMonitor(State())
  private let time = Mutex(Instant(ticks: 0))
  var now: Instant { time.withLock { $0 } }
  var minimumResolution: Duration { .seconds(1) }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    state.change { $0.sleeping += 1 }
    let woken = await state.wait { $0.now >= deadline ? true : nil }
    state.change { $0.sleeping -= 1 }
    if woken == nil { throw CancellationError() }
  }

  /// Moves on, once somebody sleeps.
  func advance(by ticks: Int) async {
    _ = await state.wait { $0.sleeping > 0 ? true : nil }
    time.withLock { $0.ticks += ticks }
    state.change { $0.now.ticks += ticks }
  }

  /// Moves on, whoever sleeps.
  func jump(by ticks: Int) {
    time.withLock { $0.ticks += ticks }
    state.change { $0.now.ticks += ticks }
  }
}

@Suite("Operators over sequences")
struct SequenceTests {
  private static func stream(_ elements: [Int]) -> AsyncStream<Int> {
    AsyncStream { continuation in
      for element in elements { continuation.yield(element) }
      continuation.finish()
    }
  }

  private static func all<S: AsyncSequence>(_ sequence: S) async throws -> [S.Element] {
    var all: [S.Element] = []
    for try await element in sequence { all.append(element) }
    return all
  }

  /// The elements that a task has got so far.
  private final class Got<Element: Sendable>: Sendable {
    private let elements = AsyncMonitor([Element]())

    func append(_ element: Element) { elements.change { $0.append(element) } }

    /// The elements, once there are so many.
    func first(_ count: Int) async -> [Element] {
      await elements.wait { $0.count >= count ? $0 : nil } ?? []
    }
  }

  @Test("leave out repetitions, pair with the one before, and end after one")
  func pairs() async throws {
    let numbers = [1, 1, 2, 2, 2, 1, 3]
    #expect(try await Self.all(Self.stream(numbers).removeDuplicates()) == [1, 2, 1, 3])
    let even = Self.stream(numbers).removeDuplicates { $0 % 2 == $1 % 2 }
    #expect(try await Self.all(even) == [1, 2, 1])
    let pairs = try await Self.all(Self.stream([1, 2, 3]).withPrevious())
    #expect(pairs.map(\.old) == [nil, 1, 2] && pairs.map(\.new) == [1, 2, 3])
    #expect(try await Self.all(Self.stream(numbers).once()) == [1])
    #expect(try await Self.all(Self.stream([]).withPrevious()).isEmpty)
  }

  @Test("wait for a pause")
  func debounce() async throws {
    let (feed, clock, got) = (Feed(), HandClock(), Got<Int>())
    let task = Task {
      for try await element in feed.debounce(for: .seconds(10), clock: clock) {
        got.append(element)
      }
    }
    await feed.send(1)
    await clock.advance(by: 6)
    await feed.send(2)
    // The pause after 1 is over, but not that after 2.
    await clock.advance(by: 4)
    await clock.advance(by: 6)
    #expect(await got.first(1) == [2])
    await feed.send(3)
    await clock.advance(by: 10)
    #expect(await got.first(2) == [2, 3])
    // The last one comes with the end at the latest.
    await feed.send(4)
    feed.end()
    clock.jump(by: 10)
    try await task.value
    #expect(await got.first(3) == [2, 3, 4])
  }

  @Test("make pauses, and give the newest or the first of what came meanwhile")
  func throttle() async throws {
    for latest in [true, false] {
      let (feed, clock, got) = (Feed(), HandClock(), Got<Int>())
      let task = Task {
        let throttled = feed.throttle(for: .seconds(10), clock: clock, latest: latest)
        for try await element in throttled { got.append(element) }
      }
      await feed.send(1)
      #expect(await got.first(1) == [1])
      await feed.send(2)
      await feed.send(3)
      await clock.advance(by: 10)
      #expect(await got.first(2) == [1, latest ? 3 : 2])
      // After a long pause the next one comes at once.
      clock.jump(by: 50)
      await feed.send(4)
      #expect(await got.first(3).last == 4)
      feed.end()
      try await task.value
    }
  }

  @Test("merge all elements, those of each source in order")
  func merge() async throws {
    let (a, b) = (Self.stream(Array(0..<50)), Self.stream(Array(100..<150)))
    let merged = try await Self.all(a.merge(b))
    #expect(merged.filter { $0 < 100 } == Array(0..<50))
    #expect(merged.filter { $0 >= 100 } == Array(100..<150))
    let many = (0..<5).map { number in Self.stream((0..<9).map { number * 10 + $0 }) }
    #expect(try await Self.all(many.merge()).count == 45)
    #expect(try await Self.all([AsyncStream<Int>]().merge()).isEmpty)
  }

  @Test("merge without taking more than one element in advance")
  func backPressure() async throws {
    let (a, b) = (Feed(), Feed())
    for number in 0..<10 { a.put(number) }
    var iterator = a.merge(b).makeAsyncIterator()
    #expect(try await iterator.next() == 0)
    // One lies there, and the one behind it was fetched.
    let asked = await a.asked(2)
    #expect(asked <= 3)
    for number in 1..<10 { #expect(try await iterator.next() == number) }
  }

  @Test("merge until a source fails, which ends the others")
  func failure() async throws {
    let (a, b) = (Feed(), Feed())
    var iterator = a.merge(b).makeAsyncIterator()
    a.put(1)
    #expect(try await iterator.next() == 1)
    b.end(Feed.Failed())
    await #expect(throws: Feed.Failed.self) { _ = try await iterator.next() }
  }

  @Test("combine the newest of each")
  func combineLatest() async throws {
    let (a, b, c) = (Feed(), Feed(), Feed())
    let got = Got<[Int]>()
    let task = Task {
      for try await (x, y, z) in a.combineLatest(b, c) { got.append([x, y, z]) }
    }
    await a.send(1)
    await a.send(2)
    await b.send(10)
    await c.send(100)
    #expect(await got.first(1) == [[2, 10, 100]])
    await b.send(11)
    #expect(await got.first(2).last == [2, 11, 100])
    for feed in [a, b, c] { feed.end() }
    try await task.value
    let pairs = try await Self.all(Self.stream([1]).combineLatest(Self.stream([2])))
    #expect(pairs.map { [$0.0, $0.1] } == [[1, 2]])
  }

  @Test("leave their sources when the task is cancelled, or the iterator goes")
  func leaving() async throws {
    let (a, b, c) = (Feed(), Feed(), Feed())
    let task = Task {
      for try await _ in a.merge(b).debounce(for: .seconds(1), clock: HandClock()) {}
    }
    _ = await a.asked(1)
    _ = await b.asked(1)
    task.cancel()
    await a.left()
    await b.left()
    try await task.value
    do {
      var iterator = c.throttle(for: .seconds(1), clock: HandClock()).makeAsyncIterator()
      c.put(1)
      #expect(try await iterator.next() == 1)
    }
    await c.left()
  }
}
