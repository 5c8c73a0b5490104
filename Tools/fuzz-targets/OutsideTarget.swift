@testable import Cambium

/// Records as they look outside: a choice, how they look, then a date, or a record as JSON.
///
/// A date or record that was read is written with the same profile and read again, and must be the
/// same. No number may lose a digit, and no date a microsecond.
enum OutsideTarget {
  static let target = FuzzTarget(name: "outside", seeds: seeds, run: run)

  private static let record = """
    {"id":"0192f0c1-2d3e-7f40-8abc-def012345678","bool":true,"integer":"9223372036854775807",\
    "double":-2.5e-3,"decimal":"-12.50","string":"é\\u0000","date":"2013-01-01T10:00:00.25Z",\
    "uuid":"0192f0c1-2d3e-7f40-8abc-def012345678","data":"3q2+7w==","blob":{"hash":"\
    0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a","size":7},\
    "otherThing":42,"dates":["0000-01-01",-1.5,1e3],"byName":{"x":"inf"},"place":{"x":1.0,"y":null}}
    """

  private static func seeds() -> [[UInt8]] {
    let dates = [
      "2013-01-01", "2013-01-01T10:00:00.25Z", "2013-01-01T10:00:00+02:00", "2013-01-01 10:00:00",
      "+12013-01-01T00:00:00Z", "-0001-12-31T23:59:59.999999Z", "2024-02-29", "1500-02-29",
    ]
    return dates.map { [0, 0] + Array($0.utf8) }
      + (0..<16 as Range<UInt8>).map { [1, $0 &* 37] + Array(record.utf8) }
  }

  private static func run(_ input: inout FuzzInput) {
    let (kind, choice) = (input.byte(), input.byte())
    guard let text = String(validating: input.rest, as: UTF8.self) else { return }
    if kind.isMultiple(of: 2) { checkDate(text) } else { checkRecord(text, profile(choice)) }
  }

  // MARK: Dates

  private static func checkDate(_ text: String) {
    guard let (microseconds, form) = DateText.parse(Array(text.utf8).span) else { return }
    var again: [UInt8] = []
    if form == .day {
      DateText.append(day: microseconds, to: &again)
    } else {
      DateText.append(moment: microseconds, to: &again)
    }
    let written = String(decoding: again, as: UTF8.self)
    let found = DateText.parse(again.span)
    require(found?.microseconds == microseconds, "\(text) comes back from \(written)")
    require(form != .day || written == text, "\(text) is the one form, not \(written)")
  }

  // MARK: Records

  private static let ownKey: Key = "0192f0c1-2d3e-7f40-8abc-def012345678"

  private static let collection: CollectionInterchange = {
    let types: [(String, PropertyType)] = [
      ("bool", .bool), ("integer", .integer), ("double", .double), ("decimal", .decimal),
      ("string", .string), ("date", .date), ("uuid", .uuid), ("data", .data), ("blob", .blob),
      ("otherThing", .reference("x")), ("dates", .array(.date)), ("byName", .map(.double)),
      ("place.x", .double), ("place.y", .integer),
    ]
    var definition = CollectionDefinition()
    definition.keys = .uuid
    definition.properties = types.map { PropertyDefinition($0, $1) }
    return CollectionInterchange("x", definition)
  }()

  private static func profile(_ choice: UInt8) -> InterchangeProfile {
    InterchangeProfile { profile in
      profile.kinds = choice & 1 == 0 ? .plain : .kept
      profile.nulls = choice & 2 == 0 ? .omitted : .explicit
      profile.largeNumbers = choice & 4 == 0 ? .text : .number
      profile.nesting = choice & 8 == 0 ? .objects : .dottedNames
      profile.keyCase = choice & 16 == 0 ? .asDeclared : .snake
      profile.isLenient = choice & 32 != 0
      profile.dates = InterchangeProfile.Dates.allCases[Int(choice >> 6) % 3]
      profile.unknownNames = .ignored
    }
  }

  private static func checkRecord(_ text: String, _ profile: InterchangeProfile) {
    guard let (key, record) = read(text, profile) else { return }
    let written = mustSucceed("writing \(record)") {
      var writer = InterchangeEncoder(profile)
      return try collection.write(record, key ?? ownKey, &writer)
    }
    var bytes: [UInt8] = []
    JSONWriter.append(written, as: profile, to: &bytes)
    let again = String(decoding: bytes, as: UTF8.self)
    guard let same = read(again, profile) else { fatalError("fuzz: \(again) is not read") }
    require(same.record == record, "\(record) comes back as \(same.record) from \(again)")
    require(key == nil || same.key == key, "\(again) has its key")
  }

  /// Reads a record; nil where it is refused.
  private static func read(
    _ text: String, _ profile: InterchangeProfile
  ) -> (key: Key?, record: ValueMap)? {
    let isKept = profile.kinds == .kept
    do {
      let value = try JSONReader.value(
        of: text, name: "input", isTyped: isKept)
      return try collection.read(value, profile)
    } catch is InputError {
      return nil
    } catch is ValidationError {
      return nil
    } catch {
      fatalError("fuzz: \(text) was refused with \(error)")
    }
  }
}
