import Cambium
import FoundationEssentials
import Scratch
import Testing

@Suite("Coming from ModelKit, one")
struct ModelKitTests {
  struct Person: Model {
    var id = ID()
    var name: String?
    var age = 2
    var rating: Int?
    var tags: [String] = []
    var company: Company.ID?
    static let schema = ModelSchema<Person>("people") {
      Property(\.name).required()
      Property(\.age).validated("must be positive") { $0 > 0 }
        .validated("must be even") { $0 % 2 == 0 }
      Property(\.rating).clamped(to: 1...5)
      Property(\.company).onDelete(.cascade)
    }
  }

  struct Company: Model {
    var id = ID()
    var employees: Many<Person> { many(\.company) }
    static let schema = ModelSchema<Company>("companies")
  }

  enum Shape: ModelUnion {
    case circle(Circle), square(Square)
    static let cases = ModelCases<Shape>(
      ModelCase("circle", Shape.circle) { if case .circle(let it) = $0 { it } else { nil } },
      ModelCase("square", Shape.square) { if case .square(let it) = $0 { it } else { nil } })
    static let schema = ModelSchema<Shape>(union: "shapes", discriminator: "kind")
  }

  struct Circle: Model {
    var id = ID()
    var radius = 1.0
    static let schema = ModelSchema<Circle>(caseOf: Shape.self)
  }

  struct Square: Model {
    var id = ID()
    var side = 1.0
    static let schema = ModelSchema<Square>(caseOf: Shape.self)
  }

  @Test("keeps several kinds in one place")
  func kinds() throws {
    try withDatabase { database in
      try database.register(Shape.self)
      try database.insert(Circle(radius: 2))
      try database.insert(Square(side: 3))
      let shapes = try database.all(Shape.self).fetch()
      let wide = try database.query(Circle.self).where { $0.radius > 1 }.fetch()
      #expect(shapes.count == 2 && wide.map(\.radius) == [2])
      let kinds = try database.query(Shape.self).select(\.type).fetch()
      #expect(Set(kinds) == ["circle", "square"])
    }
  }

  @Test("is told all that is wrong at once")
  func validation() throws {
    try withDatabase { database in
      let show = Shown()
      var person = Person()
      person.age = -3
      person.rating = 9
      show(person.validationErrors().flatMap(\.messages))
      let wrong = #"["name is required", "age must be positive", "age must be even"]"#
      #expect(show.lines == [wrong])
      #expect(throws: ValidationError.self) { try database.insert(person) }
      (person.name, person.age) = ("Ada", 36)
      let id = try database.insert(person)
      #expect(try database.get(id).rating == 5)
    }
  }

  @Test("keeps a store in memory, deletes what belongs together, and knows when")
  func store() throws {
    let show = Shown()
    let person = Person(name: "Bob", age: 40)
    let store = try Database.inMemory(for: Person.self, Company.self)
    let id = try store.insert(person)
    let found = try store.get(id)
    let all = try store.all(Person.self).fetch()
    show(all)
    #expect(found.name == "Bob" && all.map(\.id) == [id] && show.lines.count == 1)

    try store.update(id) { $0.age = 42 }
    let head = try store.head
    try store.update(id) { $0.name = "Robert" }
    try expectChanged(try store.live(id), after: head)

    let company = try store.insert(Company())
    try store.update(id) { $0.company = company }
    let employees = try store.related(try store.get(company).employees).count()
    #expect(employees == 1)
    try store.delete(company)
    #expect(try store.count(Person.self) == 0)
    try checkSound(store)
    try store.close()
  }

  private func expectChanged(_ person: Live<Person>, after head: SequenceNumber) throws {
    let changed = try person.properties.name.changedAt
    let last = try person.properties.name.lastChange?.transaction
    #expect(last?.sequence == head.next && last?.time == changed && changed != nil)
  }

  @Test("observes fields and paths, and binds fields")
  func observing() async throws {
    let store = try Database.inMemory(for: Person.self, Company.self)
    let id = try await store.insert(Person(name: "Ada", age: 36))
    let (fields, paths) = (Shown(), Shown())
    let tasks = [
      Task { try await Self.observe(try store.live(id), fields) },
      Task { try await Self.observe(store, paths) },
    ]
    try await fields.waits(for: 1)
    // The paths tell what changes from now on, and whoever observes may still be on its way.
    var age = 36
    while paths.lines.isEmpty || fields.lines.count < 2 {
      age += 2
      try await store.update(id) { [age] in $0.age = age }
      try await Task.sleep(for: .milliseconds(10))
    }
    for task in tasks { task.cancel() }
    for task in tasks { _ = await task.result }
    #expect(fields.lines[0] == "Age was changed to 36")
    #expect(paths.lines[0] == (try id.path.description) + "/age")
    try await store.close()
  }

  private static func observe(_ person: Live<Person>, _ show: Shown) async throws {
    for try await age in person.properties.age.values {
      show("Age was changed to \(age)")
    }
  }

  private static func observe(_ database: Database, _ show: Shown) async throws {
    for try await change in database.changes(at: "people/*/age") {
      show(change.path)
    }
  }

  @Test("binds fields to others")
  func binding() throws {
    let store = try Database.inMemory(for: Person.self, Company.self)
    let ada = try store.live(try store.insert(Person(name: "Ada", age: 36, rating: 5)))
    let bob = try store.live(try store.insert(Person(name: "Bob", age: 40, rating: 1)))
    let oneWay = ada.properties.name --> bob.properties.name
    let bothWays = ada.properties.rating <--> bob.properties.rating
    #expect(bob.name == "Ada" && ada.rating == 1)
    bob.rating = 3
    #expect(ada.rating == 3)
    ada.name = "Ada L."
    #expect(bob.name == "Ada L.")
    oneWay.end()
    bothWays.end()
    try checkSound(store)
    try store.close()
  }

  @Test("writes dictionaries as a server wants them, and reads them")
  func dictionaries() throws {
    let person = Person(name: "Ada", age: 36)
    let server = InterchangeProfile.standard.keys(.snake).only(Person.self, \.name, \.age)
    let dictionary = try person.dictionary(server)
    let copy = try Person(dictionary: dictionary, server)
    #expect(dictionary == ["name": "Ada", "age": 36])
    #expect(copy.name == "Ada" && copy.age == 36)
  }

  func grow(_ id: Person.ID, in store: some ModelStore) async throws -> [Person] {
    try await store.update(id) { $0.age = 42 }
    return try await store.list(Listing<Person>().where { $0.age > 40 })
  }

  @Test("does not care where models are kept")
  func stores() async throws {
    func grown(in store: some ModelStore) async throws -> [Person] {
      try await grow(try await store.create(Person(name: "Ada", age: 36)).id, in: store)
    }
    let memory = try await grown(in: try MemoryStore(for: Person.self, Company.self))
    let database = try Database.inMemory(for: Person.self, Company.self)
    let durable = try await grown(in: DatabaseStore(database))
    #expect(memory.map(\.name) == ["Ada"] && durable.map(\.name) == ["Ada"])
    try await database.close()
  }
}
