import Foundation
import Testing

@testable import Cambium

/// The texts that apps print and debuggers show. They are compared with the documented forms; of
/// random values it is shown that the short form is bounded, and that the full one reads back.
@Suite("A printed value") struct PrintingTests {
  private static let time = Date(microseconds: 1_356_998_400_000_000)

  @Test(
    "is itself at a glance, and a constant of the query language in full",
    arguments: [
      (.null, "null", "null"), (.bool(true), "true", "true"), (.integer(-7), "-7", "-7"),
      (.double(12), "12.0", "12.0"), ("Ada", "Ada", "\"Ada\""),
      ("a \"b\"\n", "a \"b\"\n", #""a \"b\"\n""#),
      (.data(Data([1, 2, 3])), "3 bytes", "data(\"AQID\")"),
      (.date(time), "2013-01-01T00:00:00Z", "date(\"2013-01-01T00:00:00Z\")"),
      (.reference("airlines/UA"), "airlines/UA", "path(\"airlines/UA\")"),
      (.array(["a", 1, .null]), "[\"a\", 1, null]", "[\"a\", 1, null]"),
      (.map(ValueMap()), "{}", "{}"),
      (
        ["name": "Ada", "born": 1815], "{born: 1815, name: \"Ada\"}",
        "{\"born\": 1815, \"name\": \"Ada\"}"
      ),
      (.blob(Blob(hash: [1, 2, 3], size: 70_312)), "blob of 70312 bytes", "blob(\"AQID\", 70312)"),
    ] as [(Value, String, String)])
  func forms(value: Value, short: String, full: String) {
    #expect("\(value)" == short)
    #expect(String(reflecting: value) == full)
    #expect(String(reflecting: [value]) == "[\(full)]", "no case of the enum shows through")
  }

  @Test("is cut where it is long, and says how much is left out")
  func cut() {
    let numbers = Value.array((0..<10_000).map { .integer($0) })
    #expect("\(numbers)".hasSuffix(" more]") && "\(numbers)".utf8.count < 500)
    #expect("\(Value.array([.string(String(repeating: "x", count: 5_000))]))".utf8.count < 200)
    let left = "\(numbers)".split(separator: "… ").last.flatMap { Int($0.prefix { $0.isNumber }) }
    let shown = "\(numbers)".split(separator: ", ").count - 1
    #expect(left.map { $0 + shown } == 10_000)
    var deep = Value.integer(1)
    for _ in 0..<100 { deep = .array([deep, deep]) }
    #expect("\(deep)".utf8.count < 4_000, "2¹⁰⁰ leaves are not walked")
  }

  @Test("is bounded at a glance, and one line that reads back in full", arguments: [1, 2, 3])
  func random(seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    for _ in 0..<300 {
      let value = random.value()
      #expect(Value.array([value]).description.utf8.count < 4_000, "seed \(seed)")
      let text = value.debugDescription
      #expect(!text.contains("\n"), "seed \(seed): \(text)")
      if case .map = value { continue }
      let condition = Condition(.compare(PropertyPath("p"), .equal, value))
      let read = try Condition(parsing: condition.description, values: [])
      #expect(read == condition, "seed \(seed): \(text)")
    }
  }

  @Test("has its members in a dump")
  func dumped() {
    let record: ValueMap = ["b": 1, "a": "x"]
    let children = Mirror(reflecting: record).children.map { "\($0.label ?? "")=\($0.value)" }
    #expect(children == ["a=x", "b=1"])
    #expect(Mirror(reflecting: record).displayStyle == .dictionary)
  }
}

@Suite("What is printed of a database") struct DatabasePrintingTests {
  @Test("is short in a log line, full in a debugger, and reads nothing")
  func forms() throws {
    try withDatabase { database in
      try database.write(metadata: ["why": "new"], actor: "ada") { tx in
        try tx.set("users/ada", to: ["born": 1815, "name": "Ada"])
        try tx.event("welcome", ["to": "ada"])
      }
      try database.write(actor: "bob") { try $0.update("users/ada", ["born": 1816, "died": 1852]) }
      let snapshot = try database.snapshot()
      #expect("\(snapshot)" == "snapshot of transaction 2")
      #expect("\(database)" == database.path)
      try nodes(snapshot)
      let record = try #require(try snapshot["users/ada"].record)
      #expect("\(record)" == "users/ada {born: 1816, died: 1852, name: \"Ada\"}")
      #expect(
        String(reflecting: record)
          == "DynamicRecord(\"users/ada\", {\"born\": 1816, \"died\": 1852, \"name\": \"Ada\"})")
      #expect(Mirror(reflecting: record).children.compactMap(\.label) == ["path", "values"])
    }
  }

