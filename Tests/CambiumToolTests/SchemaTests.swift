// Goal: a schema lists what was seen, with counts, and the structs made of it are valid Swift.
// Method: small collections with all that is awkward; the compiler's parser reads the structs.

import Cambium
import Foundation
import Testing

@testable import CambiumCommands

@Suite("A schema", .timeLimit(.minutes(1)))
struct SchemaTests {
  private static func survey(
    sample: Int?, _ fill: (borrowing Database.Transaction) throws -> Void
  ) throws -> CollectionSurvey {
    try GitFixture.withFolder { folder in
      let database = try Database(at: folder + "/a.cambium")
      try database.write { tx in try fill(tx) }
      #expect(try database.verify().isSound)
      let survey = try CollectionSurvey(database.snapshot()["c"], sample: sample) {}
      try database.close()
      return survey
    }
  }

  @Test("looks at both ends of a large collection, and says how much", arguments: [2, 9, 10, 11])
  func sample(_ size: Int) throws {
    let survey = try Self.survey(sample: size) { tx in
      for number in 0..<10 {
        try tx.set(NodePath(keys: ["c", .integer(Int64(number))]), to: ["n\(number)": 1])
      }
    }
    #expect(survey.count == 10 && survey.seen == min(size, 10) && survey.records == survey.seen)
    #expect(survey.isSampled == (size < 10))
    let names = survey.properties.compactMap(\.name)
    #expect(names.first == "n0" && names.last == "n9" && names.count == min(size, 10))
  }

  @Test("counts each type of a property, and what is no record")
  func types() throws {
    let survey = try Self.survey(sample: nil) { tx in
      try tx.set("c/a", to: ["x": 1, "y": .null])
      try tx.set("c/b", to: ["x": 2.5])
      try tx.set("c/d", to: ["x": 2])
      try tx.set("c/e", to: "text")
      try tx.set("c/f/g", to: 1)
    }
    #expect(survey.seen == 5 && survey.records == 3)
    #expect(survey.properties.map(\.present) == [3, 1, 1])
    #expect(survey.properties.map(\.name) == ["x", "y", nil])
    #expect(survey.properties[0].typeNames == ["integer", "double"])
    #expect(survey.properties[2].typeNames == ["string"])
  }

  @Test("makes structs that Swift can read, whatever the names")
  func declarations() throws {
    let names = [
      "plain", "class", "self", "a b", "1st", "é", "a`b", "a\\b", " ", "_", "$x", "a\nb", "x-y",
      "+",
    ]
    var random = InterchangeRandom(seed: 7)
    let survey = try Self.survey(sample: nil) { tx in
      try tx.set("c/1", to: .map(ValueMap(names.map { (name: $0, value: 1) })))
      for number in 2..<40 {
        let values = (0..<6).map { (name: "p\($0)", value: random.value(depth: 1).withoutBlobs) }
        try tx.set(NodePath(keys: ["c", .integer(Int64(number))]), to: .map(ValueMap(values)))
      }
    }
    let text = SwiftDeclarations.text([survey, survey])
    #expect(text.contains("struct C {") && text.contains("struct C2 {"))
    #expect(text.contains("  var `class`: Int?") && text.contains("  var `a b`: Int?"))
    #expect(text.contains("// a`b cannot be a name in Swift."))
    try Workplace.with { place in
      try text.write(toFile: place.folder + "/a.swift", atomically: true, encoding: .utf8)
      #expect(try place.run("swiftc -frontend -parse a.swift") == "")
    }
  }

  @Test("makes models of what is declared that compile")
  func models() throws {
    try Workplace.with { place in
      try Transcript.check("declared", in: place)
      _ = try place.run("cambium schema team.cambium --swift > Models.swift")
      let maps = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources").path
      let found = try place.run(
        """
        modules=$(dirname "$(command -v cambium)")/Modules
        for map in '\(maps)'/*/module.modulemap; do set -- "$@" -Xcc "-fmodule-map-file=$map"; done
        swiftc -swift-version 6 -typecheck Models.swift -I "$modules" "$@"
        """)
      #expect(found == "")
    }
  }
}
