// Goal: an update of a row names the properties behind its references that have changed, by their
// paths, with the values before and after. Method: one change after another of a small database, of
// which each has to lead to exactly these names.
//
// It finds a record before that is read from the state after, a record that has come and is told by
// its properties, a property that is told though it only decides, and a default that is not told:
// each was planted.

import Testing

@testable import Cambium

@Suite("Updates of other records")
struct FarUpdatesTests {
  private static func declare(_ database: Database) throws {
    var (users, issues, comments) = (
      CollectionDefinition(), CollectionDefinition(), CollectionDefinition()
    )
    users.properties = [
      PropertyDefinition("name", .string), PropertyDefinition("team", .reference("teams")),
      PropertyDefinition("mail", .string),
    ]
    issues.properties = [
      PropertyDefinition("author", .reference("users")), PropertyDefinition("title", .string),
      PropertyDefinition("readers", .array(.reference("users"))),
    ]
    comments.properties = [
      PropertyDefinition("issue", .reference("issues")), PropertyDefinition("text", .string),
    ]
    try database.write { [users, issues, comments] tx in
      try tx.declare("teams", CollectionDefinition())
      try tx.declare("users", users)
      try tx.declare("issues", issues)
      try tx.declare("comments", comments)
      try tx.set("teams/red", to: ["name": "Red"])
      try tx.set("teams/blue", to: ["name": "Blue"])
      try tx.set("users/ada", to: ["name": "Ada", "team": "red", "mail": "a"])
      try tx.set("users/bob", to: ["name": "Bob", "team": "blue", "mail": "b"])
      try tx.set("issues/1", to: ["author": "ada", "title": "t", "readers": ["bob"]])
      try tx.set("comments/7", to: ["issue": 1, "text": "x"])
    }
  }

  /// The names that the row of issue 1 tells, each with its values.
  private static func told(
    _ rows: MaintainedRows, _ database: Database, _ description: QueryDescription,
    _ loading: [LoadedPath], write: (borrowing Database.Transaction) throws -> Void
  ) throws -> [String] {
    let before = try database.snapshot()
    try database.write(write)
    let after = try database.snapshot()
    let changes = try NetChange.all(
      in: ["teams", "users", "issues", "comments"], from: before, to: after)
    let reading = try LiveReading.plain(description, loading, after)
    _ = try #require(try rows.step(changes, reading))
    return try rows.visible
      .flatMap { try rows.farUpdates(of: $0, reading.records)?.properties ?? [] }
      .map { "\($0.name) \($0.old.map { "\($0)" } ?? "-") \($0.new.map { "\($0)" } ?? "-")" }
      .sorted()
  }

  @Test("are named by their paths")
  func paths() throws {
    try withDatabase { database in
      try Self.declare(database)
      var query = QueryDescription("issues")
      query.orderings = [Ordering(PropertyPath(hops: ["author", "team"], "rank"))]
      let loading = [
        LoadedPath(path: PropertyPath("author"), collection: "users"),
        LoadedPath(path: PropertyPath(hops: ["author"], "team"), collection: "teams"),
        LoadedPath(path: PropertyPath("readers"), collection: "users"),
        LoadedPath(path: PropertyPath(nil), collection: "comments", inverse: "issue"),
      ]
      let reading = try LiveReading.plain(query, loading, database.snapshot())
      let rows = try MaintainedRows(query, reading)
      _ = try rows.fill(reading)
      func told(_ write: (borrowing Database.Transaction) throws -> Void) throws -> [String] {
        try Self.told(rows, database, query, loading, write: write)
      }
      func word(_ text: String) -> String { "\(Value.string(text))" }
      let name = try told { try $0.set("users/ada/name", to: "Ava") }
      #expect(name == ["author.name \(word("Ada")) \(word("Ava"))"])
      let team = try told { try $0.set("teams/red/name", to: "Rot") }
      #expect(team == ["author.team.name \(word("Red")) \(word("Rot"))"])
      let text = try told { try $0.set("comments/7/text", to: "y") }
      #expect(text == ["comments[7].text \(word("x")) \(word("y"))"])
      let reader = try told { try $0.set("users/bob/mail", to: "c") }
      #expect(reader == ["readers[bob].mail \(word("b")) \(word("c"))"])
      let come = try told { try $0.set("comments/8", to: ["issue": 1, "text": "z"]) }
      #expect(come == ["comments[8] - \(Value.reference("comments/8"))"])
      let gone = try told { try $0.remove("comments/7") }
      #expect(gone == ["comments[7] \(Value.reference("comments/7")) -"])
      let other = try told { try $0.set("issues/1/author", to: "bob") }
      #expect(other.contains("author.name \(word("Ava")) \(word("Bob"))"))
      #expect(other.contains("author.team.name \(word("Rot")) \(word("Blue"))"))
      #expect(!other.contains { $0.hasPrefix("readers") || $0.hasPrefix("comments") })
      #expect(try told { try $0.set("issues/1/title", to: "u") } == [])
    }
  }

