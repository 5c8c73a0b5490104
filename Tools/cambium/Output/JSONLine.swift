import Cambium
import FoundationEssentials

/// One line of JSON output: an object whose members are in the order in which they are added. The
/// same members are the cells of a row where a table is asked for.
struct JSONLine: ExpressibleByDictionaryLiteral {
  private var members: [(name: String, part: any JSONPart)] = []

  init() {}

  /// Members that are nil are left out.
  init(dictionaryLiteral members: (String, (any JSONPart)?)...) { self.init(members) }

  init(_ members: some Sequence<(String, (any JSONPart)?)>) {
    for (name, part) in members { add(name, part) }
  }

  /// Adds a member only where there is a value.
  mutating func add(_ name: String, _ part: (any JSONPart)?) {
    if let part { members.append((name, part)) }
  }

  /// The object without its end, so that a long array can be streamed after it.
  var unfinished: [UInt8] {
    var bytes = [UInt8(ascii: "{")]
    for (index, member) in members.enumerated() {
      if index > 0 { bytes.append(ASCII.comma) }
      JSONText.append(member.name, to: &bytes)
      bytes.append(ASCII.colon)
      member.part.append(to: &bytes)
    }
    return bytes
  }

  /// The object with the version of what its members mean in front, for output.
  var versioned: JSONLine {
    var line: JSONLine = ["v": 1]
    line.members += members
    return line
  }

  /// The members that a table has cells for.
  var cells: ValueMap {
    ValueMap(members.compactMap { name, part in part.cell.map { (name: name, value: $0) } })
  }

  /// The object, to which nothing is added any more.
  var object: [UInt8] { unfinished + [UInt8(ascii: "}")] }

  /// The members' names, in order.
  var names: [String] { members.map(\.name) }

  /// The members of these names, in their order.
  func only(_ names: [String]) -> JSONLine {
    var line = JSONLine()
    line.members = names.flatMap { name in members.filter { $0.name == name } }
    return line
  }

  /// The object over several lines, each level indented by two spaces.
  var indented: String { JSONLine.indented(object) }

  /// JSON without spaces, over several lines.
  static func indented(_ json: some Sequence<UInt8>) -> String {
    var result: [UInt8] = []
    var depth = 0
    var isInText = false
    var previous: UInt8 = 0
    func breakLine() {
      result += [ASCII.lineFeed] + Array(repeating: ASCII.space, count: 2 * depth)
    }
    for byte in json {
      if isInText {
        result.append(byte)
        isInText = byte != ASCII.quote || previous == UInt8(ascii: "\\")
        // A backslash that was escaped itself escapes nothing.
        previous = previous == UInt8(ascii: "\\") && byte == previous ? 0 : byte
        continue
      }
      let isClosing = byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
      let isAfterOpening = previous == UInt8(ascii: "{") || previous == UInt8(ascii: "[")
      if isClosing { depth -= 1 }
      if isClosing != isAfterOpening && (isClosing || isAfterOpening) { breakLine() }
      result.append(byte)
      if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") { depth += 1 }
      if byte == ASCII.comma { breakLine() }
      if byte == ASCII.colon { result.append(ASCII.space) }
      isInText = byte == ASCII.quote
      previous = byte
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// A moment in UTC with all six digits of the microsecond, so that texts sort as moments do.
  static func text(_ date: Date) -> String {
    let (text, point) = (date.machineText.dropLast(), UInt8(ascii: "."))
    let digits = text.utf8.firstIndex(of: point).map {
      text.utf8.distance(from: $0, to: text.endIndex)
    }
    let zeros = String(repeating: "0", count: 7 - (digits ?? 1))
    return "\(text)\(digits == nil ? "." : "")\(zeros)Z"
  }
}

extension Output {
  /// Reports a result: as the object in a form of JSON, else as `tell` prints it, unless --quiet.
  func report(_ json: @autoclosure () throws -> JSONLine, _ tell: () throws -> Void) throws {
    if format.isJSON { return try object(json()) }
    if !isQuiet { try tell() }
  }

  /// Writes an object in a form of JSON.
  func object(_ json: JSONLine) throws {
    format == .jsonPretty ? try line(json.versioned.indented) : try line(json)
  }

  /// Writes a line of JSON, with its version.
  func line(_ json: JSONLine) throws {
    try write(bytes: json.versioned.object)
    try write("\n")
  }
}
