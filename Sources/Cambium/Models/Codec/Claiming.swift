// The model that a collection is declared for. A declaration in the file binds every writer; what a
// model says beyond it is declared by the first transaction that uses the model, and until then it
// is not read: its rules would not hold, and conditions would know other defaults than it has.

extension SchemaCore {
  /// The schema that declares the collection.
  var declaring: SchemaCore { sharing.owner?() ?? self }

  /// The reason why records of a declaration cannot be read as the model; nil if they can.
  func refusal(of declared: CollectionDefinition?) -> DatabaseError? {
    let root = declaring
    let remedy = """
      name it when the database is opened, as in Database(at: …, for: \(root.typeName).self), or \
      call register(\(root.typeName).self); a transaction that uses it declares it, too
      """
    guard let declared else {
      return .misuse(reason: "\(root.typeName) is not declared in this database: \(remedy)")
    }
    if let model = declared.model, model != root.typeName {
      return .misuse(
        reason: """
          the collection \(path) is declared for \(model), and \(root.typeName) claims it as well; \
          a collection has one model. Where \(root.typeName) takes its place, \(remedy)
          """)
    }
    let missing = storedProperties.map(\.name).filter { declared[$0] == nil }
    if missing.isEmpty { return nil }
    return .misuse(
      reason: """
        the declaration of \(path) does not have \(missing.quoted) of \(root.typeName): \(remedy)
        """)
  }

  /// Refuses models of which two claim one collection.
  static func checkClaims(_ cores: [SchemaCore]) throws {
    var claims: [NodePath: SchemaCore] = [:]
    for core in cores.map(\.declaring) {
      guard let other = claims.updateValue(core, forKey: core.path), other !== core else {
        continue
      }
      throw DatabaseError.misuse(
        reason: """
          \(other.typeName) and \(core.typeName) both claim the collection \(core.path); give one \
          of them another, or make them cases of one ModelUnion
          """)
    }
  }
}

extension RunningTransaction {
  /// Declares what a model says beyond the file, the first time that a transaction uses it.
  ///
  /// - Throws: As ``Database/register(_:)``.
  func claim(_ core: SchemaCore) throws {
    let root = core.declaring
    try root.check()
    try root.checkCases()
    let snapshot = Snapshot(self)
    if let model = try snapshot.definition(of: root.path)?.model, model != root.typeName,
      let refusal = root.refusal(of: try snapshot.definition(of: root.path))
    {
      throw refusal
    }
    let redeclaring = try Redeclaring(root, in: snapshot, at: directory.path)
    let wanted = try redeclaring.declaration(by: sequence)
    if wanted == redeclaring.present { return }
    do { try declare(root.path, wanted) } catch DatabaseError.invalid(let violations) {
      throw Redeclaring.advising(violations, root)
    }
  }
}
