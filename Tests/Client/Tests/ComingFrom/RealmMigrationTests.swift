import Cambium
import Scratch
import Testing

@Suite("Coming from Realm, one who changes a schema")
struct RealmMigrationTests {
  /// As an older version of the app had it.
  struct FormerPerson: Model {
    var id = ID()
    var firstName = ""
    var lastName = ""
    static let schema = ModelSchema<FormerPerson>("people")
  }

  struct Person: Model {
    var id = ID()
    var fullName = ""

    static let schema = ModelSchema<Person>("people", version: 2) {
      Migration("full name") { old, new in
        let first = try old["firstName", as: String.self]
        new.fullName = try first + " " + old["lastName", as: String.self]
      }
      Removed("firstName", "lastName")
    }
  }

  @Test("makes one property of two, and goes on where it was broken off")
  func migrating() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/people.cambium"
    let former = try Database(at: path, for: FormerPerson.self)
    for name in ["Lovelace", "Byron"] {
      try former.insert(FormerPerson(firstName: "Ada", lastName: name))
    }
    try former.close()
    #expect(throws: DatabaseError.self) { try Database(at: path, for: Person.self) }

    let show = Shown()
    let database = try Database(
      at: path, for: Person.self,
      migrating: { progress in
        show("\(progress.done) people")
        return true
      })
    let names = try database.all(Person.self).fetch().map(\.fullName).sorted()
    #expect(names == ["Ada Byron", "Ada Lovelace"] && !show.lines.isEmpty)
    try checkSound(database)
    try database.close()
  }
}
