import Cambium
import FoundationEssentials

/// One line of JSON output: an object whose members stand in the order in which they are added.
struct JSONLine {
  private var bytes: [UInt8] = [UInt8(ascii: "{")]

  mutating func add(_ name: String, _ text: String) { add(name) { JSONText.append(text, to: &$0) } }

  mutating func add(_ name: String, _ number: some BinaryInteger) {
    add(name) { $0.append(contentsOf: number.description.utf8) }
  }

  mutating func add(_ name: String, _ isTrue: Bool) {
    add(name) { $0.append(contentsOf: (isTrue ? "true" : "false").utf8) }
  }

  mutating func add(_ name: String, _ value: Value) {
    add(name) { JSONWriter.append(value, to: &$0) }
  }

  /// Adds a member only where there is something to tell.
  mutating func add(_ name: String, ifPresent value: Value?) {
    if let value { add(name, value) }
  }

  mutating func add(_ name: String, _ date: Date) { add(name, JSONLine.text(date)) }

  /// Adds an object of texts, ordered by name.
  mutating func add(_ name: String, _ texts: [String: String]) {
    var object = JSONLine()
    for (name, text) in texts.sorted(by: { $0.key < $1.key }) { object.add(name, text) }
    add(name) { $0 += object.bytes + [UInt8(ascii: "}")] }
  }

  /// Adds an array of objects.
  mutating func add(_ name: String, _ objects: [JSONLine]) {
    add(name) { output in
      output.append(UInt8(ascii: "["))
      for (index, object) in objects.enumerated() {
        if index > 0 { output.append(ASCII.comma) }
        output += object.bytes + [UInt8(ascii: "}")]
      }
      output.append(UInt8(ascii: "]"))
    }
  }

  private mutating func add(_ name: String, _ write: (inout [UInt8]) -> Void) {
    if bytes.count > 1 { bytes.append(ASCII.comma) }
    JSONText.append(name, to: &bytes)
    bytes.append(ASCII.colon)
    write(&bytes)
  }

  /// The object without its end, so that a long array can be streamed after it.
  var unfinished: [UInt8] { bytes }

  /// The object, to which nothing is added any more.
  var object: [UInt8] { bytes + [UInt8(ascii: "}")] }

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
  /// Writes a line of JSON.
  func line(_ json: JSONLine) throws {
    try write(bytes: json.object)
    try write("\n")
  }
}
