import Cambium

/// The lines that `cambium tail --json` prints of transactions, for a stream.
///
/// One value is used by one task at a time.
package final class ChangeLines {
  /// A line of more bytes leaves the changes out, and says so.
  static let bytesMax = 4 << 20

  private struct TooLong: Error {}

  private final class Buffer {
    var bytes: [UInt8] = []
  }

  private let served: Served
  private let call: Call
  private let filter: CommitFilter
  private let teller: CommitTeller
  private let buffer = Buffer()
  private let database: Database
  private let under: NodePath
  /// The transaction after which the request begins; nil for now.
  package let after: SequenceNumber?

  /// Understands a request.
  ///
  /// - Throws: ``CommandFailure``.
  package init(_ database: Database, _ request: CommandRequest) throws {
    do {
      let (_, invocation) = try CommandService.read(request)
      let served = Served(
        database: database, scope: request.scope, body: [], pageSize: nil,
        isAbandoned: request.isAbandoned, progress: nil)
      let buffer = buffer
      let output = Output(format: .json) { bytes in
        if buffer.bytes.count + bytes.count > ChangeLines.bytesMax { throw TooLong() }
        buffer.bytes += bytes
      }
      self.served = served
      self.database = database
      under = invocation[TailCommand.path]?.path ?? .root
      let text = request.parameters.first { $0.name == RequestParser.after.name }?.value
      after = text.flatMap(UInt64.init).map { SequenceNumber($0) }
      let call = Served.$current.withValue(served) { Call(invocation, output) }
      self.call = call
      filter = try Served.$current.withValue(served) { try CommitFilter(call, database) }
      teller = CommitTeller(call: call, detail: .patch(first: .max))
    } catch {
      let failure = Failure(error, database: Served.databaseName)
      throw CommandFailure(failure, isPartial: !request.scope.isRoot)
        ?? CommandFailure(500, "failed", "\(error)")
    }
  }

  /// Visits the lines of a stretch of the log, the oldest first, until `body` returns false.
  ///
  /// - Throws: ``CommandFailure``.
  package func forEach(
    after: SequenceNumber, upTo: SequenceNumber,
    _ body: (SequenceNumber, [UInt8]) throws -> Bool
  ) throws {
    try Served.$current.withValue(served) {
      do {
        var stretch = try LogStretch(
          database, under: under, since: .sequence(after.rawValue),
          until: .sequence(upTo.rawValue), isStrict: call.isScoped)
        if after < (try database.horizon) {
          throw DatabaseError.compacted(oldest: try database.horizon)
        }
        stretch.filter = filter
        try stretch.forEach { try body($0.sequence, try line($0)) }
      } catch {
        let failure = Failure(error, database: Served.databaseName)
        throw CommandFailure(failure, isPartial: call.isScoped)
          ?? CommandFailure(500, "failed", "\(error)")
      }
    }
  }

  /// The line of a transaction, without the line feed.
  private func line(_ commit: Commit) throws -> [UInt8] {
    do {
      try teller.tell(commit)
      try call.output.flush()
    } catch is TooLong {
      call.output.discard()
      buffer.bytes = []
      var line = CommitText.json(commit)
      line.add("changesLeftOut", true)
      return line.versioned.object
    }
    defer { buffer.bytes = [] }
    return buffer.bytes.last == ASCII.lineFeed ? buffer.bytes.dropLast() : buffer.bytes
  }
}
