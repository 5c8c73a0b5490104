/// Numbers as people read them: `1,204,311`, `6.3M`, `212.4 MB`, `00:09`.
enum Quantity {
  /// Every digit, in groups of three.
  static func count(_ number: some BinaryInteger) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0 && (digits.count - index) % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return text
  }

  /// A number and what is counted: `1 row`, `1,458 rows`.
  static func count(_ number: some BinaryInteger, _ singular: String) -> String {
    "\(count(number)) \(singular)\(number == 1 ? "" : "s")"
  }

  /// At most six characters, for a line that changes: all digits below 10,000, else as in `12.3k`.
  static func short(_ number: Double) -> String {
    number < 10_000 ? String(Int(max(0, number))) : scaled(number)
  }

  /// The number per second since a moment.
  static func rate(_ count: Int, since start: ContinuousClock.Instant) -> String {
    short(Double(count) / max((ContinuousClock.now - start).seconds, 1e-6))
  }

  /// A size in powers of 1,000, as disks and networks are sold.
  static func bytes(_ number: some BinaryInteger) -> String { bytes(Double(number)) }

  static func bytes(_ number: Double) -> String {
    number < 1000 ? "\(Int(max(0, number))) B" : scaled(number, space: " ") + "B"
  }

  /// Minutes and seconds, with hours where there are some.
  static func time(seconds: Double) -> String {
    let total = Int(min(max(0, seconds.rounded()), 359_999))
    let parts = [total / 3600, total / 60 % 60, total % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
    return (total < 3600 ? parts.dropFirst() : parts[...]).joined(separator: ":")
  }

  /// A time that something took: `0.012 s`, `4.2 s`, `03:25`.
  static func seconds(_ time: Duration) -> String {
    let seconds = time.seconds
    if seconds >= 60 { return Quantity.time(seconds: seconds) }
    let thousandths = Int((max(0, seconds) * 1000).rounded())
    if seconds >= 1 { return "\(thousandths / 1000).\(thousandths / 100 % 10) s" }
    let digits = String(String(1000 + min(thousandths, 999)).dropFirst())
    return "0.\(digits) s"
  }

  /// One decimal and the unit that leaves at most three digits before it.
  private static func scaled(_ number: Double, space: String = "") -> String {
    var value = number / 1000
    var units = "kMGTPE".makeIterator()
    var unit = units.next() ?? "k"
    while (value * 10).rounded() >= 10_000, let next = units.next() {
      value /= 1000
      unit = next
    }
    let tenths = Int(min((value * 10).rounded(), 1e9))
    return "\(tenths / 10).\(tenths % 10)\(space)\(unit)"
  }
}
