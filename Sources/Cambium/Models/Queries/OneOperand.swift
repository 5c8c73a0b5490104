// The other side of a one-to-one reference in queries: as a condition, and loaded along.

/// The model that refers to one by a unique reference, in conditions and for loading.
///
///     let query = database.query(Traveller.self)
///     try query.where { $0.passport.has { $0.expires < Date() } }.fetch()
///     try query.where { $0.passport.isNil }.fetch()
///     for (traveller, passport) in try query.with(\.passport).fetch() { … }   // or nil beside it
public struct OneOperand<Other: Model>: Sendable {
  private let many: ManyOperand<Other>

  init(_ one: One<Other>, of owner: PropertyPath) {
    var owner = owner
    owner.problem = owner.problem ?? one.problem
    many = ManyOperand(one.many, of: owner)
  }

  /// Tests whether there is the model and it passes.
  public func has(@ConditionBuilder _ condition: (Fields<Other>) -> Condition) -> Condition {
    many.any(condition)
  }

  /// Tests whether there is no such model.
  public var isNil: Condition { many.isEmpty }
}

extension OneOperand: RelationTerm {
  /// The model that refers, or nil.
  public var relation: Relation<Other?> {
    let all = many.relation
    return Relation(path: all.path, words: all.words, loaded: all.loaded) { records in
      let open = try all.compile(records)
      return { keys in
        let reader = try open(keys)
        return RelationReader(keys, walks: reader.walks, find: reader.find) {
          try reader.make($0).first
        }
      }
    }
  }
}

extension Fields {
  /// The model that refers to the model.
  public subscript<Other: Model>(dynamicMember keyPath: KeyPath<M, One<Other>>)
    -> OneOperand<Other>
  {
    OneOperand(M.schema.template[keyPath: keyPath], of: PropertyPath(hops: hops, nil))
  }
}

extension Operand {
  /// The model that refers to the model that it refers to.
  public subscript<Other: Model>(dynamicMember keyPath: KeyPath<V.Members, One<Other>>)
    -> OneOperand<Other> where V.Members: Model
  {
    var path = PropertyPath(hops: behindReference, nil)
    path.problem = self.path.problem
    return OneOperand(V.Members.schema.template[keyPath: keyPath], of: path)
  }
}
