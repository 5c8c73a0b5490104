import Cambium

/// Writes the models that declared collections are: structs with schemas, which compile and declare
/// the same again.
///
/// A declaration does not say everything that the app's code said: what is not required is
/// optional, cases of enums are their raw values, and what is code is named in a comment. So is
/// what a schema cannot say: keys of any kind, and initial values that have no literal.
struct SwiftModels {
  typealias Declared = (path: NodePath, definition: CollectionDefinition)

  /// The structs, in the order of the collections; those that are only referred to come last.
  private var models: [SwiftModel] = []

  /// Names the structs, other than those in `taken`.
  ///
  /// - Parameters:
  ///   - collections: The collections to be written.
  ///   - others: The collections that are declared besides.
  ///   - taken: Names of types, to which those of the structs are added.
  init(_ collections: [Declared], others: [Declared] = [], taken: inout Set<String>) {
    var names: [NodePath: String] = [:]
    for (path, definition) in collections {
      names[path] = SwiftModels.name(path, definition.model, &taken)
      models.append(SwiftModel(path, definition))
    }
    for (path, definition) in SwiftModels.referred(by: collections, others) {
      names[path] = SwiftModels.name(path, definition.model, &taken)
      models.append(SwiftModel(path, definition, isReferredOnly: true))
    }
    let known = Dictionary(models.map { ($0.path, $0) }) { first, _ in first }
    for index in models.indices { models[index].know(known, names) }
  }

  private static func name(_ path: NodePath, _ model: String?, _ taken: inout Set<String>) -> String
  {
    if let model, SwiftDeclarations.isPlain(model), taken.insert(model).inserted { return model }
    return SwiftDeclarations.structName(path, &taken)
  }

  /// The collections that others refer to and that are not written, with what is previewed of them.
  private static func referred(by collections: [Declared], _ others: [Declared]) -> [Declared] {
    var referred: [Declared] = []
    func place(_ path: NodePath) -> Int? {
      if collections.contains(where: { $0.path == path }) { return nil }
      if let index = referred.firstIndex(where: { $0.path == path }) { return index }
      let other = others.first { $0.path == path }?.definition
      var definition = CollectionDefinition()
      (definition.model, definition.keys) = (other?.model, other?.keys)
      referred.append((path, definition))
      return referred.count - 1
    }
    for (_, definition) in collections {
      for property in definition.properties { _ = property.type.innerTarget.map(place) }
      for preview in definition.indexes.flatMap(\.covered).compactMap(definition.preview) {
        guard let index = place(preview.target),
          referred[index].definition[preview.property] == nil
        else { continue }
        let other = others.first { $0.path == preview.target }?.definition[preview.property]
        referred[index].definition.properties.append(
          PropertyDefinition(preview.property, other?.type ?? .any))
      }
    }
    return referred
  }

  /// The declarations, each after an empty line.
  var lines: [String] { models.flatMap { [""] + $0.lines } }
}

extension PropertyType {
  fileprivate var innerTarget: NodePath? {
    switch self {
    case .reference(let path): path
    case .keyed(by: let path, _): path
    case .array(let element), .map(let element): element.innerTarget
    default: nil
    }
  }

  /// The Swift type of a single value; `Value` for what has no type that is the same for everybody.
  var swiftName: String {
    switch self {
    case .bool: "Bool"
    case .integer: "Int"
    case .double: "Double"
    case .string: "String"
    case .data: "Data"
    case .date: "Date"
    case .uuid: "UUID"
    case .decimal: "Decimal"
    case .blob: "Blob"
    default: "Value"
    }
  }
}
