/// A case that an enum of models no longer has, and what becomes of its records; a line of the
/// enum's ``ModelSchema``.
///
///     static let schema = ModelSchema<Vehicle>(union: "vehicles", version: 2) {
///       RemovedCase("bicycle")                               // there must be none
///       RemovedCase("sledge", .deleted)
///       RemovedCase("van") { old in
///         .truck(Truck(load: try old["volume", as: Double.self] / 2))
///       }
///     }
///
/// `Database.migrate` does it; before that, the models cannot be used. Without the line, the
/// records stay as they are: a query of the enum throws a ``PropertyError`` at the first one.
public struct RemovedCase<M: ModelUnion>: SchemaPart, Sendable {
  /// The way in which records of the case go.
  public enum Records: Hashable, Sendable {
    /// There must be none: the migration stops with a ``MigrationError`` at the first one.
    case refused
    /// They are deleted, as a removal of their paths does: delete rules deny it, or cascade.
    case deleted
  }

  private let removal: CaseRemoval<M>

  /// Names a case whose records go.
  ///
  /// - Parameters:
  ///   - name: The name of the case in its records.
  ///   - records: The way in which they go.
  public init(_ name: String, _ records: Records = .refused) {
    removal = CaseRemoval(name: name, outcome: records == .deleted ? .deleted : .refused)
  }

  /// Names a case whose records become those of another one.
  ///
  /// - Parameters:
  ///   - name: The name of the case in its records.
  ///   - convert: Takes a record as it is stored, and makes the model that takes its place, under
  ///     the same id. Nothing else of the record stays. An error that it throws ends the migration,
  ///     and is reported with the record's path.
  public init(
    _ name: String, _ convert: @escaping @Sendable (_ old: DynamicRecord) throws -> M
  ) {
    removal = CaseRemoval(name: name, outcome: .converted(convert))
  }

  /// The schema item that adds the removal.
  public var item: SchemaItem<M> { SchemaItem(caseRemoval: removal) }
}

/// A case that is gone, and what becomes of its records.
struct CaseRemoval<M: Model>: Sendable {
  enum Outcome: Sendable {
    case refused
    case deleted
    case converted(@Sendable (DynamicRecord) throws -> M)
  }

  let name: String
  let outcome: Outcome

  /// The name of the step that does it.
  var step: String { "case '\(name)' removed" }

  /// The model that takes the place of a record; nil where none does.
  func made(of record: DynamicRecord) throws -> M? {
    guard case .converted(let convert) = outcome else { return nil }
    var model = try convert(record)
    guard let key = record.key.flatMap({ M.Key(_treeKey: $0) }) else {
      throw ValueMismatch(reason: "the key is not of the kind '\(M.Key._keyType.rawValue)'")
    }
    model.id = ModelID(key)
    return model
  }
}
