/// The places of a model's id and properties in memory.
struct ModelLayout: Sendable {
  let idForm: Form
  let idOffset: Int
  let properties: [PropertyInfo]
  private let byOffset: [Int: Int]

  init(_ draft: SchemaDraft) {
    idForm = draft.idForm
    idOffset = draft.idOffset ?? 0
    properties = draft.properties
    byOffset = Dictionary(
      properties.enumerated().map { ($1.offset, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The place of a property in `properties`, by where it lies in the model.
  func index(at offset: Int) -> Int? { byOffset[offset] }

  /// The properties that lie in a range of the model: one, or those of a nested value.
  func properties(in range: Range<Int>) -> [Int] {
    properties.indices.filter { range.contains(properties[$0].offset) }
  }
}
