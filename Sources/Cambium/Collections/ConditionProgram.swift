/// A condition on a record's own properties, ready to run on its bytes.
struct ConditionProgram: Sendable {
  init(_ condition: Condition, _ resolver: Resolver) throws {
    throw DatabaseError.misuse(reason: "conditions are not there yet")
  }

  func accepts(record: RawSpan, key: RawSpan) throws -> Bool { true }
}
