import FoundationEssentials

/// A step that makes records of a model's form out of older ones, with the old record and the new
/// model at hand; a line of a ``ModelSchema``.
///
///     Migration("full name") { old, new in
///       new.name = try old["first", as: String.self] + " " + old["last", as: String.self]
///     }
///     Migration("price in cents", changing: \.price) { old, new in
///       new.price = Int(try old["price", as: Double.self] * 100)
///     }
///     Removed("first", "last")
///
/// `Database.migrate` runs it once for each record; before that, the model cannot be used. The name
/// is what the collection remembers the step by, so it must stay. Properties that a step does not
/// mention stay, the old ones as well, unless they are ``Removed``.
///
/// Once every database is known to have run it, the line can be removed. Then raise the schema's
/// version, which distinguishes this app from an older one that never had it.
public struct Migration<M: Model>: SchemaPart, Sendable {
  private let step: MigrationStep<M>

  /// Declares a step.
  ///
  /// - Parameters:
  ///   - name: The step's name, unique among the schema's steps.
  ///   - properties: The properties that records may hold in another form, so that they cannot be
  ///     read: the step must set them. Any other property that cannot be read is an error.
  ///   - body: Takes the record as it is stored, and the model as far as it could be read from it.
  ///     An error that it throws ends the migration, and is reported with the record's path.
  public init(
    _ name: String, changing properties: PartialKeyPath<M> & Sendable...,
    body: @escaping @Sendable (_ old: DynamicRecord, _ new: inout M) throws -> Void
  ) {
    step = MigrationStep(name, properties) { old, new, _ in try body(old, &new) }
  }

  /// Declares a step that looks at other records, or writes them: to split one into several.
  ///
  ///     Migration("addresses apart") { old, new, tx in
  ///       new.address = try tx.insert(Address(street: try old["street", as: String.self]))
  ///     }
  ///
  /// - Parameters:
  ///   - name: The step's name, unique among the schema's steps.
  ///   - properties: As in ``init(_:changing:body:)``.
  ///   - body: Also takes the transaction in which the record is written. It may delete the record;
  ///     it must not insert into the collection that is migrated, nor read its models.
  public init(
    _ name: String, changing properties: PartialKeyPath<M> & Sendable...,
    body:
      @escaping @Sendable (
        _ old: DynamicRecord, _ new: inout M, _ transaction: borrowing Database.Transaction
      ) throws -> Void
  ) {
    step = MigrationStep(name, properties, body)
  }

  /// The schema item that adds the step.
  public var item: SchemaItem<M> { SchemaItem(step: step) }
}

/// Consents to losing properties that the model no longer has; a line of a ``ModelSchema``.
///
///     Removed("legacy")
///
/// Without it, what the records have under such a name stays there, untouched.
/// `Database.migrate` takes it out; history keeps it.
public struct Removed<M: Model>: SchemaPart, Sendable {
  private let names: [String]

  /// Names the properties.
  ///
  /// - Parameter names: As they are stored.
  public init(_ names: String...) { self.names = names }

  /// The schema item that lists the names.
  public var item: SchemaItem<M> { SchemaItem(removed: names) }
}

/// A step with its code.
struct MigrationStep<M: Model>: Refinable, Sendable {
  typealias Body = @Sendable (DynamicRecord, inout M, borrowing Database.Transaction) throws -> Void
  private(set) var info: Evolution.Step
  let body: Body

  init(
    _ name: String, _ properties: [PartialKeyPath<M> & Sendable], _ body: @escaping Body
  ) {
    let changes = properties.compactMap { property -> Range<Int>? in
      guard let start = MemoryLayout<M>.offset(of: property) else { return nil }
      let type = type(of: property).valueType as? any PropertyValue.Type
      return start..<(start + max(1, type.map { MigrationStep.size(of: $0) } ?? 1))
    }
    info = Evolution.Step(name: name, changes: changes)
    self.body = body
  }

  /// The step as one of a case's.
  func ofCase(_ name: String?) -> MigrationStep {
    changed {
      $0.info = Evolution.Step(
        name: Evolution.name(info.name, ofCase: name), changes: info.changes)
    }
  }

  private static func size<V: PropertyValue>(of type: V.Type) -> Int { MemoryLayout<V>.size }
}

/// The reason why a migration has stopped: the record that could not be converted.
///
/// The batches before it are stored, nothing of the record's own batch is, and the migration
/// continues there when it is called again.
///
/// Recovery: change the record by its path, or the step, and migrate again.
public struct MigrationError: Error, CustomStringConvertible {
  /// The record.
  public let path: NodePath
  /// The steps that were run on it, or the one that has thrown.
  public let step: String
  /// The error that stopped the migration.
  public let cause: any Error

  /// The record's path, the step and the cause in words.
  public var description: String { "\(path), step '\(step)': \(cause)" }
}

extension MigrationError: LocalizedError {
  /// The ``description``, which `localizedDescription` gives as well. It is in English.
  public var errorDescription: String? { description }

  /// The remedy, in a sentence.
  public var recoverySuggestion: String? { "Change the record, or the step, and migrate again." }
}
