// Server-sent events out of the bytes of an answer, in pieces of any length.
// (WHATWG HTML, section 9.2.6, "Interpreting an event stream".)
//
//     id: 12
//     event: changes
//     data: [{"path":"pets/1", …}]
//     ← an empty line ends the event; a line that begins with a colon is a comment

/// One event.
struct ServerEvent: Equatable, Sendable {
  var name = "message"
  /// The lines of its data, with a line feed between them.
  var data: [UInt8] = []
  /// The id of this event, or the last one before; nil where there was none.
  var id: String?
}

/// Reads events.
///
/// It keeps the line and the event that are not yet whole, and nothing else. Lines end with a line
/// feed, a carriage return, or both. An event that is not ended is none.
struct EventParser {
  /// An event that is longer than may be.
  struct TooLong: Error, CustomStringConvertible {
    let bytesMax: Int
    var description: String { "an event of the server has more than \(bytesMax) bytes" }
  }

  private let bytesMax: Int
  private var line: [UInt8] = []
  private var event = ServerEvent()
  private var hasData = false
  private var id: String?
  /// True after a carriage return, which a line feed may follow.
  private var skipsLineFeed = false
  private var isFirstLine = true

  init(bytesMax: Int = 64 << 20) { self.bytesMax = bytesMax }

  /// The id with which a stream is resumed.
  var lastID: String? { id }

  /// Takes the next bytes.
  ///
  /// - Returns: The events that they end.
  /// - Throws: ``TooLong``; nothing can be read any more then.
  mutating func read(_ bytes: some Sequence<UInt8>) throws(TooLong) -> [ServerEvent] {
    var events: [ServerEvent] = []
    for byte in bytes {
      let follows = skipsLineFeed
      skipsLineFeed = false
      switch byte {
      case UInt8(ascii: "\n") where follows: continue
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        skipsLineFeed = byte == UInt8(ascii: "\r")
        if let event = endLine() { events.append(event) }
      default:
        if line.count + event.data.count >= bytesMax { throw TooLong(bytesMax: bytesMax) }
        line.append(byte)
      }
    }
    return events
  }

  /// Takes a line; gives the event that it ends.
  private mutating func endLine() -> ServerEvent? {
    var line = line[...]
    self.line.removeAll(keepingCapacity: true)
    if isFirstLine, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
    isFirstLine = false
    if line.isEmpty { return endEvent() }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
      take(String(decoding: line, as: UTF8.self), [])
      return nil
    }
    var value = line[line.index(after: colon)...]
    if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
    take(String(decoding: line[..<colon], as: UTF8.self), value)
    return nil
  }

  private mutating func take(_ field: String, _ value: ArraySlice<UInt8>) {
    switch field {
    case "data":
      if hasData { event.data.append(UInt8(ascii: "\n")) }
      event.data += value
      hasData = true
    case "event": event.name = value.isEmpty ? "message" : String(decoding: value, as: UTF8.self)
    case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
    default: break
    }
  }

  private mutating func endEvent() -> ServerEvent? {
    defer { (event, hasData) = (ServerEvent(), false) }
    if !hasData { return nil }
    event.id = id
    return event
  }
}
