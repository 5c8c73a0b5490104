// The models of the checks: every rule that a schema can declare as data, and one in code.

import Cambium
import FoundationEssentials

struct Owner: Model, Equatable {
  typealias Key = String
  var id = ID()
  var name = ""
  var since = Date(timeIntervalSince1970: 0)

  static let schema = ModelSchema<Owner>("owners") {
    Property(\.name).validated("must not be 'nobody'") { $0 != "nobody" }
    Unique(\.name.ignoringCase)
  }
}

struct Pet: Model, Equatable {
  typealias Key = Int
  var id = ID()
  var owner: Owner.ID?
  var sitter: Owner.ID?
  var vet: Owner.ID?
  var mother: Pet.ID?
  var friends: [Pet.ID] = []
  var name = ""
  var age = 0
  var weight: Double?
  var chip: String?

  static let schema = ModelSchema<Pet>("pets") {
    Property(\.owner).onDelete(.cascade).mustExist(false).required()
    Property(\.sitter).onDelete(.nullify).mustExist()
    Property(\.vet).onDelete(.deny).mustExist(false)
    Property(\.mother).onDelete(.cascade).mustExist(false)
    Property(\.friends).onDelete(.nullify).mustExist(false)
    Property(\.age).clamped(to: 0...30)
    Property(\.weight).rejected(outside: 0...100)
    Unique(\.chip)
    Index(\.owner, \.age.descending)
    Count(by: \.owner)
  }
}
