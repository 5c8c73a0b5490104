import Synchronization

/// A schema without the model's type: what the codec, the declaration and queries need.
///
/// Invariants:
/// 1. It is not changed after `Schema.init`; what is derived from it and asks for other schemas is
///    made when it is asked for, so that schemas may refer to each other in circles.
/// 2. `properties` lie inside the model, and do not overlap; the name of a case, which is no stored
///    property, lies behind it. Checked against the model's size.
@usableFromInline
final class SchemaCore: Sendable {
  /// The collection's path as it was given.
  let name: String
  let path: NodePath
  let typeName: String
  let keyType: CollectionDefinition.KeyType
  let idForm: Form
  let idOffset: Int
  let properties: [PropertyInfo]
  /// The reason why the model cannot be used; nil if it can.
  let problem: String?
  /// The steps by which records of older forms become those of this one.
  let evolution: Evolution
  /// The places of the properties that are looked at before each write.
  let guarded: [Int]
  /// The property that says which case a record is, where several models share the collection.
  let discriminator: String?
  /// The name of the case in this model's records; nil for one that has the collection for itself,
  /// and for the union.
  let caseName: String?
  /// The schemas of a union's cases.
  let cases: [@Sendable () -> SchemaCore]
  /// The union that this is a case of.
  let owner: (@Sendable () -> SchemaCore)?
  /// Takes the table's place where the model is an enum of models.
  let union: UnionCodec?
  /// The hooks and rules in code of this schema alone.
  let ownGuardian: RecordGuard?
  private let byOffset: [Int: Int]
  private let makeDeclaration: @Sendable () -> SchemaDeclaration
  private let madeDeclaration = Mutex<SchemaDeclaration?>(nil)
  private let madeTable = Mutex<InterchangeTable?>(nil)

  init(_ draft: SchemaDraft, declaration: @escaping @Sendable () -> SchemaDeclaration) {
    name = draft.name
    typeName = draft.typeName
    keyType = draft.keyType
    idForm = draft.idForm
    idOffset = draft.idOffset ?? 0
    properties = draft.properties
    discriminator = draft.discriminator
    caseName = draft.caseName
    cases = draft.cases
    owner = draft.owner
    union = draft.union
    evolution = draft.evolution
    ownGuardian = draft.guardian
    guarded = properties.indices.filter {
      draft.properties[$0].check != nil || draft.properties[$0].isRequiredToWrite
    }
    byOffset = Dictionary(
      draft.properties.enumerated().map { ($1.offset, $0) }, uniquingKeysWith: { first, _ in first }
    )
    var problem = draft.problem
    do {
      path = try NodePath(draft.name)
      if path.isRoot { problem = problem ?? "\(draft.typeName) needs the name of its collection" }
    } catch {
      path = .root
      problem = problem ?? "the collection of \(draft.typeName): \(error)"
    }
    self.problem = problem
    makeDeclaration = declaration
  }

  /// The app's number of this form of the model.
  var version: Int { definition.version }

  /// Throws where the model cannot be used.
  @usableFromInline
  func check() throws {
    if let problem { throw DatabaseError.misuse(reason: problem) }
  }

  /// The declaration of the collection.
  ///
  /// - Complexity: made once, in 10 to 100 µs.
  var definition: CollectionDefinition { declaration.definition }

  /// Throws where a line of the schema declares what cannot be; see ``definition``.
  func checkDefinition() throws {
    if let problem = declaration.problem { throw DatabaseError.misuse(reason: problem) }
  }

  private var declaration: SchemaDeclaration {
    if let made = madeDeclaration.withLock({ $0 }) { return made }
    let made = owner?().declaration ?? makeDeclaration()
    madeDeclaration.withLock { $0 = made }
    return made
  }

  /// The declaration of this model alone, where it is one case of several.
  var ownDeclaration: SchemaDeclaration { makeDeclaration() }

  /// The properties of the collection's records, as far as this schema knows.
  var storedProperties: [PropertyInfo] { properties + cases.flatMap { $0().storedProperties } }

