/// A property of a referenced record, of which entries of an index hold a copy.
package struct Preview: Hashable {
  /// The property that refers: `carrier`.
  package var reference: String
  /// The collection that it leads to.
  package var target: NodePath
  /// The property there: `name`.
  package var property: String

  /// Its path in queries: `carrier.name`.
  var path: String { "\(reference).\(property)" }
  /// Its name in the copy. No path in a query has this form, so assigning a number to it changes
  /// the meaning of none.
  var copiedName: String { "\(reference)→\(property)" }
}

extension CollectionDefinition {
  /// The preview that a covered property denotes; nil if the property is the record's own.
  package func preview(_ covered: String) -> Preview? {
    if self[covered] != nil { return nil }
    let parts = covered.split(separator: ".", omittingEmptySubsequences: false)
    for count in stride(from: parts.count - 1, to: 0, by: -1) {
      let reference = parts[..<count].joined(separator: ".")
      guard case .reference(let target)? = self[reference]?.type else { continue }
      return Preview(
        reference: reference, target: target, property: parts[count...].joined(separator: "."))
    }
    return nil
  }

  /// All previews in its indexes.
  var previews: [Preview] { indexes.flatMap(\.covered).compactMap { preview($0) } }
}

/// A preview as writers and readers use it.
final class PreviewPlan: Sendable {
  let preview: Preview
  let reference: NameID
  /// The stand-in for the reference if a record has none.
  let standIn: StandIn
  let property: NameID
  /// The number of its name in the copy.
  let name: NameID

  init(_ preview: Preview, _ resolver: Resolver) throws {
    self.preview = preview
    reference = try resolver.name(preview.reference)
    standIn = try resolver.standIn(preview.reference)
    property = try resolver.name(preview.property)
    name = try resolver.name(preview.copiedName)
  }
}

/// An index that previews records of a collection, and its previews of them.
struct Previewer {
  let collection: CollectionPlan
  let index: IndexPlan
  /// The previews of one reference, at least one.
  let previews: [PreviewPlan]

  /// The index through which the referring records are found.
  var edge: IndexPlan? { collection.edge(previews[0].reference) }
}

extension CollectionPlan {
  /// The indexes that preview records of others, by the paths of those.
  var previewers: [(target: NodePath, previewer: Previewer)] {
    indexes.flatMap { index in
      Dictionary(grouping: index.previews, by: \.preview.reference).values.map {
        ($0[0].preview.target, Previewer(collection: self, index: index, previews: $0))
      }
    }
  }
}
