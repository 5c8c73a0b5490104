/// The parts of a model that change one by one: its stored properties, by their places in the
/// schema. An enum of models is one part, since its cases have other properties.
struct ModelParts<M: Model> {
  private let core = M.schema.core

  private var isWhole: Bool { core.sharing.codec != nil }

  /// All parts.
  var all: Range<Int> { 0..<(isWhole ? 1 : core.properties.count) }

  /// The parts that lie behind a key path; nil where it is computed, and may follow from any.
  func parts<V>(of property: KeyPath<M, V>) -> Range<Int>? {
    if isWhole { return all }
    guard let offset = MemoryLayout<M>.offset(of: property) else { return nil }
    let found = core.layout.properties(in: offset..<offset + max(1, MemoryLayout<V>.size))
    return found.first.flatMap { first in found.last.map { first..<$0 + 1 } } ?? 0..<0
  }

  /// The name of a part; nil for an enum of models.
  func name(_ part: Int) -> String? { isWhole ? nil : core.properties[part].name }

  /// True if a part of two models would be stored as the same bytes.
  func areEqual(_ part: Int, _ one: M, _ other: M) -> Bool {
    if isWhole { return core.differences(one, other).isEmpty }
    return core.properties[part].isEqual(in: one, and: other)
  }

  /// Gives one model a part of another.
  func copy(_ part: Int, from source: M, to target: inout M) {
    if isWhole { target = source } else { core.properties[part].copy(from: source, to: &target) }
  }
}
