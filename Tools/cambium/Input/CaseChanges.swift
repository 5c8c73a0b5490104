import Cambium

/// The changes of `cambium migrate` to the cases of an enum of models, whose records share a
/// collection and say in one property which case they are: a case gets another name, its records
/// become those of another case, or they go.
struct CaseChanges {
  /// The property that holds the name of the case.
  var property = "type"
  /// The new name, by the old one.
  var renamed: [(old: String, new: String)] = []
  /// The case that the records become, by the one that they are.
  var converted: [(old: String, new: String)] = []
  var dropped: [String] = []

  var isEmpty: Bool { renamed.isEmpty && converted.isEmpty && dropped.isEmpty }

  /// All cases that the changes are about, as they are named before.
  var names: [String] { (renamed + converted).map(\.old) + dropped }

  // MARK: Steps

  /// The steps as they are noted: what an app's schema calls the same. Only an app that reads
  /// records must know that a case has another name.
  func steps(_ version: Int) -> [AppliedStep] {
    renamed.map { AppliedStep("\($0.new): \(property) was '\($0.old)'", version: version) }
      + (converted.map(\.old) + dropped).map { AppliedStep("case '\($0)' removed", version: 0) }
  }

  // MARK: The declaration

  /// Gives the cases their new names where the declaration lists them.
  func change(_ target: inout CollectionDefinition) {
    for index in target.properties.indices where target.properties[index].name == property {
      target.properties[index].absence = target.properties[index].absence.map(renamed)
      guard case .list(let values)? = target.properties[index].domain?.values else { continue }
      var names: [Value] = []
      for value in values.filter({ !isGone($0) }).map(renamed) where !names.contains(value) {
        names.append(value)
      }
      target.properties[index].domain?.values = .list(names)
    }
  }

  private func renamed(_ value: Value) -> Value {
    (renamed + converted).first { value == .string($0.old) }.map { .string($0.new) } ?? value
  }

  private func isGone(_ value: Value) -> Bool { dropped.contains { value == .string($0) } }

  // MARK: Records

  /// True if a record is to be deleted.
  func drops(_ record: DynamicRecord) -> Bool { record[property].map(isGone) ?? false }

  /// Changes a record.
  func apply(to record: inout DynamicRecord) {
    guard !isEmpty, let name = record[property] else { return }
    let new = renamed(name)
    if new != name { record[property] = new }
  }

  /// The reason why a record is in the way: it has the name that another case is to get.
  func obstacle(_ record: DynamicRecord) -> String? {
    guard let name = record[property],
      let taken = renamed.first(where: { name == .string($0.new) })
    else { return nil }
    return "\(record.path) is of the case \(taken.new) already; --convert-case puts both together"
  }
}
