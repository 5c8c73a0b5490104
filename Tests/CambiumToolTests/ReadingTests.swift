// Goal: commands that read show all of what there is and nothing that is gone, in every form the
// same. Method: small databases, read by the program.

import Cambium
import Testing

@testable import CambiumCommands

@Suite("A look by the command line", .timeLimit(.minutes(1)))
struct ReadingTests {
  private static func run(_ commands: String) throws -> String {
    try Workplace.with { place in
      try place.run(
        """
        cambium put --create a.cambium p/ada '{"name": "Ada", "born": 1815}' -q
        cambium put a.cambium p/bob '{"name": "Bob"}' -q
        \(commands)
        """)
    }
  }

  @Test("shows the properties of a collection that has only an index declared")
  func declared() throws {
    let printed = try Self.run(
      """
      cambium declare a.cambium p --index born -q; cambium schema a.cambium
      cambium schema a.cambium --swift | grep ' var '
      """)
    #expect(
      printed == """
        p  2 records, declared, version 1
          born    integer  in 1 of 2, not declared
          name    string  not declared
          index   born
          var id = ID()
          var born: Int?
          var name: String?

        """)
  }

  @Test("shows no name that a property had before it was renamed")
  func renamed() throws {
    let plain = try Self.run(
      "cambium migrate a.cambium p --rename born=year -q; cambium schema a.cambium")
    #expect(plain == "p  2 children\n  name  string\n  year  integer  in 1 of 2\n")
    let declared = try Self.run(
      """
      cambium declare a.cambium p --index born -q
      cambium migrate a.cambium p --rename born=since -q
      cambium put a.cambium q/deep/er '{"x": 1}' -q; cambium schema a.cambium
      """)
    #expect(
      declared == """
        p  2 records, declared, version 1
          name    string  not declared
          since   integer  in 1 of 2, not declared
          index   since
          step    since renamed from born  tx 5
        q  1 child

        1 of 3 names of properties not seen here: x

        """)
  }

  @Test("has the key of each record in a table that is exported, under a name that is free")
  func keys() throws {
    let printed = try Self.run(
      """
      cambium export a.cambium p -o csv; cambium export a.cambium p -o csv --columns name,id
      cambium export a.cambium p -o csv > p.csv
      cambium import a.cambium p.csv --into q --key id -q
      cambium export a.cambium q -o csv
      """)
    #expect(
      printed == """
        id,born,name
        ada,1815,Ada
        bob,,Bob
        name,id
        Ada,ada
        Bob,bob
        _id,born,id,name
        ada,1815,ada,Ada
        bob,,bob,Bob

        """)
  }

  @Test("finds no value of a node that has only children, in whatever form")
  func noValue() throws {
    for form in ["short", "json", "csv", "table"] {
      let printed = try Self.run("cambium get a.cambium p -o \(form)")
      #expect(printed.hasPrefix("cambium: error: p has no value of its own, and 2 children\n"))
      #expect(printed.hasSuffix("[1]\n"))
    }
  }

  @Test("explains a query with a long list in few words")
  func explanation() throws {
    let list = (1...13_000).map(String.init).joined(separator: ", ")
    let printed = try Self.run(
      "cambium query a.cambium 'p where born in (\(list)) or born = 1815' --explain")
    #expect(printed.contains("born in (1, 2, 3, 4, 5, … (13000 in all)) or born = 1815)\n"))
    #expect(printed.utf8.count < 300)
  }

  @Test("explains what was read so far where a run is ended early, and all where it is not")
  func partialExplanation() throws {
    try GitFixture.withFolder { folder in
      let database = try Database(at: folder + "/a.cambium")
      defer { try? database.close() }
      try database.write { tx in
        for number in 0..<2000 { try tx.set(NodePath("many/\(number)"), to: .map(["x": 1])) }
      }
      let query = try database.records("many where x = 2")
      let (part, whole) = (try query.explanation { true }, try query.explanation())
      #expect(part.isPart && (1..<2000).contains(part.records))
      #expect(!whole.isPart && whole.records == 2000)
      #expect(part.steps.map(\.words) == whole.steps.map(\.words))
    }
  }

  @Test("ends with an error where an expression takes too long on a text")
  func slowPattern() throws {
    let printed = try Self.run(
      #"""
      cambium put a.cambium t '"\#(String(repeating: "a", count: 60))!"' -q
      cambium log a.cambium -g '^(a+)+\1$'
      """#)
    #expect(printed.hasPrefix("cambium: error: the regular expression takes too long on a text"))
    #expect(printed.hasSuffix("[2]\n"))
  }

  @Test("prints a sum beyond 64 bits in full", arguments: ["short", "json", "csv", "table"])
  func sums(_ form: String) throws {
    let printed = try Self.run(
      """
      for n in 1 2 3; do cambium put a.cambium n/$n '{"x": 9223372036854775807}' -q; done
      cambium query a.cambium 'n | sum(x)' -o \(form)
      cambium declare a.cambium n --view 'sum(x)' -q
      cambium query a.cambium 'n | sum(x)' -o \(form)
      """)
    #expect(printed.ranges(of: "27670116110564327421").count == 2, "\(printed)")
  }
}
