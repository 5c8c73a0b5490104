import Cambium
import Foundation

/// A write that waits for the server's answer.
struct WaitingWrite: Sendable, Equatable {
  /// Its place among the others.
  var number: UInt64
  /// The `Idempotency-Key`, by which the server knows the write again.
  var key: String
  /// The body of the request.
  var body: [UInt8]
  /// When it was sent first; nil while it was not.
  var sent: Date?
}

/// The writes that wait, in a small database of the client's, so that they survive its process.
///
/// Without a path they are only in memory, and nothing is kept here.
///
/// Threads: one at a time, the queue's.
final class WaitingFile: Sendable {
  private static let collection: NodePath = "waiting"
  private let database: Database?

  /// Opens the file.
  ///
  /// - Parameter path: The directory of the database; nil for none.
  /// - Throws: `DatabaseError`.
  init(_ path: String?) throws {
    guard let path else {
      database = nil
      return
    }
    let database = try Database(at: path)
    // Nobody looks at its past.
    let retention = Retention(transactions: 100)
    if try database.retention() != retention { try database.setRetention(retention) }
    self.database = database
  }

  /// The writes that an earlier process has left, in order.
  func all() throws -> [WaitingWrite] {
    guard let database else { return [] }
    return try database.read { snapshot in
      var writes: [WaitingWrite] = []
      try snapshot[WaitingFile.collection].children.forEach { node in
        guard case .integer(let number)? = node.path.last, let record = try node.record,
          case .string(let key)? = record["key"], case .data(let body)? = record["body"]
        else { return }
        var write = WaitingWrite(
          number: UInt64(clamping: number), key: key, body: Array(body), sent: nil)
        if case .date(let sent)? = record["sent"] { write.sent = sent }
        writes.append(write)
      }
      return writes
    }
  }

  /// Keeps a write: it is durable when this returns.
  func save(_ write: WaitingWrite) throws {
    var values: ValueMap = ["key": .string(write.key), "body": .data(Data(write.body))]
    values["sent"] = write.sent.map { .date($0) }
    try database?.write { try $0.set(WaitingFile.path(write.number), to: .map(values)) }
  }

  /// Notes that a write is about to be sent.
  func mark(_ number: UInt64, sent: Date) throws {
    try database?.write { try $0.update(WaitingFile.path(number), ["sent": .date(sent)]) }
  }

  func remove(_ number: UInt64) throws {
    try database?.write { _ = try $0.remove(WaitingFile.path(number)) }
  }

  func close() { try? database?.close() }

  private static func path(_ number: UInt64) -> NodePath {
    collection.appending(.integer(Int64(clamping: number)))
  }
}
