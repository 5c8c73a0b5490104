import FoundationEssentials
import Testing

@testable import Cambium

@Suite("A profile's form for a type")
struct TypeConversionTests {
  struct Color: RawProperty, Hashable { var rawValue: Int }
  enum Mood: String, RawProperty { case calm, wild }
  struct Frame: Nested {
    var color = Color(rawValue: 1)
    var width = 2
  }
  enum Paint: UnionProperty {
    case none, plain(Color)
    static let cases = Cases<Paint>(
      Case("none", .none),
      Case("plain", Paint.plain) { if case .plain(let color) = $0 { color } else { nil } })
  }

  struct Picture: Cambium.Model, Equatable {
    var id = ID()
    var title = "x"
    var mood = Mood.calm
    var color = Color(rawValue: 0)
    var second: Color?
    var palette: [Color?] = []
    var named: [String: Color] = [:]
    var shades: Set<Color> = []
    var frame = Frame()
    var frames: [Frame] = []
    var paint = Paint.none
    var taken = Date(timeIntervalSince1970: 0)
    static let schema = ModelSchema<Picture>("pictures")
  }

  struct NoColor: Error {}

  static let hex = InterchangeProfile.standard.converting(Color.self) { color in
    .string("#\(color.rawValue)")
  } back: { value in
    guard case .string(let text) = value, text.hasPrefix("#"), let raw = Int(text.dropFirst())
    else { throw NoColor() }
    return Color(rawValue: raw)
  }

  private static func picture() -> Picture {
    var picture = Picture(color: Color(rawValue: 5), second: Color(rawValue: 6))
    picture.palette = [Color(rawValue: 7), nil]
    picture.named = ["sea": Color(rawValue: 8)]
    picture.shades = [Color(rawValue: 9)]
    picture.frame.color.rawValue = 10
    picture.frames = [Frame(color: Color(rawValue: 11))]
    picture.paint = .plain(Color(rawValue: 12))
    return picture
  }

  @Test("holds wherever the type is, out and back")
  func everywhere() throws {
    let text = try Self.picture().json(Self.hex)
    for number in 5...12 { #expect(text.contains("\"#\(number)\""), "\(number) in \(text)") }
    #expect(text.contains("\"width\":2"))
    #expect(try Picture(json: text, Self.hex) == Self.picture())
    #expect(try Picture(json: Picture().json(Self.hex), Self.hex) == Picture())
    let exact = Self.hex.keys(.snake)
    #expect(try Picture(json: Self.picture().json(exact), exact) == Self.picture())
  }

  @Test("leaves raw values of other types alone, and yields to a property's own")
  func precedence() throws {
    let texts = InterchangeProfile.standard.converting(String.self) {
      .string($0 + "!")
    } back: { value in
      guard case .string(let text) = value else { throw NoColor() }
      return String(text.dropLast())
    }
    let text = try Self.picture().json(texts)
    #expect(text.contains("\"title\":\"x!\"") && text.contains("\"mood\":\"calm\""))
    #expect(try Picture(json: text, texts) == Self.picture())
    let both = Self.hex.converting(Picture.self, \.color) { color in
      .integer(Int64(color.rawValue))
    } back: { value in
      Color(rawValue: try Int(storedValue: value))
    }
    let other = try Self.picture().json(both)
    #expect(other.contains("\"color\":5") && other.contains("\"second\":\"#6\""))
    #expect(try Picture(json: other, both) == Self.picture())
  }

  @Test("that cannot be read is reported with the property and the position")
  func problems() {
    let error = #expect(throws: ValidationError.self) {
      try Picture(json: ##"{"color": "red", "palette": ["#1", 3], "second": null}"##, Self.hex)
    }
    #expect(error?.messages.count == 2)
    #expect(error?.messages.contains { $0.hasPrefix("palette[1] cannot be read") } == true)
    #expect(error?.messages.contains { $0.hasPrefix("color cannot be read") } == true)
  }
}
