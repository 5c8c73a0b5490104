/// A view as writers and readers use it.
struct ViewPlan: Sendable {
  /// What its entries' keys begin with.
  let number: UInt32
  let definition: ViewDefinition

  init(_ number: UInt32, _ definition: ViewDefinition, _ resolver: Resolver) throws {
    self.number = number
    self.definition = definition
  }

  /// Whether another view keeps the same.
  func hasSameContent(as other: ViewPlan) -> Bool { definition == other.definition }
}
