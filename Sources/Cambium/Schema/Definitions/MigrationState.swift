// The state of migrations in a declaration: the steps that were applied to the records, and the
// progress of the migration under way.

/// A migration step that was applied to all records of a collection.
public struct AppliedStep: Hashable, Sendable {
  /// The step's name, from the app or the command line.
  public var name: String
  /// The ``CollectionDefinition/version`` that it led to: an app of that version must have the
  /// step, a later one need not; zero if no app must.
  public var version: Int
  /// The transaction that finished it, or zero if there never was a record to change. Records as of
  /// an earlier moment have the older form.
  public var sequence: SequenceNumber

  package init(_ name: String, version: Int, sequence: SequenceNumber = .zero) {
    self.name = name
    self.version = version
    self.sequence = sequence
  }
}

/// The progress of a migration: its position is stored with each batch, so that it resumes where it
/// was interrupted.
public struct UnfinishedMigration: Hashable, Sendable {
  /// The steps, in order.
  public var steps: [String]
  /// The number of records that are done.
  public var done: Int
  /// The key of the last one, as text; nil before the first.
  public var last: String?
  /// The declaration that it leads to, as a value, if no app provides it.
  package var target: Value?

  package init(_ steps: [String], done: Int = 0, last: String? = nil, target: Value? = nil) {
    self.steps = steps
    self.done = done
    self.last = last
    self.target = target
  }
}

extension AppliedStep: ValueCodable {
  var value: Value {
    [
      "name": .string(name), "version": .integer(Int64(version)),
      "sequence": .integer(Int64(clamping: sequence.rawValue)),
    ]
  }

  init(_ value: Value) throws {
    let map = try Members(value)
    self.init(
      try map.needed("name") { try map.text($0) },
      version: Int(clamping: try map.integer("version") ?? 0),
      sequence: SequenceNumber(UInt64(clamping: try map.integer("sequence") ?? 0)))
  }
}

extension UnfinishedMigration: ValueCodable {
  var value: Value {
    var map: ValueMap = ["done": .integer(Int64(done))]
    map.set("steps", steps.map { .string($0) })
    map["last"] = last.map { .string($0) }
    map["target"] = target
    return .map(map)
  }

  init(_ value: Value) throws {
    let map = try Members(value)
    let done = Int(clamping: try map.integer("done") ?? 0)
    if done < 0 { throw Members.unknown("done", "\(done)") }
    self.init(
      try map.texts("steps"), done: done, last: try map.text("last"), target: map["target"])
  }
}
