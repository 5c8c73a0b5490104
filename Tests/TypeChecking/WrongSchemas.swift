// Wrong programs: the mistakes in the lines of a schema.

import Cambium
import FoundationEssentials

// MARK: Schemas

struct MisspeltProperty: Model {
  var id = ID()
  var name = ""
  static let schema = ModelSchema<MisspeltProperty>("a") {
    // error: value of type 'MisspeltProperty' has no member 'nam'
    Property(\.nam).required()
  }
}

struct MisspeltIndex: Model {
  var id = ID()
  var name = ""
  static let schema = ModelSchema<MisspeltIndex>("a") {
    // error: no dynamic member 'nam'
    Index(\.nam)
  }
}

struct MisspeltSecond: Model {
  var id = ID()
  var name = ""
  var born = Date.distantPast
  static let schema = ModelSchema<MisspeltSecond>("a") {
    Property(\.name).required()
    // error: no dynamic member 'bron'
    Index(\.name, \.bron.descending)
    Unique(\.name)
  }
}

struct MisspeltUnique: Model {
  var id = ID()
  var name = ""
  static let schema = ModelSchema<MisspeltUnique>("a") {
    // error: no dynamic member 'nam'
    Unique(\.nam)
  }
}

struct MisspeltView: Model {
  var id = ID()
  var name = ""
  static let schema = ModelSchema<MisspeltView>("a") {
    // error: no dynamic member 'nam'
    Count(by: \.nam)
  }
}

struct WrongRule: Model {
  var id = ID()
  var name = ""
  static let schema = ModelSchema<WrongRule>("a") {
    // error: type 'String'
    Property(\.name).validated("must be positive") { $0 > 0 }
  }
}

struct DeleteRuleOfNumber: Model {
  var id = ID()
  var number = 0
  static let schema = ModelSchema<DeleteRuleOfNumber>("a") {
    // error: requires that 'Int' conform to 'ReferringProperty'
    Property(\.number).onDelete(.nullify)
  }
}

struct WrongInverse: Model {
  var id = ID()
  // error: types 'WrongInverse' and
  var flights: Many<Flight> { many(\.carrier) }
  static let schema = ModelSchema<WrongInverse>("a")
}

// error: does not conform to protocol 'Model'
struct WithoutSchema: Model {
  var id = ID()
}

struct CaseOfNoUnion: Model {
  var id = ID()
  // error: that 'Flight' conform to 'ModelUnion'
  static let schema = ModelSchema<CaseOfNoUnion>(caseOf: Flight.self)
}

func propertyOfAnotherCase(_ vehicles: ModelQuery<Vehicle>) -> ModelQuery<Vehicle> {
  // error: no dynamic member 'load'
  vehicles.where { $0.as(Car.self).load > 3 }
}

func propertyOfNoCase(_ vehicles: ModelQuery<Vehicle>) -> ModelQuery<Vehicle> {
  // error: no dynamic member 'wheels'
  vehicles.where { $0.wheels > 3 }
}

// MARK: Lines of a schema

struct MisspeltAmongGoodLines: Model {
  var id = ID()
  var name = ""
  var born = 0
  static let schema = ModelSchema<MisspeltAmongGoodLines>("a") {
    Property(\.name).required()
    // error: value of type 'MisspeltAmongGoodLines' has no member 'brn'
    Property(\.brn).was("year").clamped(to: 1...5)
    Index(\.name, \.born.descending)
    Unique(\.name)
  }
}

struct MisspeltConversion: Model {
  var id = ID()
  var born = 0
  static let schema = ModelSchema<MisspeltConversion>("a") {
    // error: value of type 'MisspeltConversion' has no member 'brn'
    Property(\.brn).was("year", as: String.self) { Int($0) ?? 0 }
  }
}

struct WrongConversion: Model {
  var id = ID()
  var born = 0
  static let schema = ModelSchema<WrongConversion>("a") {
    // error: cannot convert value of type 'String' to closure result type 'Int'
    Property(\.born).was("year", as: String.self) { $0 }
  }
}

