import Cambium
import FoundationEssentials

/// The parameters of a request that are no query: the form of the answer, its moment, its limits.
struct FirebaseOptions: Sendable {
  var isPretty = false
  var isSilent = false
  var isShallow = false
  /// True for the form of an export, in which nothing is an array.
  var isExport = false
  /// The moment to read at, as it was written.
  var moment: Moment = .now
  var isPast = false
  /// The time by which reading must be done.
  var timeout: Duration?
  /// The most bytes of a write.
  var writeBytesMax = Int.max

  init(_ request: Request) throws {
    if request[parameter: "callback"] != nil {
      throw FirebaseError.bad("callback is not supported: use CORS")
    }
    switch request[parameter: "print"] {
    case nil: break
    case "pretty": isPretty = true
    case "silent": isSilent = true
    default: throw FirebaseError.bad("print must be 'pretty' or 'silent'")
    }
    isShallow = request[parameter: "shallow"] == "true"
    switch request[parameter: "format"] {
    case nil: break
    case "export": isExport = true
    default: throw FirebaseError.bad("format must be 'export'")
    }
    if let text = request[parameter: "timeout"] { timeout = try FirebaseOptions.timeout(text) }
    if let text = request[parameter: "writeSizeLimit"] {
      writeBytesMax = try FirebaseOptions.bytes(text)
    }
    if let text = request[parameter: "at"] {
      (moment, isPast) = (try FirebaseOptions.moment(text), true)
    }
  }

  /// `3ms`, `3s` or `3min`, up to 15 minutes.
  private static func timeout(_ text: String) throws -> Duration {
    let digits = text.prefix { $0.isNumber }
    guard let number = Int64(digits), number > 0, number <= 900_000 else {
      throw FirebaseError.bad("timeout must be a number with ms, s or min behind it")
    }
    let duration: Duration
    switch text.dropFirst(digits.count) {
    case "ms": duration = .milliseconds(number)
    case "s": duration = .seconds(number)
    case "min": duration = .seconds(number * 60)
    default: throw FirebaseError.bad("timeout must be a number with ms, s or min behind it")
    }
    if duration > .seconds(900) { throw FirebaseError.bad("timeout must be at most 15min") }
    return duration
  }

  /// Firebase estimates how long a write takes; the bytes of the request are what it costs here.
  private static func bytes(_ text: String) throws -> Int {
    switch text {
    case "tiny": return 1 << 20
    case "small": return 4 << 20
    case "medium": return 16 << 20
    case "large": return 64 << 20
    case "unlimited": return .max
    default:
      throw FirebaseError.bad(
        "writeSizeLimit must be 'tiny', 'small', 'medium', 'large' or 'unlimited'")
    }
  }

  /// `now`, a sequence number, `tag:` and a name, or a date with or without a time, in UTC.
  private static func moment(_ text: String) throws -> Moment {
    if text == "now" || text == "HEAD" { return .now }
    if text.hasPrefix("tag:") { return .tag(String(text.dropFirst(4))) }
    let digits = text.first == "@" ? text.dropFirst() : text[...]
    if !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
      let number = UInt64(digits)
    {
      return .sequence(SequenceNumber(number))
    }
    // A plus that was not encoded has become a space.
    guard let date = DateText.parse(Array(text.utf8).span) else {
      throw FirebaseError.bad(
        "at must be a sequence number, a date such as 2013-01-01T10:00:00Z, or tag:NAME")
    }
    return .time(Date(microseconds: date.microseconds))
  }
}

/// Ends a walk that takes longer than it may.
struct FirebaseDeadline {
  private let end: ContinuousClock.Instant?
  private var count = 0

  init(_ timeout: Duration?) { end = timeout.map { ContinuousClock.now + $0 } }

  /// Throws once the time is over; it looks at the clock at every 64th call.
  mutating func check() throws {
    guard let end else { return }
    count += 1
    if count & 63 == 1, ContinuousClock.now > end {
      throw FirebaseError.bad("The request took longer than its timeout")
    }
  }
}
