import Simulation
import Testing

@testable import CambiumClient

@Suite("The parser of server-sent events") struct EventParserTests {
  private static func events(_ text: String) throws -> [ServerEvent] {
    var parser = EventParser()
    return try parser.read(text.utf8)
  }

  private static func event(
    _ data: String, _ name: String = "message", id: String? = nil
  ) -> ServerEvent { ServerEvent(name: name, data: Array(data.utf8), id: id) }

  @Test("reads what the standard says")
  func standard() throws {
    let cases: [(String, [ServerEvent])] = [
      ("data: a\n\n", [Self.event("a")]),
      ("data:a\n\n", [Self.event("a")]),
      ("data:  a\n\n", [Self.event(" a")]),
      ("data: a\ndata: b\ndata\n\n", [Self.event("a\nb\n")]),
      ("event: put\ndata: {}\n\ndata: 2\n\n", [Self.event("{}", "put"), Self.event("2")]),
      ("id: 7\ndata: a\n\ndata: b\n\n", [Self.event("a", id: "7"), Self.event("b", id: "7")]),
      ("id: 7\n\nid\ndata: b\n\n", [Self.event("b", id: "")]),
      ("id: a\u{0}b\ndata: x\n\n", [Self.event("x")]),
      ("event: put\n\n", []),
      (": a comment\nretry: 10\nunknown: 1\ndata: a\n\n", [Self.event("a")]),
      ("data: not ended\n", []),
      ("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\n", [Self.event("a")]),
      ("data\n\n", [Self.event("")]),
    ]
    for (text, right) in cases {
      #expect(try Self.events(text) == right, "\(text.debugDescription)")
    }
  }

  @Test("takes any line ends, and any pieces", arguments: 0..<200)
  func pieces(seed: UInt64) throws {
    var dice = SeededGenerator(seed: seed)
    let ends = ["\n", "\r\n", "\r"]
    let end = ends[dice.below(3)]
    var (lines, right): ([String], [ServerEvent]) = ([], [])
    for number in 0..<20 {
      let (data, name) = ("\(dice.next())ü\(number)", dice.below(100) < 50 ? "message" : "changes")
      if dice.below(100) < 30 { lines.append(": nothing") }
      if name != "message" { lines.append("event: \(name)") }
      lines += ["id: \(number)", "data: \(data)", ""]
      right.append(Self.event(data, name, id: "\(number)"))
    }
    let bytes = Array((lines.joined(separator: end) + end).utf8)
    var (parser, found, rest) = (EventParser(), [ServerEvent](), bytes[...])
    while !rest.isEmpty {
      let count = min(rest.count, 1 + dice.below(40))
      found += try parser.read(rest.prefix(count))
      rest = rest.dropFirst(count)
    }
    #expect(found == right, "seed \(seed)")
    #expect(parser.lastID == "19")
  }

  @Test("refuses what is too long, in one line or in many")
  func bounds() throws {
    var parser = EventParser(bytesMax: 100)
    _ = try parser.read(("data: " + String(repeating: "a", count: 94) + "\n\n").utf8)
    #expect(throws: EventParser.TooLong.self) {
      _ = try parser.read(("data: " + String(repeating: "a", count: 95)).utf8)
    }
    var other = EventParser(bytesMax: 100)
    #expect(throws: EventParser.TooLong.self) {
      for _ in 0..<20 { _ = try other.read("data: 123456\n".utf8) }
    }
  }
}
