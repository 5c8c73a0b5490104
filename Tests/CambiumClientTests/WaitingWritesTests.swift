import Cambium
import Foundation
import Synchronization
import Testing

@testable import CambiumClient
@testable import CambiumServer

/// The outcomes of writes that an earlier process has left.
private final class Outcomes: Sendable {
  let all = Mutex<[String]>([])

  func add(_ error: (any Error)?) {
    all.withLock { $0.append(error.map { "\($0)" } ?? "made") }
  }

  /// Waits until there are so many.
  func wait(for count: Int) async throws -> [String] {
    while all.withLock({ $0.count }) < count { try await Task.sleep(for: .milliseconds(2)) }
    return all.withLock { $0 }
  }
}

@Suite("Writes that wait", .timeLimit(.minutes(1))) struct WaitingWritesTests {
  private static func options(_ change: (inout RemoteStore.Options) -> Void = { _ in })
    -> RemoteStore.Options
  {
    var options = RemoteStore.Options()
    (options.pauseFirst, options.pauseMax) = (.milliseconds(1), .milliseconds(5))
    options.patience = .milliseconds(50)
    change(&options)
    return options
  }

  private static func file() -> String {
    FileManager.default.temporaryDirectory.appending(path: "\(UUID())").path
  }

  /// Waits until so many writes wait.
  private static func wait(_ store: RemoteStore, for count: Int) async throws {
    while store.waitingCount != count { try await Task.sleep(for: .milliseconds(1)) }
  }

  @Test("are made in their order once the server is there")
  func order() async throws {
    let server = try LocalServer(for: Counter.self)
    defer { server.remove() }
    try server.stop()
    let store = try RemoteStore(LocalTransport(server: server), Self.options())
    defer { store.stop() }
    await #expect(throws: RemoteStoreError.self) { _ = try await store.list(Counter.self) }
    async let first = store.create(Counter(id: 1, count: 1))
    try await Self.wait(store, for: 1)
    async let second = store.update(Counter.ID(1)) { $0.count *= 10 }
    try await Self.wait(store, for: 2)
    async let third = store.update(Counter.ID(1)) { $0.count += 5 }
    try await Self.wait(store, for: 3)
    async let fourth = store.delete(Counter.ID(2))
    try await Self.wait(store, for: 4)
    #expect(!store.status.isLive)
    try server.start()
    #expect(try await first.count == 1)
    #expect(try await second.count == 10)
    #expect(try await third.count == 15)
    #expect(try await fourth == false)
    #expect(store.status.isLive)
    #expect(store.waitingCount == 0)
  }

  @Test("survive the process, and are made before all others")
  func survive() async throws {
    let server = try LocalServer(for: Counter.self)
    let path = Self.file()
    defer { server.remove(); try? FileManager.default.removeItem(atPath: path) }
    try server.stop()
    let outcomes = Outcomes()
    let options = Self.options {
      $0.waitingWrites = path
      $0.leftover = outcomes.add
    }
    let first = try RemoteStore(LocalTransport(server: server), options)
    var calls: [Task<Counter, any Error>] = []
    for number in 1...3 {
      calls.append(Task { try await first.create(Counter(id: .init(min(number, 2)))) })
      try await Self.wait(first, for: number)
    }
    first.stop()
    for call in calls { await #expect(throws: RemoteStoreError.stopped) { try await call.value } }
    try server.start()
    let second = try RemoteStore(LocalTransport(server: server), options)
    defer { second.stop() }
    let created = try await second.create(Counter())
    #expect(created.id == 3)
    let told = try await outcomes.wait(for: 3)
    #expect(told[..<2] == ["made", "made"])
    #expect(told[2].contains("counters/2"))
    #expect(try await second.list(Counter.self).map(\.id) == [1, 2, 3])
  }

  @Test("whose answer was lost with the process are not made twice")
  func answerLost() async throws {
    let server = try LocalServer(for: Counter.self)
    let path = Self.file()
    defer { server.remove(); try? FileManager.default.removeItem(atPath: path) }
    let outcomes = Outcomes()
    let options = Self.options {
      $0.waitingWrites = path
      $0.leftover = outcomes.add
    }
    let deaf = DeafTransport(inner: LocalTransport(server: server))
    let first = try RemoteStore(deaf, options)
    let call = Task { try await first.create(Counter(note: "once")) }
    _ = await deaf.heard.first { _ in true }
    first.stop()
    _ = try? await call.value
    let second = try RemoteStore(LocalTransport(server: server), options)
    defer { second.stop() }
    #expect(try await outcomes.wait(for: 1) == ["made"])
    #expect(try await second.list(Counter.self).map(\.note) == ["once"])
    #expect(second.waitingCount == 0)
  }

  @Test("are bounded")
  func bounded() async throws {
    let server = try LocalServer(for: Counter.self)
    defer { server.remove() }
    try server.stop()
    let store = try RemoteStore(
      LocalTransport(server: server), Self.options { $0.waitingMax = 3 })
    defer { store.stop() }
    for number in 1...3 {
      Task { try await store.create(Counter()) }
      try await Self.wait(store, for: number)
    }
    await #expect(throws: RemoteStoreError.tooManyWaiting(3)) {
      _ = try await store.create(Counter())
    }
    await #expect(throws: RemoteStoreError.tooManyWaiting(3)) {
      _ = try await store.update(Counter.ID(1)) { $0.count = 1 }
    }
    try server.start()
    try await Self.wait(store, for: 0)
    #expect(try await store.list(Counter.self).count == 3)
  }

  @Test("are taken back when their caller is cancelled, unless they were sent")
  func cancelled() async throws {
    let server = try LocalServer(for: Counter.self)
    let path = Self.file()
    defer { server.remove(); try? FileManager.default.removeItem(atPath: path) }
    try server.stop()
    let store = try RemoteStore(
      LocalTransport(server: server), Self.options { $0.waitingWrites = path })
    // Only after a failure is it known that the server is away.
    _ = try? await store.list(Counter.self)
    let kept = Task { try await store.create(Counter(note: "kept")) }
    try await Self.wait(store, for: 1)
    let gone = Task { try await store.create(Counter(note: "gone")) }
    try await Self.wait(store, for: 2)
    let update = Task { try await store.update(Counter.ID(1)) { $0.note = "changed" } }
    try await Self.wait(store, for: 3)
    gone.cancel()
    update.cancel()
    await #expect(throws: CancellationError.self) { try await gone.value }
    await #expect(throws: CancellationError.self) { try await update.value }
    #expect(store.waitingCount == 1)
    try server.start()
    #expect(try await kept.value.note == "kept")
    #expect(try await store.list(Counter.self).map(\.note) == ["kept"])
    store.stop()
    // Neither is in the file.
    let again = try RemoteStore(
      LocalTransport(server: server), Self.options { $0.waitingWrites = path })
    defer { again.stop() }
    #expect(again.waitingCount == 0)

    let deaf = DeafTransport(inner: LocalTransport(server: server))
    let other = try RemoteStore(deaf, Self.options())
    let sent = Task { try await other.create(Counter(note: "sent")) }
    _ = await deaf.heard.first { _ in true }
    sent.cancel()
    await #expect(throws: RemoteStoreError.stillWaiting) { try await sent.value }
    #expect(other.waitingCount == 1)
    other.stop()
    #expect(try await again.list(Counter.self).map(\.note) == ["kept", "sent"])
  }

  @Test("are not sent again when the server may have forgotten them")
  func forgotten() async throws {
    let server = try LocalServer(for: Counter.self)
    let path = Self.file()
    defer { server.remove(); try? FileManager.default.removeItem(atPath: path) }
    let outcomes = Outcomes()
    let deaf = DeafTransport(inner: LocalTransport(server: server))
    let first = try RemoteStore(deaf, Self.options { $0.waitingWrites = path })
    let call = Task { try await first.create(Counter(note: "once")) }
    _ = await deaf.heard.first { _ in true }
    first.stop()
    _ = try? await call.value
    let second = try RemoteStore(
      LocalTransport(server: server),
      Self.options {
        $0.waitingWrites = path
        $0.leftover = outcomes.add
        $0.keyLifetime = .zero
      })
    defer { second.stop() }
    #expect(try await outcomes.wait(for: 1) == ["\(RemoteStoreError.outcomeUnknown)"])
    #expect(try await second.list(Counter.self).map(\.note) == ["once"])
  }
}

/// A network on which no answer to a write arrives.
final class DeafTransport: Transport {
  let inner: LocalTransport
  /// A write was made.
  let heard: AsyncStream<Void>
  private let tell: AsyncStream<Void>.Continuation

  init(inner: LocalTransport) {
    self.inner = inner
    (heard, tell) = AsyncStream.makeStream()
  }

  func send(_ request: TransportRequest) async throws -> TransportAnswer {
    let answer = try await inner.send(request)
    if request.method != "POST" { return answer }
    tell.yield()
    try await Task.sleep(for: .seconds(600))
    throw TransportFailure("the answer was lost")
  }

  func stream(_ request: TransportRequest) async throws -> TransportStream {
    try await inner.stream(request)
  }

  func close() { inner.close() }
}
