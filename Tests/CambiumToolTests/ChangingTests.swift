// Goal: nodes and records are changed by path and by condition, in one transaction, which says who
// did it. Method: small databases, changed and read by the program.

import Testing

@testable import CambiumCommands

@Suite("A change by the command line", .timeLimit(.minutes(1)))
struct ChangingTests {
  /// Runs commands after three records were put, as transactions 1 to 3.
  private static func run(_ commands: String) throws -> String {
    try Workplace.with { place in
      try place.run(
        """
        cambium put --create a.cambium p/ada '{"n": 1, "born": 1815}' -q
        cambium put a.cambium p/bob '{"n": 2, "name": "100% o'\\''k"}' -q
        cambium put a.cambium p/eve '{"n": 3, "name": "1000 ok"}' -q
        \(commands)
        cambium verify -q a.cambium
        """)
    }
  }

  @Test("moves a node and all below it")
  func moves() throws {
    let printed = try Self.run(
      """
      cambium mv a.cambium p/ada q/r/lovelace --actor anna; cambium tree a.cambium q
      cambium mv a.cambium p/bob p/eve
      cambium mv a.cambium p/bobb x 2>&1 | head -n 1
      """)
    #expect(
      printed == """
        tx 4
        q  1 child
        └── r  1 child
            └── lovelace  born 1815  n 1
        cambium: error: p/eve is taken: there is a node already; remove it first
          hint: choose another path, or remove what is there: `cambium delete a.cambium p/eve`
        cambium: error: nothing is at p/bobb

        """)
  }

  @Test("brings back a node that a transaction removed, with all below it")
  func restores() throws {
    let printed = try Self.run(
      """
      cambium delete a.cambium p && cambium restore a.cambium p --removed-at HEAD --reason oops
      cambium tree a.cambium --depth 1 && cambium get a.cambium p/ada/born
      cambium restore a.cambium p --removed-at 2 2>&1 | head -n 1
      export CAMBIUM_DB=a.cambium
      cambium delete p/eve -q && cambium restore p/eve --removed-at=HEAD
      """)
    #expect(printed.hasPrefix("tx 4\ntx 5\na.cambium  1 child\n└── p  3 children\n1815\n"))
    #expect(printed.contains("cambium: error: "))
    #expect(printed.hasSuffix("tx 7\n"))
  }

  @Test("deletes the records that pass a condition, and says before how many they are")
  func deletes() throws {
    let printed = try Self.run(
      """
      cambium delete a.cambium p where 'n > 1' --dry-run
      cambium delete a.cambium 'p where n > 1' --dry-run -o json
      cambium delete a.cambium p --dry-run
      cambium delete a.cambium p where 'n > 1' --reason tidy
      cambium query a.cambium p
      cambium delete a.cambium p where 'n > 1'
      cambium delete a.cambium p where 'n >> 1'
      """)
    #expect(
      printed == """
        2 records would be deleted
        {"v":1,"records":2}
        p would be removed, 4 nodes
        tx 4  2 records deleted
        ada  born 1815  n 1
        cambium: error: expected a value or a property
            p where n >> 1
                       ^
          hint: `cambium help query` has the language

        """)
  }

  @Test("refuses to try what would be refused, for the same reason")
  func triedRefusals() throws {
    let printed = try Self.run(
      """
      cambium delete a.cambium q --dry-run 2>&1 | head -n 1
      cambium delete a.cambium q 2>&1 | head -n 1
      cambium delete a.cambium p --dry-run --if-seq 1 2>&1 | head -n 1
      cambium log a.cambium -o json --fields sequence | tail -n 1
      """)
    let lines = printed.split(separator: "\n")
    try #require(lines.count == 4)
    #expect(lines[0] == lines[1] && lines[0].hasPrefix("cambium: error: "))
    #expect(lines[2].contains("transaction 1 is not the newest"))
    #expect(lines[3] == "{\"sequence\":3}")
  }

  @Test("ends with 1 where no record passes, and writes nothing")
  func none() throws {
    let printed = try Self.run(
      """
      cambium delete a.cambium p where 'n > 9'; echo $?
      cambium update a.cambium p where 'n > 9' set n = 1; echo $?
      cambium log a.cambium -o json --fields sequence | tail -n 1
      """)
    #expect(printed == "1\n1\n{\"sequence\":3}\n")
  }

  @Test("deletes a node whose key looks like a condition")
  func spaces() throws {
    let printed = try Self.run(
      "cambium put a.cambium 'p where n' 1 -q && cambium delete a.cambium 'p where n'")
    #expect(printed == "tx 5\n")
  }

  @Test("updates the records that pass a condition, and takes out what is set to null")
  func updates() throws {
    let printed = try Self.run(
      """
      cambium update a.cambium p where 'n >= 2' set "n = 9, name = null, at = 'x'" --dry-run
      cambium update a.cambium p where 'n >= 2' set "n = 9, name = null, at = 'x'"
      cambium update a.cambium "p set late = true where n = 9" -o json
      cambium query a.cambium p
      cambium update a.cambium p
      """)
    #expect(
      printed == """
        2 records would be updated
        tx 4  2 records updated
        {"v":1,"sequence":5,"records":2}
        ada  born 1815  n 1
        bob  at x  late true  n 9
        eve  at x  late true  n 9
        cambium: error: there is nothing to set
          hint: add set NAME=VALUE; `cambium help update` has examples

        """)
  }

  @Test("is by the actor of the environment, unless another is named")
  func actor() throws {
    let printed = try Self.run(
      """
      export CAMBIUM_ACTOR=anna; printf 'a\\n1\\n' > t.csv
      cambium delete a.cambium p/ada -q; cambium delete a.cambium p/bob --actor zoe -q
      cambium import a.cambium t.csv --into t -q
      cambium log a.cambium -n 3 | tr -s ' ' | cut -d ' ' -f 7-
      """)
    #expect(printed == "anna\nzoe\nanna import=t.csv\n")
  }

  @Test("finds texts in single quotes, and patterns in which % is itself")
  func texts() throws {
    let printed = try Self.run(
      """
      cambium query a.cambium "p where name = '100% o''k' | ids"
      cambium query a.cambium "p where name like '100!%%' escape '!' | ids"
      cambium query a.cambium "p where name like '%0!%%k' escape '!' | ids"
      cambium query a.cambium "p where name like '%0\\%%k' escape '\\' | ids"
      cambium query a.cambium "p where name like '100%' | count"
      cambium query a.cambium "p where name like 'a!b' escape '!'" 2>&1 | head -n 1
      """)
    #expect(
      printed == """
        bob
        bob
        bob
        bob
        2
        cambium: error: in the pattern %, _ or the escape must follow each escape

        """)
  }

  @Test("sorts by desc as by a minus")
  func descending() throws {
    let printed = try Self.run(
      """
      cambium query a.cambium 'p sort n desc, name asc limit 1 | ids'
      cambium query a.cambium 'p sort -n limit 1 | ids'
      cambium query a.cambium 'p sort n asc limit 1 | ids'
      """)
    #expect(printed == "eve\neve\nada\n")
  }
}
