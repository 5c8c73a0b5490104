import Cambium

/// The changes of `cambium migrate` to each record of a collection: properties get other names,
/// other types, or go.
struct RecordChanges {
  /// The new name, by the old one, in the order of the command line.
  var renamed: [(old: String, new: String)] = []
  var converted: [(name: String, type: PropertyType)] = []
  var removed: [String] = []
  /// True to take out a value that cannot be converted.
  var dropsUnconvertible = false
  /// The changes to cases of an enum of models.
  var cases = CaseChanges()

  var isEmpty: Bool {
    renamed.isEmpty && converted.isEmpty && removed.isEmpty && cases.isEmpty
  }

  // MARK: Steps

  /// The steps as they are noted: what an app's schema calls the same. An app that reads records
  /// must know that a property has another name or type.
  func steps(_ present: CollectionDefinition?) -> [AppliedStep] {
    let version = present?.version ?? 1
    let types = converted.map { name, _ in
      "\(name) was \(name): \(present?[name].map { $0.type.swiftName } ?? "Value")"
    }
    return renamed.map { AppliedStep("\($0.new) was \($0.old)", version: version) }
      + types.map { AppliedStep($0, version: version) }
      + removed.map { AppliedStep("\($0) removed", version: 0) } + cases.steps(version)
  }

  // MARK: The declaration

  /// The declaration of the records as they will be.
  ///
  /// - Parameter present: The declaration that there is.
  /// - Returns: Nil where there is none.
  /// - Throws: ``Failure`` where it holds something that would be lost.
  func target(_ present: CollectionDefinition?) throws -> CollectionDefinition? {
    guard var target = present else { return nil }
    for (old, new) in renamed {
      if target[new] != nil { throw RecordChanges.refused("\(new) is declared already") }
      try checkConditions(of: target, for: old)
      for index in target.properties.indices where target.properties[index].name == old {
        target.properties[index].name = new
      }
      for index in target.indexes.indices { target.indexes[index].rename(old, new) }
      for index in target.views.indices { target.views[index].rename(old, new) }
    }
    for (name, type) in converted {
      for index in target.properties.indices where target.properties[index].name == name {
        try target.properties[index].convert(to: type)
      }
    }
    for name in removed {
      try checkConditions(of: target, for: name)
      target.properties.removeAll { $0.name == name }
      target.indexes.removeAll { $0.names(name) }
      target.views.removeAll { $0.names.contains(name) }
    }
    if !cases.isEmpty { try checkConditions(of: target, for: cases.property) }
    cases.change(&target)
    return target
  }

  private func checkConditions(of target: CollectionDefinition, for name: String) throws {
    let conditions = target.indexes.map(\.condition) + target.views.map(\.condition)
    for condition in conditions.compactMap(\.self) where condition.propertyNames.contains(name) {
      throw RecordChanges.refused("an index or a view has a condition on \(name): \(condition)")
    }
  }

  static func refused(_ reason: String) -> Failure {
    Failure.refused(reason, hint: "`cambium schema` says what is declared")
  }

  // MARK: Records

  /// Changes a record.
  ///
  /// - Throws: ``Unconvertible``, ``Failure`` where a new name is taken.
  func apply(to record: inout DynamicRecord) throws {
    for (old, new) in renamed {
      guard let value = record[old] else { continue }
      if record.values[new] != nil {
        throw RecordChanges.refused("\(record.path) has both \(old) and \(new)")
      }
      record[old] = nil
      record[new] = value
    }
    for (name, type) in converted {
      guard let value = record[name] else { continue }
      let new = ValueConversion.convert(value, to: type)
      if new == nil && !dropsUnconvertible {
        throw Unconvertible(path: record.path, property: name, value: value, type: type)
      }
      record[name] = new
    }
    for name in removed { record[name] = nil }
    cases.apply(to: &record)
  }

  /// A value that cannot be of the type that is asked for.
  struct Unconvertible: Error, CustomStringConvertible {
    let path: NodePath
    let property: String
    let value: Value
    let type: PropertyType

    var description: String { "\(path): \(property) is \(ValueText.short(value)), not \(type)" }
  }
}

extension PropertyDefinition {
  fileprivate mutating func convert(to type: PropertyType) throws {
    func converted(_ value: Value) throws -> Value {
      if let new = ValueConversion.convert(value, to: type) { return new }
      throw RecordChanges.refused(
        "\(name) is declared with \(ValueText.short(value)), which cannot be \(type)")
    }
    absence = try absence.map(converted)
    switch domain?.values {
    case .list(let values)?: domain?.values = .list(try values.map(converted))
    case .range(let least, let greatest)?:
      domain?.values = .range(try least.map(converted), try greatest.map(converted))
    case nil: break
    }
    // Elements of another type have rules of their own.
    if type.member != self.type.member { elementDomain = nil }
    if type.member == nil { keyDomain = nil }
    if self.type.target != nil {
      deleteRule = nil
      mustExist = false
    }
    self.type = type
  }
}

extension IndexDefinition {
  /// True if it has a property, or previews what lies behind it.
  fileprivate func names(_ property: String) -> Bool {
    terms.contains { $0.property == property }
      || covered.contains { $0 == property || $0.hasPrefix(property + ".") }
  }

  fileprivate mutating func rename(_ old: String, _ new: String) {
    for index in terms.indices where terms[index].property == old { terms[index].property = new }
    covered = covered.map { name in
      if name == old { return new }
      return name.hasPrefix(old + ".") ? new + name.dropFirst(old.count) : name
    }
  }
}

extension ViewDefinition {
  fileprivate mutating func rename(_ old: String, _ new: String) {
    func renamed(_ name: String) -> String { name == old ? new : name }
    switch content {
    case .groups(by: let names, let aggregates):
      content = .groups(by: names.map(renamed), aggregates.map { $0.renamed(renamed) })
    case .top(by: let names, let terms):
      let new = terms.map { term in
        var term = term
        term.property = renamed(term.property)
        return term
      }
      content = .top(by: names.map(renamed), new)
    case .text(let names, let language):
      content = .text(names.map(renamed), language: language)
    }
  }
}

extension ViewDefinition.Aggregate {
  fileprivate func renamed(_ renamed: (String) -> String) -> ViewDefinition.Aggregate {
    switch self {
    case .count: .count
    case .sum(let name): .sum(renamed(name))
    case .average(let name): .average(renamed(name))
    case .minimum(let name): .minimum(renamed(name))
    case .maximum(let name): .maximum(renamed(name))
    }
  }
}
