/// An index as writers and readers use it. It is a class, as its parts are, so that iterating over
/// plans for each record retains nothing inside them.
final class IndexPlan: Sendable {
  /// One property of it.
  final class Term: Sendable {
    let name: NameID
    /// The type of the values in the entries: of one element, if there are several.
    let type: PropertyType
    let isDescending: Bool
    let collation: Collation
    /// The value in an entry if the record has none.
    let standIn: StandIn

    init(_ term: IndexDefinition.Term, _ resolver: Resolver) throws {
      name = try resolver.name(term.property)
      type = resolver.type(term.property).element
      isDescending = term.isDescending
      collation = term.collation
      standIn = try resolver.standIn(term.property)
    }
  }

  /// The number that its entries' keys begin with.
  let number: UInt32
  let definition: IndexDefinition
  let terms: [Term]
  /// The place of the term that holds several values, if there is one.
  let plural: Int?
  /// Names of the record's own properties that entries hold copies of, ascending: including the
  /// terms, whose values cannot be recovered from the ordered bytes.
  let covered: [NameID]
  /// The properties of referenced records that entries hold copies of.
  let previews: [PreviewPlan]
  let condition: ConditionProgram?

  init(_ number: UInt32, _ definition: IndexDefinition, _ resolver: Resolver) throws {
    self.number = number
    self.definition = definition
    terms = try definition.terms.map { try Term($0, resolver) }
    plural = definition.terms.firstIndex { resolver.type($0.property).isPlural }
    let previewed = definition.covered.compactMap { resolver.definition.preview($0) }
    previews = try previewed.map { try PreviewPlan($0, resolver) }
    let own = definition.covered.filter { resolver.definition.preview($0) == nil }
    let names = definition.covered.isEmpty ? [] : own + definition.terms.map(\.property)
    covered = Set(try names.map { try resolver.name($0) }).sorted()
    condition = try definition.condition.map { try ConditionProgram($0, resolver) }
  }

  var isUnique: Bool { definition.isUnique }

  /// True if entries hold copies of properties.
  var isCovering: Bool { !covered.isEmpty || !previews.isEmpty }

  /// True if another index has the same entries as this one, even where only one of them is unique.
  func hasSameEntries(as other: IndexPlan) -> Bool {
    definition.terms == other.definition.terms && definition.covered == other.definition.covered
      && definition.condition == other.definition.condition && plural == other.plural
      && previews.map(\.preview) == other.previews.map(\.preview)
      && terms.elementsEqual(other.terms) { $0.type == $1.type && $0.standIn == $1.standIn }
  }
}
