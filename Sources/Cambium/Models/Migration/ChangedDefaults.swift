// Defaults that a model has otherwise than its collection's declaration:
//
//     declared            model               records without a value
//     nothing             constant            mean the constant from now on
//     constant            another, or none    mean what is declared, until a migration stores that
//     nothing, or null    computed            get a value of their own by a migration; that must be
//     null                constant, not nil   mean the constant, since nil has no place any more
//
// A change that no record relies on is declared at once.

import LMDB

/// The changed defaults of a model that existing records do not allow.
struct ChangedDefaults {
  /// A property whose records need a migration.
  struct Change {
    let property: String
    /// The value that is stored in a record that has none; nil where it is computed for each.
    let value: Value?
    /// True if null is such a value as well.
    let includesNull: Bool
    /// True if the model cannot be used before.
    let isBlocking: Bool

    var step: String { Evolution.settling(property) }

    /// A record with what it meant, as far as that is not computed.
    func settled(_ record: DynamicRecord) -> DynamicRecord {
      var record = record
      switch record.values[property] {
      case nil: record.values[property] = value
      case .null? where includesNull: record.values[property] = value
      default: break
      }
      return record
    }
  }

  private(set) var changes: [Change] = []

  /// Compares, and looks for records that rely on what would change.
  ///
  /// - Parameters:
  ///   - core: The schema of the model.
  ///   - wanted: The declaration that the model would make.
  ///   - present: The declaration that the collection has; nil where it has none.
  ///   - snapshot: The snapshot that has the records.
  ///   - skipped: Properties that other steps make of something else.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  init(
    _ core: SchemaCore, _ wanted: CollectionDefinition, _ present: CollectionDefinition?,
    _ snapshot: Snapshot, skipped: Set<String>
  ) throws {
    let candidates = core.properties.filter { !$0.defaults.isShared && !skipped.contains($0.name) }
      .compactMap { info -> Change? in
        // Half-way through, what is computed is declared already.
        let isUnfinished =
          present?.migration?.steps.contains(Evolution.settling(info.name)) ?? false
        return wanted[info.name].flatMap {
          ChangedDefaults.change(info, to: $0, from: present?[info.name], isUnfinished)
        }
      }
    if candidates.isEmpty { return }
    let missing = try snapshot.missing(candidates.map(\.property), in: core.path)
    changes = candidates.compactMap { change in
      let isNull = missing.null.contains(change.property) && change.includesNull
      guard isNull || missing.absent.contains(change.property) else { return nil }
      // An older null cannot be distinguished from the nil that the model stores.
      let isMixed = isNull && wanted[change.property]?.isNullable != false && change.value != nil
      return Change(
        property: change.property, value: change.value, includesNull: change.includesNull,
        isBlocking: change.isBlocking || isMixed)
    }
  }

  private static func change(
    _ info: PropertyInfo, to own: PropertyDefinition, from old: PropertyDefinition?,
    _ isUnfinished: Bool
  ) -> Change? {
    let before = old.flatMap { $0.absence ?? ($0.isNullable == true ? .null : nil) }
    if info.defaults.isComputed {
      if let before, before != .null {
        return Change(
          property: info.name, value: before, includesNull: old?.isNullable == false,
          isBlocking: false)
      }
      let isDone = info.isNullable ? old != nil : old?.isRequired == true
      if isDone && !isUnfinished { return nil }
      return Change(
        property: info.name, value: nil, includesNull: !info.isNullable, isBlocking: true)
    }
    guard let before else { return nil }
    let isNullOld = old?.isNullable == false && own.isNullable == true
    let isSame = before.coerced(to: own.type) == own.absence ?? .null
    if isSame && !isNullOld || before == .null && own.isNullable == false { return nil }
    return Change(
      property: info.name, value: before, includesNull: old?.isNullable == false, isBlocking: false)
  }

  /// Lets what is declared count until the records are migrated.
  func keep(_ present: CollectionDefinition?, in declaration: inout CollectionDefinition) {
    for change in changes {
      guard let old = present?[change.property],
        let index = declaration.properties.firstIndex(where: { $0.name == change.property })
      else { continue }
      declaration.properties[index].absence = old.absence
      declaration.properties[index].omitsAbsence =
        old.absence == nil || old.omitsAbsence && declaration.properties[index].omitsAbsence
      if change.value != nil && old.absence == nil {
        declaration.properties[index].isNullable = true
      }
      if change.value != nil { declaration.properties[index].isRequired = old.isRequired }
    }
  }
}

extension Snapshot {
  /// The names of the properties that some record lacks, and of those that some record has as null.
  fileprivate func missing(
    _ names: [String], in path: NodePath
  ) throws -> (absent: Set<String>, null: Set<String>) {
    var (absent, null): (Set<String>, Set<String>) = ([], [])
    let wanted = try names.map { ($0, try nameID($0)) }
    let reader = try reader
    guard let node = try node(at: path) else { return ([], []) }
    var walk = try ChildWalk(reader, node: node, moment: nil)
    while absent.count + null.count < 2 * names.count,
      try walk.next({ _, header, version in
        guard header.kind == .record else { return }
        let record = version.extracting(droppingFirst: header.contentOffset)
        let table = try RecordTable(record)
        for (name, id) in wanted {
          guard let id, let range = try table.find(record, id) else {
            absent.insert(name)
            continue
          }
          if try record.load(UInt8.self, at: range.lowerBound) == ValueTag.null {
            null.insert(name)
          }
        }
      }) != nil
    {
      if wanted.allSatisfy({ $0.1 == nil }) { break }
    }
    return (absent, null)
  }
}
