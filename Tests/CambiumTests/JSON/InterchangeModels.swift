// Models for the tests of what goes in and out: names in every form, and records in a circle.

import Cambium
import FoundationEssentials

/// Names that no rule could turn back.
struct Gadget: Cambium.Model, Equatable {
  typealias Key = Int
  var id = ID()
  var urlString = ""
  var iOSVersion = 0
  var a1b2: String?
  var HTTPStatus = 200
  var old_name = true
  var makerOf = Maker()
  var parts: [Part] = []
  var state = State.unused
  var nilByDefault: Int? = 7

  struct Maker: Nested {
    var shortName = ""
    var bornOn: Date?
  }

  struct Part: Nested {
    var serialNo = 0
    var soldAt: Date?
  }

  enum State: UnionProperty {
    case unused, inUse(Part)

    static let cases = Cases<State>(
      Case("unused", .unused),
      Case("inUse", State.inUse) { if case .inUse(let part) = $0 { part } else { nil } })
  }

  static let schema = ModelSchema<Gadget>("gadgets")
}

/// Somebody who knows others, perhaps themselves.
struct Person: Cambium.Model, Equatable {
  typealias Key = String
  var id = ID()
  var name = ""
  var age: Int?
  var boss: Person.ID?
  var friends: [Person.ID] = []
  var home = Home()

  struct Home: Nested {
    var city = ""
    var airport: Airport.ID?
  }

  static let schema = ModelSchema<Person>("people") { Property(\.age).rejected(outside: 0...150) }
}

/// Nested values by names that are data.
struct Depot: Cambium.Model, Equatable {
  var id = ID()
  var stock: [String: Gadget.Part] = [:]
  static let schema = ModelSchema<Depot>("depots")
}

/// A value that absence stands for, and numbers that only JSON and the app know.
struct Gauge: Cambium.Model, Equatable {
  typealias Key = Int
  var id = ID()
  var delay: Int? = 5
  var limits = Limits()

  struct Limits: CodableProperty {
    var low = Decimal(0)
    var high: UInt64 = 0
  }

  static let schema = ModelSchema<Gauge>("gauges") { Property(\.delay).defaultOnEmpty() }
}

/// Two names that become one.
struct Twins: Cambium.Model {
  var id = ID()
  var theName = ""
  var the_name = ""
  static let schema = ModelSchema<Twins>("twins")
}

/// Two types of one name.
enum Shop {
  struct Item: Cambium.Model {
    typealias Key = String
    var id = ID()
    var price = 0
    var madeOf: Yard.Item.ID?
    static let schema = ModelSchema<Item>("shop-items")
  }
}

enum Yard {
  struct Item: Cambium.Model {
    typealias Key = String
    var id = ID()
    var weight = 0
    static let schema = ModelSchema<Item>("yard-items")
  }
}
