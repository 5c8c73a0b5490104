// From a record of an older form to an enum of models, and back: the case is found by its present
// or a former name, and its own schema does the rest.
//
//     record ──▶ case ──▶ its properties, its steps ──▶ the enum's steps ──▶ record of the case
//                 └─ gone: deleted, refused, or made another one

/// The part of a migration that depends on the cases of an enum of models.
struct CasesMigration<M: Model>: Sendable {
  /// The model that a record of an older form is, with the steps of its case done; nil where the
  /// record stays as it is, or has gone.
  let read: @Sendable (DynamicRecord, MigrationSteps, borrowing Database.Transaction) throws -> M?
  /// Puts a model into a record; one of another case takes its place.
  let write: @Sendable (M, inout DynamicRecord) -> Void
  /// The schema of a model's case.
  let part: @Sendable (M) -> SchemaCore?
}

/// The steps that a migration does, of all that are to be done.
struct MigrationSteps {
  let names: [String]
  /// The steps that a later migration does.
  let rest: [String]

  /// The steps in words.
  var text: String { names.joined(separator: ", ") }
}

extension CasesMigration where M: ModelUnion {
  init(_ type: M.Type, _ removals: [CaseRemoval<M>]) {
    read = { record, steps, tx in
      if let known = M.migratedCase(of: record) {
        return try known.migration.read(record, steps, tx)
      }
      if let removal = removals.first(where: { .string($0.name) == M.caseName(of: record) }) {
        return try removal.run(record, steps, tx)
      }
      throw PropertyError(
        path: record.path, property: M.discriminator,
        reason: "it says \(M.caseName(of: record)?.text ?? "none"), which is no case of \(M.self)")
    }
    write = { model, record in
      guard let own = M.cases.all.first(where: { $0.key(model) != nil }) else { return }
      let former = M.migratedCase(of: record)
      if let former, former.name != own.name { record.clear(former.core()) }
      if former == nil { record.values = ValueMap() }
      own.migration.write(model, &record)
    }
    part = { model in M.cases.all.first { $0.key(model) != nil }?.core() }
  }
}

extension ModelUnion {
  fileprivate static var discriminator: String { schema.core.sharing.discriminator ?? "" }

  fileprivate static func caseName(of record: DynamicRecord) -> Value? {
    record.values[discriminator]
  }

  /// The case that a record of an older form is of; nil for one that is gone, or unknown.
  fileprivate static func migratedCase(of record: DynamicRecord) -> ModelCase<Self>? {
    guard let name = caseName(of: record), name != .null else {
      return cases.all.first(where: \.names.takesNameless)
    }
    return cases.all.first { known in known.names.all.contains { .string($0) == name } }
  }
}

extension CaseRemoval {
  /// Does with a record what is said about its case, if that is among the steps.
  fileprivate func run(
    _ record: DynamicRecord, _ steps: MigrationSteps, _ tx: borrowing Database.Transaction
  ) throws -> M? {
    guard steps.names.contains(step) else { return nil }
    do {
      switch outcome {
      case .converted: return try made(of: record)
      case .deleted: _ = try tx.running.asking(.none) { try tx.remove(record.path) }
      case .refused:
        throw DatabaseError.misuse(
          reason: """
            there is still a record of the case '\(name)', which \(M.self) no longer has: delete \
            it, or say what becomes of it, as in RemovedCase("\(name)", .deleted)
            """)
      }
      return nil
    } catch {
      throw MigrationError(path: record.path, step: step, cause: error)
    }
  }
}

/// The part of a migration that is about one case.
struct CaseMigration<Union: ModelUnion>: Sendable {
  let read:
    @Sendable (DynamicRecord, MigrationSteps, borrowing Database.Transaction) throws -> Union?
  /// Does nothing where the model is another case.
  let write: @Sendable (Union, inout DynamicRecord) -> Void

  init<C: Model>(
    _ make: @escaping @Sendable (C) -> Union, _ payload: @escaping @Sendable (Union) -> C?
  ) {
    read = { record, steps, tx in
      try C.schema.older(record, steps, [], tx).map(make)
    }
    write = { union, record in
      if let model = payload(union) { C.schema.core.write(model, into: &record) }
    }
  }
}

extension DynamicRecord {
  /// Takes out everything that a schema knows.
  fileprivate mutating func clear(_ core: SchemaCore) {
    for info in core.properties {
      for name in [info.name] + info.older.names.map(\.name) { self[name] = nil }
    }
    for name in core.evolution.removed { self[name] = nil }
  }
}
