import Synchronization

/// A schema without the model's type: what the codec, the declaration and queries need.
///
/// Invariants:
/// 1. It is not changed after `Schema.init`; what is derived from it and asks for other schemas is
///    made when it is asked for, so that schemas may refer to each other in circles.
/// 2. `layout.properties` lie inside the model, and do not overlap; the name of a case, which is no
///    stored property, lies behind it. Checked against the model's size.
@usableFromInline
final class SchemaCore: Sendable {
  /// The collection's path as it was given.
  let name: String
  let path: NodePath
  let typeName: String
  let keyType: CollectionDefinition.KeyType
  let layout: ModelLayout
  /// The reason why the model cannot be used; nil if it can.
  let problem: String?
  /// The steps by which records of older forms become those of this one.
  let evolution: Evolution
  /// The places of the properties that are looked at before each write.
  let guarded: [Int]
  let sharing: SharedCollection
  /// The guards of this schema alone.
  let guards: SchemaGuards
  private let declared: MadeOnce<SchemaDeclaration>
  private let interchange: MadeOnce<InterchangeTable>

  init(_ draft: SchemaDraft, declaration: @escaping @Sendable () -> SchemaDeclaration) {
    name = draft.name
    typeName = draft.typeName
    keyType = draft.keyType
    layout = ModelLayout(draft)
    sharing = draft.sharing
    evolution = draft.evolution
    guards = draft.guards
    guarded = draft.properties.indices.filter { draft.properties[$0].rules.isGuarded }
    var problem = draft.problem
    do {
      path = try NodePath(draft.name)
      if path.isRoot { problem = problem ?? "\(draft.typeName) needs the name of its collection" }
    } catch {
      path = .root
      problem = problem ?? "the collection of \(draft.typeName): \(error)"
    }
    self.problem = problem
    declared = MadeOnce(declaration)
    interchange = MadeOnce {
      [keyType = draft.keyType, typeName = draft.typeName, all = draft.properties] in
      InterchangeTable(
        name: typeName, id: InterchangeShape(keyType),
        properties: all.map {
          .init(
            name: $0.name, shape: $0.shape.interchange(),
            writesNull: $0.defaults.storesNull || ($0.defaults.absence ?? .null) != .null)
        })
    }
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

  private var declaration: SchemaDeclaration { sharing.owner?().declaration ?? declared.value }

  /// The declaration of this model alone, where it is one case of several.
  var ownDeclaration: SchemaDeclaration { declared.value }

  /// The properties of the model, in order.
  @inline(__always)
  var properties: [PropertyInfo] { layout.properties }

  /// The properties of the collection's records, as far as this schema knows.
  var storedProperties: [PropertyInfo] {
    properties + sharing.cases.flatMap { $0().storedProperties }
  }

  /// The form of the models outside the database.
  ///
  /// - Complexity: made once, in 10 to 100 µs.
  var table: InterchangeTable { interchange.value }

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

/// A value that is made when it is first asked for, since it asks for other schemas.
private struct MadeOnce<Value: Sendable>: ~Copyable, Sendable {
  private let make: @Sendable () -> Value
  private let made = Mutex<Value?>(nil)

  init(_ make: @escaping @Sendable () -> Value) { self.make = make }

  var value: Value {
    if let made = made.withLock({ $0 }) { return made }
    // Outside of the lock: schemas may refer to each other in circles.
    let value = make()
    made.withLock { $0 = value }
    return value
  }
}

/// The declaration that the lines of a schema make for its collection.
struct SchemaDeclaration: Sendable {
  var definition: CollectionDefinition
  /// The reason why a line declares nothing, and is left out; nil if it does.
  var problem: String?
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
  var omissions = SchemaOmissions()
  var sharing = SharedCollection()
  var evolution = Evolution()
  var guards = SchemaGuards()
  /// True if the properties were found in the type; else they are listed.
  var isDiscovered = true
}
