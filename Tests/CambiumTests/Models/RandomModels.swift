// Random models from a seed, with the awkward values of every type among them.

import FoundationEssentials
import Simulation

@testable import Cambium

extension FormatRandom {
  private mutating func some<T>(_ make: (inout FormatRandom) -> T) -> T? {
    chance(oneIn: 3) ? nil : make(&self)
  }

  private mutating func integer<T: FixedWidthInteger>(_ type: T.Type = T.self) -> T {
    switch below(4) {
    case 0: .min
    case 1: .max
    case 2: T(truncatingIfNeeded: below(300) - 150)
    default: T(truncatingIfNeeded: next())
    }
  }

  private mutating func number() -> Double {
    pick([0, -0.0, 1.5, -1e300, .infinity, .leastNonzeroMagnitude, Double(integer(Int64.self))])
  }

  private mutating func moment() -> Date { Date(microseconds: Int64(integer(Int32.self)) * 977) }

  private mutating func identifier() -> UUID {
    UUID(
      uuid: (
        integer(), integer(), 1, 2, integer(), 4, 0x70, 6, 7, 8, integer(), 10, 11, 12, 13,
        integer()
      ))
  }

  private mutating func digits() -> Decimal {
    Decimal(string: "\(integer(Int64.self))e\(below(40) - 20)") ?? 0
  }

  mutating func airport() -> Airport.ID { Airport.ID(pick(["JFK", "42", "ü", "EWR", "-7"])) }

  private mutating func inner() -> Inner {
    var inner = Inner()
    inner.flag = chance(oneIn: 2)
    inner.text = some { $0.text(upTo: 40) }
    if chance(oneIn: 2) { inner.mood = some { $0.text(upTo: 10) } }
    inner.deeper.one = integer()
    inner.deeper.two = some { $0.identifier() }
    inner.last = integer()
    return inner
  }

  private mutating func list<T>(_ make: (inout FormatRandom) -> T) -> [T] {
    (0..<length(upTo: 300)).map { _ in make(&self) }
  }

  private mutating func outcome() -> Outcome {
    switch below(3) {
    case 0: .onTime
    case 1: .late(integer())
    default: .diverted(airport())
    }
  }

  /// A model with a random value for each property.
  mutating func everything() -> Everything {
    var model = Everything()
    model.id = Everything.ID(identifier())
    scalars(&model)
    containers(&model)
    return model
  }

  private mutating func scalars(_ model: inout Everything) {
    model.bool = chance(oneIn: 2)
    model.boolOrNil = some { $0.chance(oneIn: 2) }
    model.int8 = integer()
    model.int16OrNil = some { $0.integer() }
    model.int32 = integer()
    model.int64 = integer()
    model.int64OrNil = some { $0.integer() }
    model.int = integer()
    model.intOrNil = some { $0.integer() }
    model.uint8 = integer()
    model.uint16 = integer()
    model.uint32OrNil = some { $0.integer() }
    model.uint64 = integer()
    model.uint = integer()
    model.float = Float(number())
    model.floatOrNil = some { Float($0.number()) }
    model.double = number()
    model.doubleOrNil = some { $0.number() }
    model.string = text()
    model.stringOrNil = some { $0.text() }
    model.date = moment()
    model.dateOrNil = some { $0.moment() }
    model.uuid = identifier()
    model.uuidOrNil = some { $0.identifier() }
    model.data = Data(bytes(below(40)))
    model.dataOrNil = some { Data($0.bytes($0.below(40))) }
    model.decimal = digits()
    model.decimalOrNil = some { $0.digits() }
    model.urlOrNil = some { URL(string: "https://example.org/\($0.below(1000))?q=1#x") } ?? nil
    model.blobOrNil = some { Blob(hash: $0.bytes(32), size: $0.next()) }
    model.anything = value(depth: 3)
    model.level = pick([.low, .middle, .high])
    model.statusOrNil = some { $0.pick([.scheduled, .departed, .cancelled]) }
    model.outcome = outcome()
    model.outcomeOrNil = some { $0.outcome() }
    model.nilByDefault = some { $0.integer() }
    model.elided = chance(oneIn: 2) ? 3 : integer()
  }

  private mutating func containers(_ model: inout Everything) {
    model.inner = inner()
    model.innerOrNil = some { $0.inner() }
    model.inners = list { $0.inner() }
    model.texts = list { $0.text(upTo: 200) }
    model.textsOrNil = some { $0.list { $0.text(upTo: 20) } }
    model.numbers = list { $0.some { $0.integer() } }
    model.tags = Set(list { "tag\($0.below(50))" })
    model.scores = Dictionary(list { ("\($0.below(500))", $0.number()) }) { a, _ in a }
    model.seats = Dictionary(list { ($0.airport(), $0.integer()) }) { a, _ in a }
    model.airline = some { Airline.ID($0.pick(["UA", "B6", "9E"])) }
    model.twin = chance(oneIn: 2) ? Everything.ID() : Everything.ID(identifier())
    model.airports = list { $0.airport() }
    model.settings = Settings(theme: text(upTo: 10), sizes: list { $0.below(9) })
  }
}
