/// The places of a model's id and properties in memory.
struct ModelLayout: Sendable {
  let idForm: Form
  let idOffset: Int
  let properties: [PropertyInfo]
  /// True for each property that is in every record as it is now, if it is there at all: that has
  /// no former name or type, no codec, and is read under no condition.
  let isPlain: [Bool]
  /// The places of the properties that the schema ignores.
  let ignored: [Range<Int>]
  /// The properties that are read under a condition.
  let conditional: [Int]
  private let offsets: [Int]

  init(_ draft: SchemaDraft) {
    idForm = draft.idForm
    idOffset = draft.idOffset ?? 0
    properties = draft.properties
    ignored = draft.omissions.ignored
    let conditional = properties.indices.filter { [properties] index in
      draft.omissions.conditional.contains { $0.contains(properties[index].offset) }
    }
    self.conditional = conditional
    isPlain = properties.indices.map { [properties] in
      properties[$0].lazyStep == nil && properties[$0].codec == nil && !conditional.contains($0)
    }
    offsets = properties.map(\.offset)
  }

  /// The place of a property in `properties`, by where it lies in the model.
  func index(at offset: Int) -> Int? { offsets.firstIndex(of: offset) }

  /// The properties that lie in a range of the model: one, or those of a nested value.
  func properties(in range: Range<Int>) -> [Int] {
    properties.indices.filter { range.contains(properties[$0].offset) }
  }
}