  @Test("are seen behind a join that leads elsewhere than the reference that it joins by")
  func elsewhere() throws {
    try withDatabase { database in
      var (ants, bees, cats) = (
        CollectionDefinition(), CollectionDefinition(), CollectionDefinition()
      )
      ants.properties = [PropertyDefinition("to", .reference("bees"))]
      bees.properties = [PropertyDefinition("to", .reference("cats"))]
      cats.properties = [
        PropertyDefinition("to", .reference("cats")), PropertyDefinition("n", .integer),
      ]
      try database.write { [ants, bees, cats] tx in
        try tx.declare("ants", ants)
        try tx.declare("bees", bees)
        try tx.declare("cats", cats)
        try tx.set("cats/near", to: ["to": "far"])
        try tx.set("cats/far", to: ["n": 5])
        try tx.set("ants/one", to: ["to": "near"])
      }
      let live = try database.records(
        "ants join cats as p on to = p.id join cats as q on p.to = q.id select id, q.n"
      ).live()
      #expect(live.map { $0["q.n"] } == [5])
      try database.write { try $0.set("cats/far/n", to: 6) }
      try live.refresh()
      #expect(live.map { $0["q.n"] } == [6])
    }
  }

  @Test("come with the differences of a live query, with a join's name as well")
  func differences() throws {
    try withDatabase { database in
      try Self.declare(database)
      var joined = QueryDescription("issues")
      joined.joins = [.init("p", "users", PropertyPath("title"), inner: "mail")]
      joined.selection = [PropertyPath("title"), PropertyPath(hops: ["p"], "name")]
      var selecting = QueryDescription("issues")
      selecting.selection = [PropertyPath("title"), PropertyPath(hops: ["author"], "name")]
      selecting.orderings = [Ordering(PropertyPath(hops: ["author"], "team"))]
      let live = try [joined, selecting].map {
        try LiveRun(BoxedQuery(DynamicQuery($0, .database(database))))
      }
      for run in live { _ = try run.step() }
      try database.write { try $0.set("users/ada/mail", to: "t") }
      #expect(try live[0].step().insertions.count == 1)
      #expect(try live[1].step().isEmpty)
      // The team decides the order of one, and is shown by none.
      try database.write { tx in
        try tx.set("users/ada/name", to: "Ava")
        try tx.set("users/ada/team", to: "blue")
      }
      for (run, name) in zip(live, ["p.name", "author.name"]) {
        let updates = try run.step().updates
        #expect(
          updates.map(\.properties.all) == [[PropertyUpdate(name: name, old: "Ada", new: "Ava")]])
        #expect(updates.map(\.cause) == [.related])
      }
    }
  }

  @Test("tell the defaults of a record that comes, and of one that goes")
  func defaults() throws {
    try withDatabase { database in
      var (ants, bees) = (CollectionDefinition(), CollectionDefinition())
      ants.properties = [
        PropertyDefinition("to", .reference("bees")), PropertyDefinition("via", .reference("bees")),
      ]
      bees.properties = [PropertyDefinition("n", .integer), PropertyDefinition("t", .string)]
      bees.properties[0].absence = 1
      try database.write { [ants, bees] tx in
        try tx.declare("ants", ants)
        try tx.declare("bees", bees)
        try tx.set("bees/there", to: ["t": "a"])
        try tx.set("ants/one", to: ["to": "there", "via": "later"])
      }
      let live = try database.records("ants select to.t, via.n, via.id").live()
      #expect(live.map { [$0["to.t"], $0["via.n"], $0["via.id"]] } == [["a", .null, .null]])
      func step(
        _ write: (borrowing Database.Transaction) throws -> Void
      ) throws -> LiveDiff<DynamicRecord> {
        try database.write(write)
        return try live.refresh()
      }
      let came = [
        PropertyUpdate(name: "via.n", old: nil, new: 1),
        PropertyUpdate(name: "via.id", old: nil, new: "later"),
      ]
      let come = try step { tx in
        try tx.set("bees/there/t", to: "b")
        try tx.set("bees/later", to: ["t": "x"])
      }
      let text = PropertyUpdate(name: "to.t", old: "a", new: "b")
      #expect(come.updates.map(\.properties) == [[text] + came])
      // The text is as it was: what is left of both is the record that has come.
      let both = come.composed(with: try step { try $0.set("bees/there/t", to: "a") })
      #expect(both.updates.map(\.properties) == [came])
      let gone = try step { try $0.remove("bees/later") }
      let went = came.map { PropertyUpdate(name: $0.name, old: $0.new, new: nil) }
      #expect(gone.updates.map(\.properties) == [went])
      #expect(both.composed(with: gone).updates.isEmpty)
    }
  }

  @Test("behind joined records begin with the join's name, however it joins")
  func joined() throws {
    try withDatabase { database in
      try Self.declare(database)
      let runs = try [
        "issues join users as p on author = p.id select title, p.team.name, author.name",
        "issues join users as p on title = p.mail select title, p.team.name, p.team.id",
        "issues left join users as p on author = p.id select title, p.name, p.team.name",
      ].map { try LiveRun(BoxedQuery(database.records($0))) }
      try database.write { try $0.set("issues/1/title", to: "a") }
      for run in runs { #expect(try run.step().insertions.count == 1) }
      func told(
        _ write: (borrowing Database.Transaction) throws -> Void
      ) throws -> [[PropertyUpdate]] {
        try database.write(write)
        return try runs.map { try $0.step().updates.flatMap(\.properties.all) }
      }
      let team = PropertyUpdate(name: "p.team.name", old: "Red", new: "Rot")
      let teams = try told { try $0.set("teams/red/name", to: "Rot") }
      #expect(teams == [[team], [team], [team]])
      let names = try told { try $0.set("users/ada/name", to: "Ava") }
      func name(_ path: String) -> PropertyUpdate {
        PropertyUpdate(name: path, old: "Ada", new: "Ava")
      }
      #expect(names == [[name("author.name")], [], [name("p.name")]])
      let others = try told { try $0.set("users/ada/team", to: "blue") }
      let other = [
        PropertyUpdate(name: "p.team", old: "red", new: "blue"),
        PropertyUpdate(name: "p.team.name", old: "Rot", new: "Blue"),
      ]
      let key = PropertyUpdate(name: "p.team.id", old: "red", new: "blue")
      #expect(others == [other, other + [key], other])
    }
  }

  @Test("are not told of a record of which only what refers to it is loaded")
  func loadedBehind() throws {
    try withDatabase { database in
      try Self.declare(database)
      let query = QueryDescription("comments")
      let loading = [LoadedPath(path: PropertyPath(hops: ["issue"], "author"), collection: "users")]
      let reading = try LiveReading.plain(query, loading, database.snapshot())
      let rows = try MaintainedRows(query, reading)
      _ = try rows.fill(reading)
      let told = try Self.told(rows, database, query, loading) { tx in
        try tx.set("issues/2", to: ["author": "ada", "title": "u"])
        try tx.set("comments/7/issue", to: 2)
        try tx.set("users/ada/name", to: "Ava")
      }
      let values = "\(Value.string("Ada")) \(Value.string("Ava"))"
      #expect(told == ["issue.author.name \(values)"])
    }
  }
}
