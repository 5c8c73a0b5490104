// The observers: at their own pace, in part, cancelled and begun again, with a stored position.

import Cambium

extension World {
  func addObservers(to group: inout TaskGroup<Void>) {
    for (index, pause) in plan.observers.enumerated() {
      group.addTask { await self.observe("observer \(index)", pause: pause) }
    }
    group.addTask { await self.observeOdd() }
    group.addTask { await self.observeWithRestarts() }
    group.addTask { await self.consume() }
  }

  private func number(of commit: Commit) -> Int? { commit.metadata["number"].flatMap { Int($0) } }

  /// Notes that an observer was told of a transaction.
  ///
  /// - Returns: True if it is the last transaction of all.
  private func isLast(_ commit: Commit) -> Bool {
    scheduler.note(commit.sequence.rawValue)
    return number(of: commit) == World.end.all
  }

  /// Follows everything from the first transaction to the last.
  private func observe(_ who: String, pause steps: Int) async {
    await bearingClosing(who) {
      let (last, _) = try await database.follow(after: .zero) { commit in
        await self.pause(steps)
        try self.expectChanges(of: commit)
        return !self.isLast(commit)
      }
      note { $0.observed.append(last) }
    }
  }

  /// Checks that what a transaction changed can be read when one is told of it.
  private func expectChanges(of commit: Commit) throws {
    guard let number = number(of: commit) else {
      return violation("\(commit.sequence) has no number")
    }
    let place = World.place(number)
    let change = try commit.changes.fetch().first { $0.path == place }
    require(
      change?.old == nil && change?.new == .integer(Int64(number)),
      "\(commit.sequence) is told to have changed \(change as Any)")
  }

  /// Follows one part of the tree.
  private func observeOdd() async {
    await bearingClosing("the observer of w/1") {
      for try await commit in database.changes(after: 0, under: "w/1") {
        guard let number = number(of: commit) else { continue }
        note { $0.odd.append(number) }
        if number == World.end.all { break }
      }
    }
  }

  /// Follows everything, is cancelled again and again, and continues after the last one seen.
  private func observeWithRestarts() async {
    await bearingClosing("the restarted observer") {
      var standing = (last: SequenceNumber.zero, isEnd: false)
      for steps in plan.restarts where !standing.isEnd {
        standing = try await database.follow(
          after: standing.last, cancelledAfter: { await pause(steps) }
        ) { !self.isLast($0) }
      }
      if !standing.isEnd {
        standing = try await database.follow(after: standing.last) { !self.isLast($0) }
      }
      let end = standing.last
      note { $0.observed.append(end) }
    }
  }

  /// Follows with a position of its own, a few transactions at a time.
  private func consume() async {
    await bearingClosing("the consumer") {
      let consumer = database.consumer("mailer")
      var last = SequenceNumber.zero
      var isEnd = false
      while !isEnd {
        let position = try consumer.position()
        require(position == last, "the consumer was at \(last), and is at \(position)")
        var count = 0
        (last, _) = try await database.follow(after: position) { commit in
          try consumer.advance(to: commit.sequence)
          count += 1
          isEnd = isLast(commit)
          return count < 3 && !isEnd
        }
        // A feed that ends early is that of a closed database.
        if count == 0 { return require(self.plan.close != nil, "the consumer's feed has ended") }
      }
      let end = last
      note { $0.observed.append(end) }
    }
  }

  /// Counts writes, each in the transaction that moves its position.
  func consumeExactlyOnce() async {
    await bearingClosing("the consumer that writes") {
      for try await commit in try database.consumer("sum").commits() {
        guard let number = number(of: commit) else { continue }
        if number == World.end.consumer { return }
        if number > World.end.all { continue }
        await asyncWrite(World.consumed + number) { tx in
          try tx.increment("sum", by: 1)
          try tx.advance("sum", to: commit.sequence)
        }
      }
    }
  }
}
