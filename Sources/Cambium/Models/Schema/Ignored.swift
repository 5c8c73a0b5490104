/// A stored property of the type that is no part of the records; a line of a ``ModelSchema``.
///
///     struct Photo: Model {
///       var id = ID()
///       var title = ""
///       var isSelected = false                          // the app's own, ignored
///       var renderer: Renderer?                         // of a type that cannot be stored, too
///       var heading: String { title.uppercased() }      // computed: never stored
///
///       static let schema = ModelSchema<Photo>("photos") {
///         Ignored(\.isSelected)
///         Ignored(\.renderer)
///       }
///     }
///
/// It is neither declared nor logged, and an update that changes nothing else logs nothing. A model
/// that is read has the value that the initializer `init()` gave it when the schema was made: once,
/// so that of a class there is one object, which all models share. Queries, indexes, rules that are
/// data and interchange do not know it; rules in code and hooks see the value that the app has set.
/// A value that older records hold under its name is left there, and is not read.
public struct Ignored<M: Model>: SchemaPart, Sendable {
  /// The schema item that leaves the property out.
  public let item: SchemaItem<M>

  /// Leaves a property out, or every part of a nested value.
  ///
  /// - Parameter property: The key path of a stored property of any type but a closure, without
  ///   observers (`didSet`). Anything else is a mistake that the first use of the model reports.
  public init<V>(_ property: KeyPath<M, V> & Sendable) {
    item = SchemaItem(change: { draft, _ in draft.ignore(property) })
  }

  /// Leaves a property out that no key path leads to as one that is stored: a closure, or one with
  /// observers (`didSet`).
  ///
  ///     Ignored(named: "onTap")
  ///
  /// - Parameter name: The name of the stored property, dotted if it is in a nested value. One that
  ///   the type does not have is a mistake that the first use of the model reports.
  public init(named name: String) {
    item = SchemaItem(change: { draft, _ in draft.ignore(named: name) })
  }
}

/// The stored properties that are in no record, or not in each.
struct SchemaOmissions {
  /// The properties of types that cannot be stored, unless they are ignored.
  var unstorable: [UnstorableProperty] = []
  /// The places of the ignored properties.
  var ignored: [Range<Int>] = []
  /// The places of the properties that are read under a condition.
  var conditional: [Range<Int>] = []
}

extension SchemaDraft {
  fileprivate mutating func ignore<M: Model, V>(_ property: KeyPath<M, V>) {
    guard let offset = MemoryLayout<M>.offset(of: property) else {
      problem =
        problem ?? """
          \(typeName): \(property) cannot be ignored: it is computed, and so never stored, or it \
          is a closure or has observers; then say Ignored(named: "…")
          """
      return
    }
    let place = offset..<offset + max(1, MemoryLayout<V>.size)
    if let idOffset, place.contains(idOffset) {
      problem = problem ?? "\(typeName): the id cannot be ignored"
    }
    properties.removeAll { place.contains($0.offset) }
    omissions.unstorable.removeAll { place.contains($0.offset) }
    omissions.ignored.append(place)
  }

  fileprivate mutating func ignore(named name: String) {
    let isMeant = { (other: String) in other == name || other.hasPrefix(name + ".") }
    let offsets =
      properties.filter { isMeant($0.name) }.map(\.offset)
      + omissions.unstorable.filter { isMeant($0.name) }.map(\.offset)
    if offsets.isEmpty {
      problem = problem ?? "\(typeName) has no stored property '\(name)' that could be ignored"
    }
    properties.removeAll { isMeant($0.name) }
    omissions.unstorable.removeAll { isMeant($0.name) }
    omissions.ignored += offsets.map { $0..<$0 + 1 }
  }
}
