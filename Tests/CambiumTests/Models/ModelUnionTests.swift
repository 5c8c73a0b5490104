// Goal: models of several kinds in one collection are the same by the enum's face and by that of
// each kind, and are never taken for each other. Method: vehicles, by hand and at random.

import FoundationEssentials
import Simulation
import Synchronization
import Testing

@testable import Cambium

enum Vehicle: ModelUnion, Equatable {
  case car(Car), truck(Truck)

  static let cases = ModelCases<Vehicle>(
    ModelCase("car", Vehicle.car) { if case .car(let car) = $0 { car } else { nil } },
    ModelCase("truck", Vehicle.truck) { if case .truck(let truck) = $0 { truck } else { nil } })
  static let schema = ModelSchema<Vehicle>(union: "vehicles") { Index(\.type) }

  struct Car: LifecycleModel, Equatable {
    var id = ID()
    var wheels = 4
    var doors = 2
    var garage: Garage.ID?
    static let schema = ModelSchema<Car>(caseOf: Vehicle.self) {
      Property(\.doors).validated("must be positive") { $0 > 0 }.required()
      Property(\.garage).onDelete(.nullify)
      Index(\.wheels)
    }

    static let log = Mutex<[String]>([])
    func didInsert() { Car.log.withLock { $0.append("+\(doors)") } }
    func didUpdate(from old: Car) { Car.log.withLock { $0.append("\(old.doors)>\(doors)") } }
    func didDelete() { Car.log.withLock { $0.append("-\(doors)") } }
  }

  struct Truck: Cambium.Model, Equatable {
    var id = ID()
    var wheels = 6
    var load = 7.5
    var axle = Axle()
    var garage: Garage.ID?
    struct Axle: Nested { var count = 3 }
    static let schema = ModelSchema<Truck>(caseOf: Vehicle.self) {
      Property(\.load).clamped(to: 0...40)
      Property(\.garage).onDelete(.nullify)
      Index(\.wheels)
      Index(\.axle.count)
    }
  }
}

struct Garage: Cambium.Model, Equatable {
  typealias Key = String
  var id = ID()
  var best: Vehicle.ID?
  var cars: Many<Vehicle.Car> { many(\.garage) }
  var trucks: Many<Vehicle.Truck> { many(\.garage) }
  static let schema = ModelSchema<Garage>("garages") { Property(\.best).onDelete(.nullify) }
}

@Suite("Models of several kinds in one collection")
struct ModelUnionTests {
  typealias Car = Vehicle.Car
  typealias Truck = Vehicle.Truck

  private func withVehicles(_ body: (Database, Car.ID, Truck.ID) throws -> Void) throws {
    try withDatabase { database in
      try database.register(Vehicle.self, Garage.self)
      let (car, truck) = try database.write { tx in
        try tx.insert(Garage(id: "north"))
        let car = try tx.insert(Car(doors: 4, garage: "north"))
        try tx.insert(Vehicle.car(Car(wheels: 3)))
        let truck = try tx.insert(Vehicle.truck(Truck(load: 99, garage: "north")))
        return (car, Truck.ID(truck.key))
      }
      try body(database, car, truck)
    }
  }

  @Test("are read as what they are, by either face")
  func reading() throws {
    try withVehicles { database, car, truck in
      let it = try database.get(Vehicle.ID(truck.key))
      #expect(it == .truck(Truck(id: truck, load: 40, garage: "north")))
      #expect(try database.get(Vehicle.ID(car.key)).id.key == car.key)
      #expect(try database.get(car).doors == 4)
      #expect(try database.find(Car.ID(truck.key)) == nil)
      #expect(try database.find(Car.ID(truck.key), \.wheels) == nil)
      #expect(try database.find(car, \.doors) == 4)
      #expect(try database.exists(Car.ID(truck.key)) == false && database.exists(truck))
      #expect(try database.find([car, Car.ID(truck.key)]).map(\.id) == [car])
      #expect(try database.count(Vehicle.self) == 3 && database.count(Car.self) == 2)
      #expect(try database.all(Car.self).fetch().map(\.doors) == [4, 2])
      #expect(try database.all(Truck.self).limit(1).fetch().map(\.id) == [truck])
      #expect(try database.all(Car.self).reversed().limit(1).fetch().map(\.doors) == [2])
      #expect(try database.all(Vehicle.self).fetch().count == 3)
    }
  }

