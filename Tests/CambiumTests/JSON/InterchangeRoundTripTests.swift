// Goal: what a profile writes, it reads as the same model, and what it writes is the JSON that
// everybody else reads. Method: random models of every kind of property through every combination
// of a profile's settings; the text read by Foundation's parser and compared with the dictionary.

import Foundation
import Testing

@testable import Cambium

@Suite("Models as dictionaries and JSON")
struct InterchangeRoundTripTests {
  /// Every combination of what changes how values are written.
  static let profiles: [InterchangeProfile] = KeyCase.allCases.flatMap { keyCase in
    InterchangeProfile.Dates.allCases.flatMap { dates in
      (0..<32).map { bits in
        InterchangeProfile {
          $0.keyCase = keyCase
          $0.dates = dates
          $0.nulls = bits & 1 == 0 ? .omitted : .explicit
          $0.largeNumbers = bits & 2 == 0 ? .text : .number
          $0.nesting = bits & 4 == 0 ? .objects : .dottedNames
          $0.kinds = bits & 8 == 0 ? .plain : .kept
          $0.isLenient = bits & 16 != 0
        }
      }
    }
  }

  @Test("come back from every profile as they were", arguments: FormatSeeds.first(1))
  func everyProfile(seed: UInt64) throws {
    print("seed \(seed)")
    var random = FormatRandom(seed: 4000 + seed)
    for profile in Self.profiles {
      var model = random.everything()
      // Of anything, plain JSON keeps only its own kinds.
      if profile.kinds == .plain {
        model.anything = random.pick([.null, true, 7, 1.5, "text", [1, "a"], ["a b": [false]]])
      }
      let expected = try model.dictionary(.exact)
      func differences(_ found: Everything) throws -> [String] {
        let found = try found.dictionary(.exact)
        return Set(found.keys).union(expected.keys).filter { found[$0] != expected[$0] }
          .map { "\($0): \(String(describing: expected[$0])), \(String(describing: found[$0]))" }
      }
      let dictionary = try Everything(dictionary: try model.dictionary(profile), profile)
      #expect(try differences(dictionary) == [], "seed \(seed), \(profile)")
      let json = try Everything(json: try model.json(profile), profile)
      #expect(try differences(json) == [], "seed \(seed), \(profile)")
    }
  }

  @Test("are the JSON that Foundation reads", arguments: FormatSeeds.first(1))
  func foundation(seed: UInt64) throws {
    var random = FormatRandom(seed: 4100 + seed)
    for profile in Self.profiles where profile.kinds == .plain {
      let model = random.everything()
      let text = try model.json(profile)
      let parsed = try JSONSerialization.jsonObject(with: Data(text.utf8))
      let dictionary = ValueMap(try model.dictionary(profile).map { (name: $0, value: $1) })
      let difference = Self.difference(parsed, .map(dictionary), at: "")
      #expect(difference == nil, "seed \(seed), \(profile)")
    }
  }

  /// Where what Foundation has read is not a value; nil where it is.
  private static func difference(_ parsed: Any, _ value: Value, at place: String) -> String? {
    let isSame: Bool
    switch value {
    case .null: isSame = parsed is NSNull
    case .bool(let flag): isSame = (parsed as? Bool) == flag
    case .integer(let number): isSame = (parsed as? NSNumber)?.int64Value == number
    // Foundation's own way to a double rounds twice; its digits are right.
    case .double(let number): isSame = Double("\(parsed)") == number
    case .string(let text): isSame = (parsed as? String)?.utf8.elementsEqual(text.utf8) ?? false
    case .decimal(let number): isSame = Double("\(parsed)") == Double("\(number)")
    case .array(let elements):
      guard let parsed = parsed as? [Any], parsed.count == elements.count else {
        return "\(place) is no array of \(elements.count)"
      }
      return elements.indices.lazy
        .compactMap { difference(parsed[$0], elements[$0], at: "\(place)[\($0)]") }.first
    case .map(let record):
      guard let parsed = parsed as? [String: Any] else { return "\(place) is no object" }
      // Foundation keeps one of two names that differ in their normal form only.
      let pairs = record.members.filter { member in
        record.members.count { $0.name == member.name } == 1
      }
      return pairs.lazy.compactMap { member in
        guard let value = parsed[member.name] else { return "\(place).\(member.name) is missing" }
        return difference(value, member.value, at: "\(place).\(member.name)")
      }.first
    default: isSame = false
    }
    return isSame ? nil : "\(place): \(parsed) is not \(value)"
  }