struct MisspeltIndexCondition: Model {
  var id = ID()
  var born = 0
  static let schema = ModelSchema<MisspeltIndexCondition>("a") {
    // error: value of type 'Fields<MisspeltIndexCondition>' has no dynamic member 'brn'
    Index(\.born).where { $0.brn > 3 }
  }
}

struct MisspeltRule: Model {
  var id = ID()
  var born = 0
  static let schema = ModelSchema<MisspeltRule>("a") {
    // error: value of type 'MisspeltRule' has no member 'brn'
    Rule("must be born") { $0.brn > 3 }
  }
}

struct MisspeltSum: Model {
  var id = ID()
  var name = ""
  var born = 0
  static let schema = ModelSchema<MisspeltSum>("a") {
    // error: no dynamic member 'brn' using key path from root type 'MisspeltSum'
    Sum(\.brn, by: \.name)
  }
}

struct MisspeltDeleteRule: Model {
  var id = ID()
  var carrier: Airline.ID?
  static let schema = ModelSchema<MisspeltDeleteRule>("a") {
    // error: type 'DeleteRule' has no member 'nulify'
    Property(\.carrier).onDelete(.nulify)
  }
}

struct PropertyOfAnother: Model {
  var id = ID()
  static let schema = ModelSchema<PropertyOfAnother>("a") {
    // error: requires the types 'PropertyOfAnother' and 'Airline' be equivalent
    Property(\Airline.name)
  }
}

struct NoPropertyValue: Model {
  var id = ID()
  var other = Other()
  struct Other { var count = 1 }
  static let schema = ModelSchema<NoPropertyValue>("a") {
    // error: requires that 'NoPropertyValue.Other' conform to 'PropertyValue'
    Property(\.other)
  }
}

struct UniqueIndex: Model {
  var id = ID()
  var name = ""
  static let schema = ModelSchema<UniqueIndex>("a") {
    // error: has no member 'unique' | generic parameter 'M' could not be inferred
    Index(\.name).unique()
  }
}

struct MisspeltInverse: Model {
  var id = ID()
  // error: value of type 'Flight' has no member 'carier'
  var flights: Many<Flight> { many(\.carier) }
  static let schema = ModelSchema<MisspeltInverse>("a")
}

// MARK: One to one, codecs, conditions

struct OneOfSeveral: Model {
  var id = ID()
  // error: conform to 'ReferenceProperty' | types 'OneOfSeveral' and
  var flight: One<Flight> { one(\.stops) }
  static let schema = ModelSchema<OneOfSeveral>("a")
}

struct MisspeltCoded: Model {
  var id = ID()
  var weight = Weight()
  static let schema = ModelSchema<MisspeltCoded>("a") {
    // error: has no member 'wait'
    Coded(\.wait, by: Grams())
  }
}

struct CodecOfAnother: Model {
  var id = ID()
  var name = ""
  static let schema = ModelSchema<CodecOfAnother>("a") {
    // error: no exact matches in call to initializer
    Coded(\.name, by: Grams())
  }
}

struct MisspeltCondition: Model {
  var id = ID()
  var name = ""
  var isKnown = false
  static let schema = ModelSchema<MisspeltCondition>("a") {
    // error: value of type 'MisspeltCondition' has no member 'isKnwn'
    Property(\.name).when { $0.isKnwn }
  }
}

func misspeltBehindOne(_ passengers: ModelQuery<Passenger>) -> ModelQuery<Passenger> {
  // error: value of type 'Fields<Bag>' has no dynamic member 'lost'
  passengers.where { $0.bag.has { $0.lost } }
}

func conditionOnWhatIsNotStored(_ bags: ModelQuery<Bag>) -> ModelQuery<Bag> {
  // error: 'Operand<Weight>' and 'Int' | requires that 'Weight' conform to 'PropertyValue'
  bags.where { $0.weight > 5 }
}
