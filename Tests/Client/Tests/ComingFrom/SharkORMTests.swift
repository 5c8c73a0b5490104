import Cambium
import FoundationEssentials
import Scratch
import Testing

@Suite("Coming from SharkORM, one")
struct SharkORMTests {
  struct Location: Model {
    var id = ID()
    var name = ""
    static let schema = ModelSchema<Location>("locations")
  }

  struct Department: Model {
    var id = ID()
    var name = ""
    var location: Location.ID?
    var people: Many<Person> { many(\.department) }
    static let schema = ModelSchema<Department>("departments")
  }

  struct Person: Model {
    var id = ID()
    var name = "Billy"
    var age = 36
    var payrollNumber: Int?
    var department: Department.ID?
    static let schema = ModelSchema<Person>("people") {
      Property(\.department).onDelete(.deny)
      Index(\.name)
      Index(\.age)
      Unique(\.payrollNumber)
    }
  }

  /// Lends a database with three people, of whom two are in a department.
  private func withPeople(_ body: (Database, Department) throws -> Void) throws {
    try withDatabase { database in try body(database, try fill(database)) }
  }

  private func fill(_ database: Database) throws -> Department {
    try database.register(Location.self, Department.self, Person.self)
    return try database.write { tx in
      let alton = try tx.insert(Location(name: "Alton"))
      let id = try tx.insert(Department(name: "Development", location: alton))
      try tx.insert(Person(name: "Ada", age: 36, department: id))
      try tx.insert(Person(name: "Bob", age: 40, payrollNumber: 1, department: id))
      try tx.insert(Person(name: "Eve", age: 36))
      return try tx.get(id)
    }
  }

  @Test("asks for the other side of a relation")
  func relation() throws {
    try withPeople { database, department in
      let team = try database.related(department.people).fetch()
      #expect(team.map(\.name).sorted() == ["Ada", "Bob"])
      #expect(try database.related(Department().people).count() == 0)
      try database.write { tx in
        try tx.insert(Person(name: "Joe", department: department.id))
        #expect(try tx.related(department.people).count() == 3)
      }
      #expect(try database.snapshot().related(department.people).count() == 3)
    }
  }

  @Test("stores, with initial values, and refuses what rules forbid")
  func storing() throws {
    try withPeople { database, department in
      let person = Person(name: "Adrian Herridge", age: 38, payrollNumber: 123_456)
      let id = try database.insert(person)
      #expect(try database.get(id).name == "Adrian Herridge")
      #expect(try database.get(try database.insert(Person())).name == "Billy")
      #expect(throws: DatabaseError.self) {
        try database.insert(Person(payrollNumber: 123_456))
      }
      #expect(throws: DatabaseError.self) { try database.delete(department.id) }
      try database.write { tx in try tx.delete(tx.related(department.people)) }
      #expect(try database.delete(department.id))
    }
  }

  private struct TooMany: Error {}

  @Test("rolls back")
  func transaction() throws {
    try withPeople { database, _ in
      let report = Shown()
      do {
        try database.write { tx in
          try tx.insert(Person(name: "Grace Hopper"))
          if try tx.count(Person.self) > 3 { throw TooMany() }
        }
      } catch {
        report(error)
      }
      #expect(report.lines == ["TooMany()"])
      let count = try database.count(Person.self)
      #expect(count == 3)
    }
  }

  @Test("asks, also through a relation")
  func query() throws {
    try withPeople { database, _ in
      let people = try database.query(Person.self)
        .where { $0.age >= 35 && $0.department.name == "Development" }
        .order(by: \.name).limit(99)
        .fetch()
      #expect(people.map(\.name) == ["Ada", "Bob"])
    }
  }

  @Test("counts, sums, groups")
  func figures() throws {
    try withPeople { database, _ in
      let count = try database.query(Person.self).count()
      let sum = try database.query(Person.self).sum(\.age)
      let ages = try database.query(Person.self).select(\.age).distinct().fetch()
      let byAge = try database.query(Person.self).group(by: \.age).select { $0.count }
      let ids = try database.query(Person.self).where { $0.age > 35 }.ids()
      #expect(count == 3 && sum == 112 && Set(ages) == [36, 40] && ages.count == 2)
      #expect(byAge.map(\.0) == [36, 40] && byAge.map(\.1) == [2, 1])
      #expect(ids.count == 3)
    }
  }

  @Test("joins, and keeps those without a partner")
  func joins() throws {
    try withPeople { database, _ in
      let show = Shown()
      let rows = try database.query(Person.self)
        .leftJoin(Department.self, on: \.department, \.id)
        .fetch()
      for (person, department) in rows {
        show(person.name, department?.name)
      }
      #expect(show.lines.sorted() == ["Ada Development", "Bob Development", "Eve nil"])

      let three = try database.query(Person.self)
        .select(\.name, \.department.name.orNil, \.department.location.name.orNil)
        .fetch()
      #expect(three.map(\.0).sorted() == ["Ada", "Bob", "Eve"])
      for (name, department, location) in three {
        #expect(department == (name == "Eve" ? nil : "Development"))
        #expect(location == (name == "Eve" ? nil : "Alton"))
      }
      let byDepartment = try database.query(Person.self)
        .group(by: \.department.name.orNil).select { $0.count }
      #expect(byDepartment.map(\.0) == [nil, "Development"] && byDepartment.map(\.1) == [1, 2])
    }
  }

  @Test("deletes by query")
  func deleting() throws {
    try withPeople { database, _ in
      try database.write { tx in
        try tx.delete(tx.query(Person.self).where { $0.age < 37 })
      }
      #expect(try database.all(Person.self).fetch().map(\.name) == ["Bob"])
    }
  }

  @Test("keeps a result as it should be")
  func results() async throws {
    try await withDatabase { database in
      _ = try fill(database)
      let show = Shown()
      let task = Task {
        let adults = database.query(Person.self)
          .where { $0.age >= 18 }.order(by: \.name).limit(99)
        for try await diff in adults.changes() {
          show(diff.elements)
        }
      }
      try await show.waits(for: 1)
      try await database.insert(Person(name: "Joe", age: 17))
      try await database.insert(Person(name: "Zoe", age: 18))
      try await show.waits(for: 2)
      task.cancel()
      _ = await task.result
      #expect(show.lines[1].contains("Zoe") && !show.lines[1].contains("Joe"))
    }
  }

  @Test("is told of changes")
  func events() async throws {
    try await withDatabase { database in
      _ = try fill(database)
      let (show, head) = (Shown(), try database.head)
      let task = Task {
        for try await commit in database.changes(after: head, under: "people") {
          try commit.changes.forEach { change in
            show(change.path, change.old, change.new)
          }
        }
      }
      let id = try await database.insert(Person(name: "Joe"))
      try await database.delete(id)
      try await show.waits(for: 2)
      task.cancel()
      _ = await task.result
      let path = try id.path.description
      #expect(show.lines[0].hasPrefix("\(path) nil ") && show.lines[0].contains("Joe"))
      #expect(show.lines[1].hasPrefix("\(path) ") && show.lines[1].hasSuffix(" nil"))
    }
  }
}