  @Test("keep their names however they are written, nested ones too")
  func names() throws {
    var gadget = Gadget(id: Gadget.ID(3), urlString: "u", iOSVersion: 18, a1b2: "x")
    gadget.makerOf = .init(shortName: "m", bornOn: Date(microseconds: 1_500_000))
    gadget.parts = [.init(serialNo: 1, soldAt: nil)]
    gadget.state = .inUse(.init(serialNo: 2, soldAt: Date(microseconds: 0)))
    gadget.nilByDefault = nil
    for profile in Self.profiles {
      #expect(try Gadget(json: gadget.json(profile), profile) == gadget, "\(profile)")
    }
    let texts = [
      KeyCase.asDeclared: #"{"HTTPStatus":200,"a1b2":"x","iOSVersion":18,"id":3,"makerOf":{"#
        + #""bornOn":"1970-01-01T00:00:01.5Z","shortName":"m"},"nilByDefault":null,"#
        + #""old_name":true,"parts":[{"serialNo":1}],"#
        + #""state":{"inUse":{"serialNo":2,"soldAt":"1970-01-01T00:00:00Z"}},"urlString":"u"}"#,
      .snake: #"{"a1b2":"x","http_status":200,"i_os_version":18,"id":3,"maker_of":{"#
        + #""born_on":"1970-01-01T00:00:01.5Z","short_name":"m"},"nil_by_default":null,"#
        + #""old_name":true,"parts":[{"serial_no":1}],"#
        + #""state":{"inUse":{"serial_no":2,"sold_at":"1970-01-01T00:00:00Z"}},"url_string":"u"}"#,
      .pascal: #"{"A1b2":"x","HTTPStatus":200,"IOSVersion":18,"Id":3,"MakerOf":{"#
        + #""BornOn":"1970-01-01T00:00:01.5Z","ShortName":"m"},"NilByDefault":null,"#
        + #""OldName":true,"Parts":[{"SerialNo":1}],"#
        + #""State":{"inUse":{"SerialNo":2,"SoldAt":"1970-01-01T00:00:00Z"}},"UrlString":"u"}"#,
    ]
    for (keyCase, text) in texts {
      #expect(try gadget.json(InterchangeProfile.standard.keys(keyCase)) == text)
    }
    #expect(
      try gadget.json(
        InterchangeProfile {
          ($0.keyCase, $0.nesting, $0.dates) = (.kebab, .dottedNames, .milliseconds)
          ($0.nulls, $0.kinds) = (.explicit, .plain)
        })
        == #"{"a1b2":"x","http-status":200,"i-os-version":18,"id":3,"maker-of.born-on":1500,"#
        + #""maker-of.short-name":"m","nil-by-default":null,"old-name":true,"#
        + #""parts":[{"serial-no":1,"sold-at":null}],"#
        + #""state":{"inUse":{"serial-no":2,"sold-at":0}},"url-string":"u"}"#)
    #expect(
      try gadget.json(InterchangeProfile.exact.only("makerOf", "nilByDefault"))
        == #"{"id":3,"makerOf":{"bornOn":{"$date":"1970-01-01T00:00:01.5Z"},"shortName":"m"},"#
        + #""nilByDefault":null}"#)
  }

  @Test("keep a nil that is not the default, and every digit of a type's own JSON")
  func exactness() throws {
    var gauge = Gauge(id: 1, delay: nil)
    gauge.limits.low = try #require(Decimal(string: "0.12345678901234567890"))
    gauge.limits.high = .max
    for profile in Self.profiles {
      #expect(try Gauge(json: gauge.json(profile), profile) == gauge, "\(profile)")
      #expect(try Gauge(dictionary: gauge.dictionary(profile), profile) == gauge, "\(profile)")
    }
    #expect(
      try gauge.json()
        == #"{"delay":null,"id":1,"limits":{"high":18446744073709551615,"#
        + #""low":0.1234567890123456789}}"#)
    #expect(try Gauge(id: 1).json() == #"{"delay":5,"id":1,"limits":{"high":0,"low":0}}"#)
  }

  @Test("refuse two properties of one name")
  func clash() throws {
    let profile = InterchangeProfile.standard.keys(.snake)
    let error = #expect(throws: DatabaseError.self) { try Twins().json(profile) }
    #expect(
      error
        == .misuse(reason: "Twins: theName and the_name would both be written as the_name"))
    #expect(throws: DatabaseError.self) { try Twins(json: "{}", profile) }
    #expect(try Twins(json: #"{"theName":"a","the_name":"b"}"#).theName == "a")
  }

  @Test(
    "have names in the form that is asked for",
    arguments: [
      ("departureDelay", "departureDelay", "DepartureDelay", "departure_delay"),
      ("urlString", "urlString", "UrlString", "url_string"),
      ("iOSVersion", "iOSVersion", "IOSVersion", "i_os_version"),
      ("HTTPStatus", "httpStatus", "HTTPStatus", "http_status"),
      ("a1b2", "a1b2", "A1b2", "a1b2"), ("x", "x", "X", "x"), ("ID", "id", "ID", "id"),
      ("snake_case_name", "snakeCaseName", "SnakeCaseName", "snake_case_name"),
      ("über_Größe", "überGröße", "ÜberGröße", "über_größe"), ("__", "__", "__", "__"),
    ])
  func keyCase(_ name: String, _ camel: String, _ pascal: String, _ snake: String) {
    #expect(KeyCase.asDeclared.written(name) == name)
    #expect(KeyCase.camel.written(name) == camel)
    #expect(KeyCase.pascal.written(name) == pascal)
    #expect(KeyCase.snake.written(name) == snake)
    if snake != "__" {
      #expect(KeyCase.kebab.written(name) == snake.replacingOccurrences(of: "_", with: "-"))
    }
  }
}
