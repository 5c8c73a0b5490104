// Goal: JSON is read as RFC 8259 says, and everything else is an error that names the place;
// however the input is cut into buffers, and however large or deep it is. Method: examples; the
// same input through every buffer size; every truncation and every change of one byte of a small
// document.

import Cambium
import FoundationEssentials
import Testing

@testable import CambiumCommands

@Suite("The JSON reader")
struct JSONReaderTests {
  @Test(
    "makes values of what RFC 8259 allows",
    arguments: [
      ("null", Value.null), (" true ", true), ("false\n", false), ("0", 0), ("-0", 0),
      ("-0.0", -0.0),
      ("42", 42), ("-9223372036854775808", .integer(.min)), ("9223372036854775807", .integer(.max)),
      ("1.0", 1.0), ("1e2", 100.0), ("1E+2", 100.0), ("0.1", 0.1),
      ("5e-324", .double(.leastNonzeroMagnitude)),
      ("0e999", 0.0),
      ("1.7976931348623157e308", .double(.greatestFiniteMagnitude)),
      ("123456789012345678901234567890.0", .double(1.2345678901234568e29)),
      ("\"\"", ""), ("\"aé😀\"", "aé😀"),
      (#""\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00\u0000""#, "\"\\/\u{8}\u{C}\n\r\tAé😀\0"),
      ("[]", []), ("[1,[2,\"x\"],{}]", [1, [2, "x"], [:]]), ("{}", [:]),
      ("{ \"b\" : 1 , \"a\" : { \"c\" : null } }", ["a": ["c": .null], "b": 1]),
      ("\u{FEFF}[1]", [1]),
      ("{\"$date\":\"x\",\"$$\":1}", ["$date": "x", "$$": 1]),
    ] as [(String, Value)])
  func accepts(_ input: String, _ expected: Value) throws {
    #expect(try values(input, isTyped: false) == [expected])
  }

  @Test(
    "says where bad input is, and what was expected",
    arguments: [
      ("", 1, 1, "expected a value, found the end of the input"),
      ("  \n ", 2, 2, "expected a value, found the end of the input"),
      ("[1,\n 2", 2, 3, "expected a comma or \"]\", found the end of the input"),
      ("[1 2]", 1, 4, "expected a comma or \"]\", found \"2\""),
      ("[1,]", 1, 4, "expected a value, found \"]\""),
      ("[,1]", 1, 2, "expected a value or \"]\", found \",\""),
      ("{\"a\" 1}", 1, 6, "expected \":\", found \"1\""),
      ("{\"a\":}", 1, 6, "expected a value, found \"}\""),
      ("{\"a\":1,}", 1, 8, "expected a name in quotes, found \"}\""),
      ("{a:1}", 1, 2, "expected a name in quotes or \"}\", found \"a\""),
      ("{\"a\":1]", 1, 7, "expected a comma or \"}\", found \"]\""),
      ("[1}", 1, 3, "expected a comma or \"]\", found \"}\""),
      ("{\"é\":1,\"é\":2}", 1, 8, "expected each name once, found \"é\" again"),
      ("{\"a\":1,\"\\u0061\":2}", 1, 8, "expected each name once, found \"a\" again"),
      ("1 2", 1, 3, "expected the end of the input, found \"2\""),
      ("[1]]", 1, 4, "expected the end of the input, found \"]\""),
      ("NaN", 1, 1, "expected a value, found \"NaN\""),
      ("-Infinity", 1, 1, "expected a value, found \"-Infinity\""),
      ("nul", 1, 1, "expected a value, found \"nul\""),
      ("01", 1, 1, "expected a value, found \"01\""),
      ("+1", 1, 1, "expected a value, found \"+1\""),
      ("1.", 1, 1, "expected a value, found \"1.\""),
      ("'a'", 1, 1, "expected a value, found \"'\""),
      (
        "9223372036854775808", 1, 1, "expected an integer of 64 bits, found \"9223372036854775808\""
      ),
      ("1e999", 1, 1, "expected a number that a double can hold, found \"1e999\""),
      ("1e-999", 1, 1, "expected a number that a double can hold, found \"1e-999\""),
      ("\"ab", 1, 1, "expected a quote that closes this text, found the end of the input"),
      ("\"a\\", 1, 1, "expected a quote that closes this text, found the end of the input"),
      (
        "\"a\nb\"", 1, 3,
        "expected control characters of a text as \\u00XX, found the end of the line"
      ),
      (
        "\"é\\x\"", 1, 3, "expected one of \" \\ / b f n r t u after the backslash, found \"\\\\x\""
      ),
      (
        "\"\\u12g4\"", 1, 2,
        "expected four hexadecimal digits, and surrogates in pairs, found \"\\\\u12g4\""
      ),
      (
        "\"\\ud83d\"", 1, 2,
        "expected four hexadecimal digits, and surrogates in pairs, found \"\\\\ud83d\""
      ),
      (
        "\"\\ude00\"", 1, 2,
        "expected four hexadecimal digits, and surrogates in pairs, found \"\\\\ude00\""
      ),
      (
        "\"\\ud83d\\u0041\"", 1, 2,
        "expected four hexadecimal digits, and surrogates in pairs, found \"\\\\ud83d\""
      ),
      ("\u{1B}", 1, 1, "expected a value, found the byte 0x1b"),
    ])
  func refuses(_ input: String, _ line: Int, _ column: Int, _ reason: String) {
    let error = #expect(throws: InputError.self) { try values(input) }
    #expect(error?.reason == reason)
    #expect(error?.place?.line == line)
    #expect(error?.place?.column == column)
  }

  @Test("refuses bytes that are not UTF-8, with the place of the first")
  func refusesBadEncoding() {
    let input = Array("[\"é".utf8) + [0xED, 0xA0, 0x80] + Array("\"]".utf8)
    let error = #expect(throws: InputError.self) { try values(bytes: input) }
    #expect(error?.place == InputError.Place(line: 1, column: 4, offset: 4))
    #expect(error?.reason == "expected UTF-8, found the byte 0xed")
  }

  @Test("takes one value per line, and passes over empty lines")
  func lines() throws {
    #expect(try values("1\r\n\n  \n[2]\n\"x\"", form: .lines) == [1, [2], "x"])
    #expect(try values("", form: .lines) == [])
    let error = #expect(throws: InputError.self) { try values("1\n{\"a\":\n1}\n", form: .lines) }
    #expect(
      error?.description == "in.json:2:6: expected a value, found the end of the line (byte 7)")
    #expect(throws: InputError.self) { try values("1 2\n", form: .lines) }
  }