  private func nodes(_ snapshot: Snapshot) throws {
    let node = snapshot["users/ada"]
    #expect("\(node)" == "users/ada" && "\(snapshot[.root])" == "/")
    #expect(String(reflecting: node) == "Node(\"users/ada\", at: 2)")
    var dumped = ""
    dump(node, to: &dumped)
    #expect(dumped.split(separator: "\n").count < 10, "\(dumped)")
    #expect(!dumped.contains("OpenDirectory") && !dumped.contains("Snapshot"))
    dumped = ""
    dump(snapshot, to: &dumped)
    #expect(dumped.split(separator: "\n").count < 10, "\(dumped)")
  }

  @Test("names transactions and changes")
  func changes() throws {
    try withDatabase { database in
      try database.write(metadata: ["why": "new"], actor: "ada") { tx in
        try tx.set("users/ada", to: ["born": 1815, "name": "Ada"])
        try tx.event("welcome", ["to": "ada"])
      }
      try database.write { try $0.update("users/ada", ["born": 1816, "died": 1852]) }
      let steps = try database.history(of: "users/ada").fetch()
      let changes = steps.map(\.change)
      #expect(
        changes.map(\.description) == [
          "users/ada: nil → {born: 1815, name: \"Ada\"}",
          "users/ada: {born: 1815 → 1816, died: nil → 1852}",
        ])
      #expect(
        changes[0].debugDescription
          == "Change(\"users/ada\", old: nil, new: {\"born\": 1815, \"name\": \"Ada\"})")
      let info = steps[0].transaction
      #expect("\(info)" == "transaction 1 of \(Self.text(info.time)) by ada")
      #expect(
        String(reflecting: info)
          == "TransactionInfo(1, time: \(Self.text(info.time)), "
          + "origin: \(info.origin.uuidString.lowercased()), "
          + "metadata: {\"actor\": \"ada\", \"why\": \"new\"})")
      #expect("\(steps[1])".hasSuffix(", transaction 2 of \(Self.text(steps[1].transaction.time))"))
      let blame = try database.blame("users/ada").map(\.description)
      #expect(blame.last == "name: \"Ada\", set by \(info)")
      try commits(database)
    }
  }

  private func commits(_ database: Database) throws {
    var commits: [Commit] = []
    var cursor = try database.commits()
    while let commit = try cursor.next() { commits.append(commit) }
    let first = try #require(commits.first)
    #expect("\(first)".hasPrefix("transaction 1 of ") && "\(first)".hasSuffix(" operations"))
    #expect(String(reflecting: first).contains("events: [Event(\"welcome\", {\"to\": \"ada\"})]"))
    #expect("\(try #require(first.events.first))" == "welcome {to: \"ada\"}")
    var dumped = ""
    dump(first, to: &dumped)
    #expect(!dumped.contains("directory") && dumped.split(separator: "\n").count < 40)
    for commit in commits { #expect(!"\(commit)".contains("Optional")) }
  }

  private static func text(_ time: Date) -> String { Value.date(time).description }

  @Test("names paths, keys, ids and moments unmistakably")
  func names() {
    #expect(String(reflecting: ["a/b" as NodePath]) == "[\"a/b\"]")
    #expect(String(reflecting: ["b", 42] as [Key]) == "[\"b\", 42]")
    #expect(String(reflecting: [SequenceNumber(3)]) == "[3]")
    let place = Coordinate(latitude: 40.5, longitude: -73.5)
    #expect("\(place)" == "40.5, -73.5")
    #expect(String(reflecting: place) == "Coordinate(latitude: 40.5, longitude: -73.5)")
    #expect(
      "\(Moment.tag("release"))" == "tag release" && "\(Moment.sequence(3))" == "transaction 3")
    #expect("\(CommitTag(name: "release", sequence: 12))" == "release at transaction 12")
    let conflict = UndoConflict(
      path: "users/ada", property: "name", left: "Ada", found: "Bob", changedBy: 14, reason: "x")
    #expect(
      "\(conflict)" == "users/ada name is \"Bob\", and was left \"Ada\" (changed by 14)")
  }
}

