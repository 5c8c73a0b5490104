// Enums of models as dictionaries and JSON: each is written as the model of its case, of which the
// case's name is a property; that name says what is read.

/// Writes and reads one case.
struct CaseInterchange<Union: ModelUnion>: Sendable {
  /// Writes the model of the case, in the place of a reference where one is given.
  typealias Write = (inout InterchangeEncoder, [String]?) throws -> ValueMap

  /// Nil where the value is another case.
  let write: @Sendable (Union) -> Write?
  /// The case with what a record has, beside what the value has if it is the case.
  let merge: @Sendable (Union, ValueMap, InterchangeProfile) throws -> Union

  init<C: Model>(
    _ make: @escaping @Sendable (C) -> Union, _ payload: @escaping @Sendable (Union) -> C?
  ) where C.Key == Union.Key {
    write = { union in
      payload(union).map { model in
        { writer, place in
          if let place { return try writer.object(model, at: place) }
          return try writer.record(model)
        }
      }
    }
    merge = { union, record, profile in
      var model = payload(union) ?? C()
      model.id = ModelID(union.id.key)
      try model.merge(record, profile)
      return make(model)
    }
  }
}

extension ModelUnion {
  /// Hands over what writes the model of the case.
  func written<R>(_ body: (CaseInterchange<Self>.Write) throws -> R) throws -> R {
    for known in Self.cases.all {
      if let write = known.interchange.write(self) { return try body(write) }
    }
    throw DatabaseError.misuse(reason: "\(self) is none of the cases that \(Self.self) lists")
  }

  /// The value with what a record has; another case, where the record says so.
  ///
  /// - Throws: As ``Model/merge(dictionary:_:)``.
  func merged(with record: ValueMap, _ profile: InterchangeProfile) throws -> Self {
    let cases = Self.cases.all
    let property = Self.schema.core.sharing.discriminator ?? ""
    let name = record[profile.keyCase.written(property)]
    let known = cases.first { known in
      if let name { name == .string(known.name) } else { known.key(self) != nil }
    }
    if let known { return try known.interchange.merge(self, record, profile) }
    let names = cases.map(\.name).joined(separator: ", ")
    throw ValidationError(causes: [
      ValidationError(property: property, "must be one of \(names)")
    ])
  }
}