  @Test("gives the steps of a document in order")
  func events() throws {
    var reader = try reader(Array("{\"a\":[1,{}],\"b\":null}".utf8))
    var events: [JSONEvent] = []
    while let event = try reader.next() { events.append(event) }
    #expect(
      events == [
        .beginObject, .name("a"), .beginArray, .scalar(1), .beginObject, .endObject, .endArray,
        .name("b"),
        .scalar(.null), .endObject,
      ])
    #expect(try reader.next() == nil)
  }

  @Test("gives the same values and errors with buffers of any size")
  func buffers() {
    let inputs = [
      "\u{FEFF}{\"a\\u00e9\": [1.5, true, \"\\ud83d\\ude00x\"],\n "
        + "\"é\": {\"$date\":\"2013-01-01T10:00:00Z\"}}",
      "[1, \"ab\nc\"]", "{\"a\":1,\n\"a\":2}", "{\"$uuid\": 5}", "[nul, 1]",
    ]
    for input in inputs {
      let whole = outcome(Array(input.utf8), bufferBytes: 1 << 16)
      for size in 1...(input.utf8.count + 1) {
        #expect(outcome(Array(input.utf8), bufferBytes: size) == whole, "buffer of \(size)")
      }
    }
  }

  @Test("follows 512 levels of nesting, and refuses more, however many")
  func nesting() throws {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
      let fits = String(repeating: open, count: 512)
      var reader = try reader(Array((fits + "1" + String(repeating: close, count: 512)).utf8))
      var depth = 0
      var deepest = 0
      while let event = try reader.next() {
        if event == .beginArray || event == .beginObject { depth += 1 }
        if event == .endArray || event == .endObject { depth -= 1 }
        deepest = max(depth, deepest)
      }
      #expect(deepest == 512)
      let deep = Array(String(repeating: open, count: 100_000).utf8)
      let error = #expect(throws: InputError.self) { try drain(deep) }
      #expect(error?.place?.offset == UInt64(512 * open.utf8.count))
    }
  }

  @Test("builds values as deep as values go, and no deeper")
  func valueNesting() throws {
    func nested(_ count: Int) -> String {
      String(repeating: "[", count: count) + String(repeating: "]", count: count)
    }
    #expect(try values(nested(Value.nestingMax)).count == 1)
    let error = #expect(throws: InputError.self) { try values(nested(Value.nestingMax + 1)) }
    #expect(error?.place?.offset == UInt64(Value.nestingMax))
  }

  @Test("refuses a text or a line that is too long, but no document")
  func limits() throws {
    let text = "\"" + String(repeating: "x", count: 98) + "\""
    for bufferBytes in [1, 7, 64, 1000] {
      #expect(try limited("[1,\(text),\(text)]", .document, bufferBytes) == 5)
      for long in ["[1,\"x\(text.dropFirst())]", "[1,\"xx\(text.dropFirst().dropLast())"] {
        let error = #expect(throws: InputError.self) {
          try limited(long, .document, bufferBytes)
        }
        #expect(
          error?.reason == "expected a text or number of at most 100 bytes, found a longer one")
        #expect(error?.place == InputError.Place(line: 1, column: 4, offset: 3))
      }
      let half = String(repeating: " ", count: 50)
      #expect(try limited("[\(half)2,\(half)3]\n", .document, bufferBytes) == 4)
      let error = #expect(throws: InputError.self) {
        try limited("1\n[\(half)2,\(half)3]\n", .lines, bufferBytes)
      }
      #expect(error?.reason == "expected a line of at most 100 bytes, found a longer one")
      #expect(error?.place?.line == 2)
    }
  }

  private func limited(_ input: String, _ form: JSONTokens.Form, _ bufferBytes: Int) throws -> Int {
    let source = ByteSource(bytes: Array(input.utf8), name: "in.json", bufferBytes: bufferBytes)
    var reader = try JSONReader(source, form: form, bytesMax: 100)
    var count = 0
    while try reader.next() != nil { count += 1 }
    return count
  }

  @Test("finds a name that comes twice among twenty thousand")
  func duplicates() throws {
    let members = (0..<20_000).map { "\"n\($0)\":0" }.joined(separator: ",")
    #expect(try drain(Array("{\(members)}".utf8)) == 40_002)
    let error = #expect(throws: InputError.self) {
      try drain(Array("{\(members),\n\"n7\":1}".utf8))
    }
    #expect(error?.place?.line == 2)
    #expect(try drain(Array("[{\"a\":1},{\"a\":1}]".utf8)) == 10)
  }

  @Test("gives values or an error for every truncation and every change of one byte")
  func damage() {
    let input = Array(
      "{\"a\\u00e9\":[1.5e3,true],\"$$\":{\"$double\":\"nan\"},\"é\":{\"b\":null}}".utf8)
    for end in 0..<input.count {
      guard case .failure = outcome(Array(input[..<end])) else {
        Issue.record("\(end) bytes made a value")
        continue
      }
    }
    var readable = 0
    for index in input.indices {
      var changed = input
      for byte in UInt8.min...UInt8.max {
        changed[index] = byte
        if case .success = outcome(changed) { readable += 1 }
      }
    }
    #expect(readable > input.count)
  }

  @Test("reads again after rewinding, and names the place of an offset that was kept")
  func rewinding() throws {
    var reader = try reader(Array("\u{FEFF}1\n{\"a\":2}\n3".utf8), form: .lines, bufferBytes: 2)
    #expect(try reader.value() == 1)
    #expect(try reader.next() == .beginObject)
    let offset = reader.eventOffset
    try reader.rewind()
    #expect(try reader.value() == 1)
    #expect(try reader.value() == ["a": 2])
    #expect(try reader.value() == 3)
    #expect(try reader.value() == nil)
    #expect(reader.error(at: offset, "no").place == InputError.Place(line: 2, column: 1, offset: 5))
  }

  private func reader(
    _ bytes: [UInt8], form: JSONTokens.Form = .document, isTyped: Bool = true,
    bufferBytes: Int = 1 << 16
  ) throws(InputError) -> JSONReader {
    let source = ByteSource(bytes: bytes, name: "in.json", bufferBytes: bufferBytes)
    return try JSONReader(source, form: form, isTyped: isTyped)
  }

  private func values(
    _ input: String, form: JSONTokens.Form = .document, isTyped: Bool = true
  ) throws(InputError) -> [Value] {
    try values(bytes: Array(input.utf8), form: form, isTyped: isTyped)
  }

  private func values(
    bytes: [UInt8], form: JSONTokens.Form = .document, isTyped: Bool = true,
    bufferBytes: Int = 1 << 16
  ) throws(InputError) -> [Value] {
    var reader = try reader(bytes, form: form, isTyped: isTyped, bufferBytes: bufferBytes)
    var values: [Value] = []
    while let value = try reader.value() { values.append(value) }
    return values
  }

  /// The number of steps in an input.
  private func drain(_ bytes: [UInt8], form: JSONTokens.Form = .document) throws -> Int {
    var reader = try reader(bytes, form: form)
    var count = 0
    while try reader.next() != nil { count += 1 }
    return count
  }

  private func outcome(
    _ bytes: [UInt8], bufferBytes: Int = 1 << 16
  ) -> Result<[Value], InputError> {
    do throws(InputError) {
      return .success(try values(bytes: bytes, bufferBytes: bufferBytes))
    } catch {
      return .failure(error)
    }
  }
}