@Suite("The words of an error") struct ErrorTextTests {
  static let all: [DatabaseError] = [
    .badKey("", reason: "it is empty"), .badValue("a", reason: "no"),
    .notFound("users/ada", reason: "it was never there"), .notFound(.root, reason: "no"),
    .exists("a", reason: "a node"),
    .invalid([Violation("a", "born", "must be positive"), Violation("b", nil, "is odd")]),
    .notUnique("a", index: ["x", "y"], takenBy: "b"),
    .stillReferred("a", by: "b", property: "x"), .conflict("a", expected: 3, found: 5),
    .conflict(.root, expected: 3, found: 5),
    .undoConflict([
      UndoConflict(
        path: "a", property: nil, left: nil, found: 1, changedBy: nil, reason: "it came back")
    ]), .misuse(reason: "write inside write"), .transactionTooLarge(bytes: 20, limit: 10),
    .busy(reason: "another writer"), .stateBehind(applied: 4, head: 5, reason: "disk"),
    .alreadyOpen(path: "x"), .noSuchMoment(reason: "the newest is 9"), .compacted(oldest: 40),
    .noDatabase(path: "x"), .unsupported(path: "x", reason: "format 9"),
    .needsMigration("a", steps: ["one", "two"]), .readOnly(reason: "no permission"),
    .full(reason: "disk"), .corrupt(reason: "record 7"), .ioFailure(reason: "EIO"),
    .outcomeUnknown(9), .closed(reason: "forked"),
  ]

  @Test("are the description, the localized one, and no Swift", arguments: all)
  func message(error: DatabaseError) {
    let text = "\(error)"
    #expect(!text.isEmpty && !text.hasSuffix(": "))
    for word in ["reason:", "Optional", "(rawValue", "DatabaseError", "Value."] {
      #expect(!text.contains(word), "\(text)")
    }
    #expect(error.errorDescription == text)
    #expect(error.localizedDescription == text)
    #expect(String(reflecting: error).hasPrefix("DatabaseError."))
    #expect(String(reflecting: error).hasSuffix(": \(text)"))
    if let remedy = error.recoverySuggestion { #expect(remedy.hasSuffix(".")) }
  }

  @Test("of an app's own layers are localized too")
  func others() {
    let errors: [any LocalizedError & CustomStringConvertible] = [
      PropertyError(path: "a", property: "x", reason: "is no number"),
      ValidationError(path: "a", property: "x", "must be positive"),
      InputError(input: "a.csv", place: nil, reason: "it is gone"),
    ]
    for error in errors { #expect(error.errorDescription == error.description) }
    #expect(throws: QueryError.self) { try Condition(parsing: "a >> 3", values: []) }
  }

  @Test("name damage once")
  func once() {
    let inner = DatabaseError.corrupt(reason: "record 7")
    let outer = DatabaseError.corrupt(reason: "the log: \(DatabaseError.reason(of: inner))")
    #expect("\(outer)" == "the database is damaged: the log: record 7")
    #expect(DatabaseError.reason(of: DatabaseError.noDatabase(path: "x")) == "no database at x")
  }
}