  @Test("are asked all together, or one kind alone")
  func asking() throws {
    try withVehicles { database, car, truck in
      let all = database.query(Vehicle.self)
      #expect(try all.fetch().count == 3)
      #expect(try all.where { $0.is(Truck.self) }.ids() == [Vehicle.ID(truck.key)])
      #expect(try all.where { $0.as(Car.self).wheels > 3 }.count() == 2)
      #expect(try all.where { $0.as(Truck.self).axle.count == 3 }.count() == 1)
      #expect(try all.where { $0.id == Vehicle.ID(car.key) }.count() == 1)
      let kinds = try all.order(by: \.type.descending).select(\.type).fetch()
      #expect(kinds == ["truck", "car", "car"])
      let counts = try all.group(by: \.type).select { $0.count }
      #expect(counts.map(\.0) == ["car", "truck"] && counts.map(\.1) == [2, 1])

      #expect(try database.query(Car.self).fetch().map(\.wheels).sorted() == [3, 4])
      #expect(try database.query(Car.self).where { $0.wheels > 2 }.sum(\.doors) == 6)
      #expect(try database.query(Truck.self).maximum(\.wheels) == 6)
      #expect(try database.query(Car.self).where { $0.wheels > 4 }.exists() == false)
      let words = try all.where { $0.is(Truck.self) }.explain()
      #expect(words.contains("type"), "\(words)")
      let text = try QueryDescription(parsing: "vehicles where type = \"car\" and wheels > 3")
      #expect(try QueryRun(text, on: try database.snapshot()).count() == 1)
    }
  }

  @Test("are listed by a store, all together or one kind alone")
  func listing() async throws {
    try await withDatabase { database in
      try await database.register(Vehicle.self, Garage.self)
      let store = DatabaseStore(database)
      let truck = try await store.create(Truck(load: 7))
      #expect(try await store.list(Car.self) == [])
      let car = try await store.create(Car(wheels: 3))
      #expect(try await store.list(Car.self) == [car])
      #expect(try await store.list(Listing<Car>().where { $0.wheels > 3 }) == [])
      #expect(try await store.list(Listing<Truck>().where { $0.wheels > 3 }) == [truck])
      #expect(try await store.list(Vehicle.self).count == 2)
    }
  }

  @Test("take part in relations")
  func relations() throws {
    try withVehicles { database, car, truck in
      let north = try database.get("north" as Garage.ID)
      #expect(try database.related(north.cars).ids() == [car])
      #expect(try database.related(north.trucks).ids() == [truck])
      let garages = database.query(Garage.self)
      #expect(try garages.where { $0.cars.any { $0.wheels > 4 } }.count() == 0)
      #expect(try garages.where { $0.trucks.any { $0.wheels > 4 } }.count() == 1)
      #expect(try garages.where { $0.cars.all { $0.wheels == 4 } }.count() == 1)
      #expect(try garages.where { $0.trucks.isEmpty }.count() == 0)
      try database.update(north.id) { $0.best = Vehicle.ID(truck.key) }
      #expect(try garages.where { $0.best.as(Truck.self).load == 40 }.count() == 1)
      #expect(try garages.with(\.best).fetch().first?.1?.id.key == truck.key)
      try database.delete(truck)
      #expect(try database.get(north.id).best == nil)
      try database.delete(north.id)
      #expect(try database.get(car).garage == nil)
    }
  }

