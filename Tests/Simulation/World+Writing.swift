// The writers, each of whose writes has a number of its own.

import Cambium

extension World {
  /// Where a write leaves its number.
  static func place(_ number: Int) -> NodePath {
    NodePath(keys: ["w", .integer(Int64(number % 2)), .integer(Int64(number))])
  }

  func write(_ writer: Plan.Writer) async {
    for number in writer.writes {
      await pause(writer.pause)
      if writer.isSynchronous {
        await scheduler.turn()
        acknowledge(number, Result { try synchronousWrite(number) })
      } else {
        await asyncWrite(number)
      }
    }
  }

  private func synchronousWrite(_ number: Int) throws -> SequenceNumber {
    try database.write { tx in try self.body(tx, number) }
  }

  /// Writes without blocking, and does `more` in the same transaction.
  func asyncWrite(
    _ number: Int,
    _ more: @escaping @Sendable (borrowing Database.Transaction) throws -> Void = { _ in }
  ) async {
    do {
      let sequence = try await database.write { tx in
        try more(tx)
        return try self.body(tx, number)
      }
      acknowledge(number, .success(sequence))
    } catch {
      acknowledge(number, .failure(error))
    }
  }

  /// A write whose task is cancelled: it is done or not, and says which.
  func cancelledWrite(_ number: Int, after steps: Int) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.asyncWrite(number) }
      await pause(steps)
      group.cancelAll()
    }
  }

  /// One transaction; others run in the middle of it.
  private func body(_ tx: borrowing Database.Transaction, _ number: Int) throws -> SequenceNumber {
    try tx.increment("count", by: 1)
    scheduler.interleave(holdsTurn: true)
    try tx.set(World.place(number), to: .integer(Int64(number)))
    if plan.fails(number) { throw Refusal() }
    tx.annotate("number", "\(number)")
    return tx.sequence
  }

  /// Notes how a write ended; what was acknowledged can be read at once.
  private func acknowledge(_ number: Int, _ outcome: Result<SequenceNumber, any Error>) {
    switch outcome {
    case .success(let sequence):
      scheduler.note(sequence.rawValue)
      note { $0.acknowledged[number] = sequence }
      expectReadable(number, sequence)
    case .failure(let error):
      scheduler.note(0)
      let isExpected =
        switch error {
        case is Refusal: plan.fails(number)
        case is CancellationError: plan.cancelled.contains { $0.number == number }
        case DatabaseError.closed: plan.close != nil
        default: false
        }
      require(isExpected, "write \(number) got \(error)")
    }
  }

  private func expectReadable(_ number: Int, _ sequence: SequenceNumber) {
    do {
      try database.read { snapshot in
        let found = try snapshot[World.place(number)].value
        require(
          snapshot.sequence >= sequence && found == .integer(Int64(number)),
          "write \(number) is acknowledged as \(sequence), and not there at \(snapshot.sequence)")
      }
    } catch DatabaseError.closed where plan.close != nil {} catch {
      violation("reading write \(number) got \(error)")
    }
  }
}
