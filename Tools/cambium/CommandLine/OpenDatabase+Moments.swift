// Resolves the moments that users write: each to the last transaction of the database that it sees.

import Cambium
import FoundationEssentials

extension OpenDatabase {
  /// The last transaction at or before a moment; the newest where none is given. A time before the
  /// horizon is looked for in the archive where that may be read.
  ///
  /// - Throws: Where there is no such transaction, ``DatabaseError/noSuchMoment(reason:)``. A time
  ///   before the first one gives zero, the empty database.
  static func sequence(
    _ moment: PointInTime?, in database: Database, readsArchive: Bool = false
  ) throws -> SequenceNumber {
    let head = try database.head
    switch moment {
    case nil: return head
    case .sequence(let number)?:
      if number <= head.rawValue { return SequenceNumber(number) }
      throw DatabaseError.noSuchMoment(reason: "\(number) is not there; \(newest(head))")
    case .head(let back)?:
      if back <= head.rawValue { return SequenceNumber(head.rawValue - UInt64(back)) }
      throw DatabaseError.noSuchMoment(reason: "HEAD~\(back) would be too early; \(newest(head))")
    case .tag(let name)?: return try tagged(name, in: database)
    case .date(let date)?:
      return min(try database.sequence(at: date, readsArchive: readsArchive), head)
    }
  }

  /// The moment of a tag.
  private static func tagged(_ name: String, in database: Database) throws -> SequenceNumber {
    if Served.isPartial { throw Failure.outOfScope("tags") }
    let tags = try database.tags
    if let tag = tags.first(where: { $0.name == name }) {
      return min(tag.sequence, try database.head)
    }
    var failure = Failure(.missing, "no_such_moment", "there is no tag “\(name)”")
    if let nearest = Suggestion.nearest(to: name, in: tags.map(\.name)) {
      failure.hint = "did you mean tag:\(nearest)?"
    } else {
      failure.hint = "`cambium tag \(Shell.quoted(database.path))` lists the tags"
    }
    throw failure
  }

  /// As ``sequence(_:in:)``, for a moment at which there must have been something: a time before
  /// the first transaction is an error as well.
  static func recordedSequence(
    _ moment: PointInTime?, in database: Database
  ) throws -> SequenceNumber {
    let sequence = try sequence(moment, in: database)
    guard case .date(let date)? = moment, sequence == .zero, try database.head > .zero else {
      return sequence
    }
    let first = try database.commit(.zero.next).time
    throw DatabaseError.noSuchMoment(
      reason: "\(Zone.system.text(date)) is before the first transaction, which is of "
        + Zone.system.exactText(first))
  }

  /// The database as it was at a moment; as it is where none is given.
  ///
  /// - Throws: As ``recordedSequence(_:in:)``.
  static func snapshot(_ moment: PointInTime?, of database: Database) throws -> Snapshot {
    guard let moment else { return try database.snapshot() }
    return try database.snapshot(at: .sequence(try recordedSequence(moment, in: database)))
  }

  /// The database of a call that only reads, as of `--at`.
  static func snapshot(_ call: Call) throws -> Snapshot {
    try snapshot(call[.at]?.moment, of: forReading(call))
  }

  /// A transaction, by a moment at or after it.
  ///
  /// - Throws: As ``sequence(_:in:)``, and where there is no transaction at or before the moment.
  static func commit(
    _ moment: PointInTime, of database: Database, readsArchive: Bool = false
  ) throws -> Commit {
    let sequence = try sequence(moment, in: database, readsArchive: readsArchive)
    if sequence > .zero { return try database.commit(sequence, readsArchive: readsArchive) }
    throw DatabaseError.noSuchMoment(
      reason: "no transaction is at or before \(moment); \(newest(try database.head))")
  }

  private static func newest(_ head: SequenceNumber) -> String {
    head == .zero ? "there are no transactions yet" : "the newest transaction is \(head)"
  }
}