  @Test("are changed, become another kind, are deleted, in the past and undone")
  func writing() throws {
    try withVehicles { database, car, truck in
      let id = Vehicle.ID(car.key)
      let before = try database.head
      let update = try database.update(id) {
        if case .car(var car) = $0 {
          car.wheels = 5
          $0 = .car(car)
        }
      }
      #expect(update.properties == ["wheels"])
      #expect(try database.get(car).wheels == 5)
      try database.update(car) { $0.wheels = 6 }
      try database.write { tx in try tx.increment(car, \.wheels, by: 1) }
      #expect(try database.get(car).wheels == 7)
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.set(Car.ID(truck.key), \.wheels, to: 1) }
      }
      let outcome = try database.upsert(Vehicle.truck(Truck(id: Truck.ID(id.key), wheels: 8)))
      #expect(outcome == .updated)
      #expect(try database.find(car) == nil && database.get(Truck.ID(id.key)).wheels == 8)
      #expect(try database.read { try $0[try id.path]["doors"] } == nil)
      try database.undoLast()
      #expect(try database.get(car).wheels == 7 && database.get(car).doors == 4)
      let past = try database.snapshot(at: .sequence(before))
      #expect(try past.get(car).wheels == 4 && past.query(Car.self).count() == 2)
      #expect(throws: DatabaseError.self) { try database.delete(Truck.ID(car.key)) }
      try database.write { tx in
        let count = try tx.deleteAll(Car.self)
        #expect(count == 2)
      }
      #expect(try database.count(Vehicle.self) == 1 && database.exists(truck))
      #expect(try database.delete(Vehicle.ID(truck.key)))
    }
  }

  @Test("keep the rules and get the calls of their kind")
  func rules() throws {
    try withDatabase { database in
      try database.register(Car.self)
      Car.log.withLock { $0 = [] }
      let error = #expect(throws: ValidationError.self) {
        try database.insert(Vehicle.car(Car(doors: 0)))
      }
      #expect(error?.messages == ["doors must be positive"])
      let id = try database.insert(Vehicle.car(Car(doors: 3)))
      try database.upsert(Vehicle.car(Car(id: Car.ID(id.key), doors: 5)))
      try database.upsert(Vehicle.truck(Truck(id: Truck.ID(id.key))))
      try database.upsert(Vehicle.car(Car(id: Car.ID(id.key), doors: 1)))
      try database.delete(id)
      #expect(Car.log.withLock { $0 } == ["+3", "3>5", "-5", "+1", "-1"])
      let definition = try #require(try database.read { try $0.definition(of: "vehicles") })
      #expect(definition == Vehicle.schema.definition && definition == Truck.schema.definition)
      #expect(definition["type"]?.isRequired == true && definition["doors"]?.isRequired == false)
      #expect(definition["axle.count"]?.type == .integer && definition.indexes.count == 3)
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.set("vehicles/1", to: ["wheels": 4]) }
      }
    }
  }

  @Test("are an error where a record is no case")
  func unknown() throws {
    try withVehicles { database, _, _ in
      // As a program writes it that does not know the models.
      try database.write { tx in
        try tx.running.asking(.none) {
          try tx.set(try Vehicle.ID(UUID()).path, to: ["type": "ship", "wheels": 0])
        }
      }
      let error = #expect(throws: PropertyError.self) { try database.query(Vehicle.self).fetch() }
      #expect(error?.property == "type")
      #expect(error?.reason == "it says \"ship\", which is no case of Vehicle")
      #expect(try database.query(Car.self).count() == 2)
    }
  }

  enum Ruled: ModelUnion {
    case only(Only)
    static let cases = ModelCases<Ruled>(
      ModelCase("only", Ruled.only) { if case .only(let only) = $0 { only } else { nil } })
    static let schema = ModelSchema<Ruled>(union: "ruled") { Rule("is never asked") { _ in false } }
    struct Only: Cambium.Model {
      var id = ID()
      var wheels = 4
      static let schema = ModelSchema<Only>(caseOf: Ruled.self)
    }
  }

  enum Thing: ModelUnion {
    case one(One), two(Two)
    static let cases = ModelCases<Thing>(
      ModelCase("one", Thing.one) { if case .one(let one) = $0 { one } else { nil } },
      ModelCase("two", Thing.two) { if case .two(let two) = $0 { two } else { nil } })
    static let schema = ModelSchema<Thing>(union: "things")
    struct One: Cambium.Model {
      var id = ID()
      var size = 1
      static let schema = ModelSchema<One>(caseOf: Thing.self)
    }
    struct Two: Cambium.Model {
      var id = ID()
      var size = "small"
      static let schema = ModelSchema<Two>(caseOf: Thing.self)
    }
    struct Three: Cambium.Model {
      var id = ID()
      static let schema = ModelSchema<Three>(caseOf: Thing.self)
    }
  }

  enum Labelled: ModelUnion {
    case one(One), two(Two)
    static let cases = ModelCases<Labelled>(
      ModelCase("one", Labelled.one) { if case .one(let one) = $0 { one } else { nil } },
      ModelCase("two", Labelled.two) { if case .two(let two) = $0 { two } else { nil } })
    static let schema = ModelSchema<Labelled>(union: "labelled")
    struct One: Cambium.Model {
      var id = ID()
      var size = 1
      static let schema = ModelSchema<One>(caseOf: Labelled.self) {
        Property(\.size).labelled("Length", "In metres.")
      }
    }
    struct Two: Cambium.Model {
      var id = ID()
      var size = 2
      static let schema = ModelSchema<Two>(caseOf: Labelled.self) {
        Property(\.size).labelled("Width")
      }
    }
  }

  @Test("may call one property differently")
  func labels() throws {
    try withDatabase { database in
      try database.register(Labelled.self)
      try database.insert(Labelled.two(Labelled.Two()))
      #expect(try database.read { try $0.definition(of: "labelled") }?["size"]?.label == "Length")
    }
  }

  @Test("are refused where kinds contradict each other, or one is not listed")
  func contradictions() throws {
    try withDatabase { database in
      func reason(_ body: () throws -> Void) -> String {
        "\(#expect(throws: DatabaseError.self, performing: body).map { "\($0)" } ?? "")"
      }
      let expected = "the property size is not the same in One and Two"
      #expect(reason { try database.register(Thing.self) }.contains(expected))
      #expect(reason { try database.register(Thing.One.self) }.contains(expected))
      #expect(
        reason { try database.insert(Thing.Three()) }.contains("Thing lists no case for Three"))
      #expect(
        reason { try database.register(Ruled.self) }
          .contains("rules stand in the schemas of its cases"))
    }
  }

  @Test("are what a dictionary of them is", arguments: SeededGenerator.seeds(1, 2))
  func random(_ seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    try withDatabase { database in
      try database.register(Truck.self, Car.self, Garage.self)
      var model: [UUID: Vehicle] = [:]
      for step in 0..<300 {
        let key =
          model.isEmpty || random.chance(oneIn: 2)
          ? nil : random.pick(model.keys.sorted { $0.uuidString < $1.uuidString })
        let made = Self.vehicle(key ?? UUID(), &random)
        switch random.below(5) {
        case 0 where key != nil:
          try database.delete(made.id)
          model[made.id.key] = nil
        case 1 where key != nil:
          try database.update(made.id) { $0 = made }
          model[made.id.key] = made
        default:
          try database.upsert(made)
          model[made.id.key] = made
        }
        guard step % 20 == 0 else { continue }
        try Self.check(database, model)
      }
    }
  }

  private static func vehicle(_ key: UUID, _ random: inout FormatRandom) -> Vehicle {
    let wheels = random.below(5)
    return random.chance(oneIn: 2)
      ? .car(Car(id: Car.ID(key), wheels: wheels, doors: random.below(4) + 1))
      : .truck(Truck(id: Truck.ID(key), wheels: wheels, load: Double(random.below(40))))
  }

  private static func check(_ database: Database, _ model: [UUID: Vehicle]) throws {
    let all = try database.query(Vehicle.self).fetch()
    #expect(Dictionary(uniqueKeysWithValues: all.map { ($0.id.key, $0) }) == model)
    let cars = model.values.compactMap { if case .car(let car) = $0 { car } else { nil } }
    let few = try database.query(Car.self).where { $0.wheels < 2 }.fetch()
    #expect(Set(few.map(\.id)) == Set(cars.filter { $0.wheels < 2 }.map(\.id)))
    #expect(try database.query(Truck.self).count() == model.count - cars.count)
    #expect(try database.query(Car.self).sum(\.doors) == cars.map(\.doors).reduce(0, +))
  }
}