  /// The form of the models outside the database.
  ///
  /// - Complexity: made once, in 10 to 100 µs.
  var table: InterchangeTable {
    if let made = madeTable.withLock({ $0 }) { return made }
    let made = InterchangeTable(
      name: typeName, id: InterchangeShape(keyType),
      properties: properties.map {
        .init(
          name: $0.name, shape: $0.shape.interchange(),
          writesNull: $0.storesNull || ($0.absence ?? .null) != .null)
      })
    madeTable.withLock { $0 = made }
    return made
  }

  /// The place of a property in `properties`, by where it lies in the model.
  func index(at offset: Int) -> Int? { byOffset[offset] }

  /// The properties that lie in a range of the model: one, or those of a nested value.
  func properties(in range: Range<Int>) -> [Int] {
    properties.indices.filter { range.contains(properties[$0].offset) }
  }

  /// The path under which a model is stored.
  func path<M: Model>(of id: ModelID<M>) throws -> NodePath { path.appending(try treeKey(of: id)) }

  /// A model's key in the tree.
  func treeKey<M: Model>(of id: ModelID<M>) throws -> Key {
    try check()
    guard id.isAssigned else {
      throw DatabaseError.misuse(reason: "the id of this \(typeName) is not assigned yet")
    }
    return try id.key._treeKey()
  }
}

/// The declaration that the lines of a schema make for its collection.
struct SchemaDeclaration: Sendable {
  var definition: CollectionDefinition
  /// The reason why a line declares nothing, and is left out; nil if it does.
  var problem: String?
}

/// A property as the schema knows it: its place in the model, and what is declared about it.
struct PropertyInfo: PlacedProperty, Sendable {
  var name: String
  var offset: Int
  var shape: PropertyShape
  /// True if a record without it cannot be read.
  var isRequiredToRead = false
  /// True if a record without it cannot be written.
  var isRequiredToWrite = false
  var domain: Domain?
  /// Keeps to the domain in the app, so that all messages come together.
  var check: PropertyCheck?
  var deleteRule: DeleteRule?
  /// Nil where the delete rule says it.
  var mustExist: Bool?
  var label: String?
  var documentation: String?
  /// The template's value; nil where it is absent.
  var initial: Value?
  /// True if each model has another initial value.
  var isComputed = false
  /// True if other models have the collection as well, whose records know nothing of its default.
  var isShared = true
  /// The template's value, where it is not stored but read from absence.
  var absence: Value?
  /// True if nil must be stored as null, since absence stands for something else: the template's
  /// value, or one computed from the rest of an older record.
  var storesNull = false
  var formerNames: [FormerName] = []
  /// Makes the value of what else an older record has.
  var computed: ComputedProperty?

  /// The default that is declared: the initial value, unless that is computed.
  var constant: Value? { isComputed ? nil : initial }

  /// True if it can be without a value.
  var isNullable: Bool { shape.form.isOptional || shape.isReference }

  /// The types that it had under its own name.
  var formerTypes: [FormerName] { formerNames.filter { $0.name == name && $0.type != nil } }

  /// The name of the step that reads it from older records; nil where it is as it was.
  var lazyStep: String? {
    let sources = formerNames.map(\.description) + (computed == nil ? [] : ["computed"])
    return sources.isEmpty ? nil : "\(name) was \(sources.joined(separator: ", "))"
  }

  init(_ found: DiscoveredProperty) {
    name = found.name
    offset = found.offset
    shape = found.shape
  }
}

/// A schema being put together.
struct SchemaDraft {
  let name: String
  let typeName: String
  let keyType: CollectionDefinition.KeyType
  let idForm: Form
  var idOffset: Int?
  var properties: [PropertyInfo] = []
  var problem: String?
  // As in SchemaCore, for models that share a collection.
  var discriminator: String?
  var caseName: String?
  var cases: [@Sendable () -> SchemaCore] = []
  var owner: (@Sendable () -> SchemaCore)?
  var union: UnionCodec?
  var evolution = Evolution()
  var guardian: RecordGuard?
  /// True if the properties were found in the type; else they are listed.
  var isDiscovered = true
}
