// Goal: every value comes back from JSON as it was, bit for bit. Method: the documented forms,
// byte by
// byte; random values of every kind, nested, through writer and reader.

import Cambium
import FoundationEssentials
import Testing

@testable import CambiumCommands

@Suite("The JSON writer")
struct JSONWriterTests {
  @Test("writes each kind of value in its documented form")
  func forms() throws {
    let uuid = try #require(UUID(uuidString: "0190163D-8694-739B-AEA5-966C26F8AD91"))
    let hash = (0..<32).map { UInt8($0) }
    let hex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
    let decimal = Decimal(sign: .plus, exponent: -1, significand: 125)
    let cases: [(Value, String)] = [
      (.null, "null"), (true, "true"), (42, "42"), (.integer(1 << 53), "9007199254740992"),
      (.integer(-(1 << 53) - 1), #"{"$integer":"-9007199254740993"}"#),
      (.integer(.max), #"{"$integer":"9223372036854775807"}"#),
      (12.0, "12.0"), (-0.0, "-0.0"), (1e-5, "1e-05"), (1e16, "1e+16"),
      (.double(.infinity), #"{"$double":"inf"}"#),
      (.double(-.infinity), #"{"$double":"-inf"}"#), (.double(.nan), #"{"$double":"nan"}"#),
      (.double(Double(bitPattern: 0xFFF8_0000_0000_0001)), #"{"$double":"0xfff8000000000001"}"#),
      ("a\"\\\n\u{1}é\u{7F}", #""a\"\\\n\u0001é\u007f""#),
      (.data(Data([0xDE, 0xAD, 0xBE, 0xEF])), #"{"$data":"3q2+7w=="}"#),
      (
        .date(Date(timeIntervalSince1970: 1_357_034_400.25)),
        #"{"$date":"2013-01-01T10:00:00.25Z"}"#
      ),
      (.uuid(uuid), #"{"$uuid":"0190163d-8694-739b-aea5-966c26f8ad91"}"#),
      (.decimal(decimal), #"{"$decimal":"12.5"}"#),
      (.reference("a/b~1c/7"), #"{"$reference":"a/b~1c/7"}"#),
      (.blob(Blob(hash: hash, size: 7)), #"{"$blob":"\#(hex)","size":7}"#),
      ([1, []], "[1,[]]"), (["b": 1, "$date": 2, "$$": [:]], #"{"$$$":{},"$$date":2,"b":1}"#),
    ]
    for (value, text) in cases {
      #expect(JSONWriter.text(value) == text)
      #expect(try JSONReader.value(of: text, name: "argument") == value, "\(text)")
    }
  }

  @Test(
    "is understood by the reader, whatever value it wrote",
    arguments: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as [UInt64])
  func roundTrip(_ seed: UInt64) throws {
    print("seed \(seed)")
    var random = InterchangeRandom(seed: seed)
    var lines: [UInt8] = []
    let values = (0..<600).map { _ in random.value(depth: 4) }
    for value in values {
      JSONWriter.append(value, to: &lines)
      lines.append(ASCII.lineFeed)
    }
    let source = ByteSource(bytes: lines, name: "lines", bufferBytes: 1 + random.below(400))
    var reader = try JSONReader(source, form: .lines, isTyped: true)
    for value in values {
      let back = try reader.value()
      #expect(back == value, "\(JSONWriter.text(value))")
    }
    #expect(try reader.value() == nil)
  }

  @Test("keeps the digits of decimals")
  func decimals() throws {
    let texts = [
      "0", "7", "-7", "12.5", "0.05", "1e-40", "15e20", "-1.5", "0.000001", "1e-9", "NaN",
      "99999999999999999999999999999999999999", "340282366920938463463374607431768211455",
    ]
    for text in texts {
      let value = try #require(parse(text), "\(text)")
      #expect(DecimalText.text(value) == text)
    }
    for text in ["12.50", "1250e-2", "0.0", "-0"] { #expect(parse(text) != nil, "\(text)") }
    for text in [
      "", "1.", "nan", "0x1", "1e200", "1e-129", "340282366920938463463374607431768211456",
      "680703631271681676277450e127",
    ] {
      #expect(parse(text) == nil, "\(text)")
    }
  }

  @Test(
    "is not understood where a type is unknown or its text is wrong",
    arguments: [
      #"{"$ref":"x"}"#, #"{"a":1,"$date":"2013-01-01T10:00:00Z"}"#, #"{"$date":"yesterday"}"#,
      #"{"$date":1}"#,
      #"{"$date":"2013-01-01T10:00:00Z","a":1}"#, #"{"$integer":"1.5"}"#, #"{"$double":"1.5"}"#,
      #"{"$double":"0x3ff0000000000000"}"#, #"{"$data":"?"}"#, #"{"$uuid":"x"}"#,
      #"{"$decimal":"x"}"#,
      #"{"$reference":"a//b"}"#, #"{"$blob":"00","size":1}"#, #"{"$"}"#, #"{"$":1}"#,
    ])
  func unknownTypes(_ text: String) throws {
    #expect(throws: InputError.self) { try JSONReader.value(of: text, name: "argument") }
  }

  @Test("quotes text so that a terminal shows it, and nothing else")
  func quoting() throws {
    #expect(JSONText.quoted("a/é") == "\"a/é\"")
    let hostile = "\u{1B}[2J\u{9B}\u{202E}\u{2066}\u{FEFF}\r"
    let quoted = JSONText.quoted(hostile)
    #expect(quoted == #""\u001b[2J\u009b\u202e\u2066\ufeff\r""#)
    #expect(try JSONReader.value(of: quoted, name: "argument") == .string(hostile))
  }

  private func parse(_ text: String) -> Decimal? { DecimalText.parse(Array(text.utf8).span) }
}
