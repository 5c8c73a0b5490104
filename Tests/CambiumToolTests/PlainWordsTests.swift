// Goal: no command prints what only Swift knows of, such as `Optional("x")` or the case of an enum.
// Method: every example of every command, and each again as JSON, is run as a user would, on
// databases that hold something of every kind; whatever is printed, failures too, is searched for
// the shapes of Swift, as are all transcripts.

import Cambium
import Foundation
import Testing

@testable import CambiumCommands

@Suite("What a command prints")
struct PlainWordsTests {
  /// Shapes that a value has where Swift prints it by itself.
  private static var shapes: [Regex<Substring>] {
    [
      /Optional\(/, /\.some\(/, /\bCambium(?:Tool)?\.[A-Z]/, /\bSwift\.[A-Z]/, /\b__C\./,
      /\(unknown context/, /\.(?:null|bool|integer|double|string|date|array|map|reference)\(/,
      /\b(?:NodePath|SequenceNumber|ValueMap|LoggedOperation|ValueChange|DatabaseError)\(/,
      /rawValue:/,
    ]
  }

  private static func shape(in text: String) -> Substring? {
    for line in text.split(separator: "\n") {
      for shape in shapes where line.contains(shape) { return line }
    }
    return nil
  }

  @Test("is found where it is Swift")
  func control() {
    let texts = [
      "x Optional(\"a\")", "NodePath(\"a\")", "a: Cambium.Value", "is .string(\"x\")",
      "\([Value?.none, 1 as Value?])",
    ]
    for text in texts { #expect(Self.shape(in: text) != nil, "\(text)") }
    #expect(Self.shape(in: "the cambium.log of 12.5 (some) Optional, string(7)") == nil)
  }

  @Test("is plain words", arguments: Commands.all.map(\.name))
  func examples(_ name: String) throws {
    let command = try #require(Commands.all.first { $0.name == name })
    try Workplace.with { place in
      try Self.fill(place.folder + "/base.cambium")
      for example in command.examples {
        let stage = example.key.prefix { $0 != "|" && $0 != ">" }
        let words = ParserTests.shellWords(
          String(stage).replacing("/mnt/b", with: "mnt").replacing("/usr", with: "usr"))
        let used = ["air", "shop", "team", "src", "trial"].filter { name in
          words.contains { $0.hasPrefix("\(name).cambium") }
        }
        for extra in [[], ["--json"]] {
          let line = (words + extra).map { "'" + $0.replacing("'", with: "'\\''") + "'" }
            .joined(separator: " ")
          // Some commands follow what is written, until they are stopped.
          let printed = try place.run(
            """
            for name in \(used.joined(separator: " ")); do
              rm -rf $name.cambium; cp -r base.cambium $name.cambium
            done
            printf 'delay,carrier\\n1,UA\\nx,\\n' > flights.csv; cp flights.csv weather.csv
            \(line) < /dev/null &
            child=$!; (sleep 2; kill $child) > /dev/null 2>&1 &
            wait $child
            """)
          let found = Self.shape(in: printed)
          #expect(found == nil, "\(line)")
        }
      }
    }
  }

  @Test("was plain words in every transcript")
  func transcripts() throws {
    let names = try Transcript.names()
    #expect(names.count > 40)
    for name in names {
      let file = Transcript.folder.appending(path: "\(name).txt")
      let text = try String(contentsOf: file, encoding: .utf8)
      let found = Self.shape(in: text)
      #expect(found == nil, "\(name)")
    }
  }

  /// A database with what the examples speak of, and with every kind of value and operation.
  private static func fill(_ path: String) throws {
    let database = try Database(at: path)
    var flights = CollectionDefinition()
    flights.properties = [
      PropertyDefinition("carrier", .reference("airlines")), PropertyDefinition("delay", .integer),
      PropertyDefinition("number", .any), PropertyDefinition("title", .string),
    ]
    flights.indexes = [IndexDefinition([.init("origin"), .init("scheduled")])]
    flights.views = [ViewDefinition(.text(["title"], language: "en"))]
    try database.write(metadata: ["reason": "start"], actor: "anna") { tx in
      try tx.declare("flights", flights)
      try tx.set("airlines/UA", to: ["name": "United", "codes": ["UA", "UAL"]])
      for key in 0..<3 {
        try tx.set(
          NodePath(keys: ["flights", .integer(Int64(key))]),
          to: [
            "carrier": "UA", "delay": .integer(Int64(key)), "number": .string("\(key)"),
            "title": "late again", "origin": "JFK", "scheduled": .date(Date()),
          ])
      }
      try tx.set(
        "planes/N10156",
        to: [
          "seats": 55, "price": .decimal(12.5), "weight": 2.5, "is new": true,
          "data": .data(Data([1])), "id": .uuid(UUID()), "of": .reference("airlines/UA"),
          "nothing": .null,
          "parts": ["a": 1, "b": [1, "x"]],
        ])
      try tx.set("weather/JFK", to: ["wind": 3])
      try tx.set("users/ada", to: ["name": "Ada", "born": 1815, "tags": ["a"]])
      try tx.set("orders/17", to: ["total": 3])
      try tx.set("visits", to: 0)
    }
    _ = try database.tag("weather")
    _ = try database.tag("before-import")
    try database.write(actor: "anna") { tx in
      try tx.increment("visits", by: 2)
      try tx.change("users/ada", "tags", .include("b"))
      try tx.update("users/ada", ["born": 1816, "died": nil])
      try tx.event("ordered", ["number": 12])
      try tx.remove("orders/17")
      try tx.move("weather/JFK", to: "weather/EWR")
    }
    _ = try database.tag("release-1")
    try database.close()
  }
}
