// Sets of scalars in regular expressions.

/// A set of scalars: ranges, and classes of Unicode.
struct ScalarSet: Equatable, Sendable {
  var ranges: [ClosedRange<UInt32>] = []
  /// The classes, each of which may be negated.
  var classes: [ClassUse] = []
  var isInverted = false

  struct ClassUse: Equatable, Sendable {
    let name: ScalarTest.Class
    let isInverted: Bool
  }

  init() {}
  init(_ scalar: Unicode.Scalar) { ranges = [scalar.value...scalar.value] }
  init(_ name: ScalarTest.Class) { classes = [ClassUse(name: name, isInverted: false)] }

  /// The scalars that end a line, which `.` does not match.
  static let newlines: ScalarSet = {
    var set = ScalarSet()
    set.ranges = [0x0A...0x0D, 0x85...0x85, 0x2028...0x2029]
    return set
  }()

  static let all = ScalarSet().inverted

  var isEmpty: Bool { ranges.isEmpty && classes.isEmpty }

  var inverted: ScalarSet {
    var set = self
    set.isInverted.toggle()
    return set
  }

  /// The scalar, if the set has only one.
  var single: Unicode.Scalar? {
    guard classes.isEmpty, !isInverted, ranges.count == 1, ranges[0].count == 1 else { return nil }
    return Unicode.Scalar(ranges[0].lowerBound)
  }

  /// Adds the members of one class: single scalars and classes.
  mutating func add(_ other: ScalarSet) {
    ranges += other.ranges
    classes += other.classes.map {
      ClassUse(name: $0.name, isInverted: $0.isInverted != other.isInverted)
    }
  }
}

/// True if a scalar is in a set, with ASCII as bits.
struct ScalarTest: Equatable, Sendable {
  /// Classes of Unicode.
  enum Class: Sendable {
    case digit, word, space

    func contains(_ scalar: Unicode.Scalar) -> Bool {
      switch self {
      case .digit: scalar.properties.generalCategory == .decimalNumber
      case .word: scalar == "_" || isLetterOrNumber(scalar)
      case .space: isSpace(scalar)
      }
    }

    private func isLetterOrNumber(_ scalar: Unicode.Scalar) -> Bool {
      switch scalar.properties.generalCategory {
      case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
        .decimalNumber, .letterNumber, .otherNumber:
        true
      default: false
      }
    }

    private func isSpace(_ scalar: Unicode.Scalar) -> Bool {
      switch scalar.value {
      case 0x09...0x0D, 0x20, 0x85, 0xA0, 0x180E: return true
      case 0..<0x80: return false
      default: break
      }
      return switch scalar.properties.generalCategory {
      case .spaceSeparator, .lineSeparator, .paragraphSeparator: true
      default: false
      }
    }
  }

  private let set: ScalarSet
  private let ignoresCase: Bool
  private let low, high: UInt64

  /// - Throws: ``PatternError`` if a class has too many letters to be compared without case.
  init(_ set: ScalarSet, ignoresCase: Bool) throws(PatternError) {
    var set = set
    if ignoresCase { try set.addOtherCases() }
    set.ranges.sort { $0.lowerBound < $1.lowerBound }
    self.set = set
    self.ignoresCase = ignoresCase
    var bits: (low: UInt64, high: UInt64) = (0, 0)
    for value in UInt32(0)..<128 {
      guard let scalar = Unicode.Scalar(value) else { continue }
      if ScalarTest.allows(scalar, set, ignoresCase) {
        if value < 64 { bits.low |= 1 << value } else { bits.high |= 1 << (value - 64) }
      }
    }
    (low, high) = bits
  }

  @inline(__always)
  func allows(_ scalar: Unicode.Scalar) -> Bool {
    let value = scalar.value
    if value < 64 { return low >> value & 1 == 1 }
    if value < 128 { return high >> (value - 64) & 1 == 1 }
    return ScalarTest.allows(scalar, set, ignoresCase)
  }

  private static func allows(
    _ scalar: Unicode.Scalar, _ set: ScalarSet, _ ignoresCase: Bool
  ) -> Bool {
    var isFound = set.holds(scalar)
    if !isFound && ignoresCase {
      isFound = ScalarCase.others(of: scalar).contains { set.holdsInRange($0) }
    }
    return isFound != set.isInverted
  }
}

extension ScalarSet {
  fileprivate func holdsInRange(_ scalar: Unicode.Scalar) -> Bool {
    ranges.contains { $0.contains(scalar.value) }
  }

  fileprivate func holds(_ scalar: Unicode.Scalar) -> Bool {
    holdsInRange(scalar) || classes.contains { $0.name.contains(scalar) != $0.isInverted }
  }

  /// Adds the other cases of all scalars in its ranges.
  fileprivate mutating func addOtherCases() throws(PatternError) {
    var others: Set<UInt32> = []
    var left = 4096
    for range in ranges {
      left -= range.count
      if left < 0 {
        throw PatternError(reason: "a class has more than 4096 scalars, too many to ignore case")
      }
      for value in range {
        guard let scalar = Unicode.Scalar(value) else { continue }
        others.formUnion(ScalarCase.others(of: scalar).map(\.value))
      }
    }
    others = others.filter { value in !ranges.contains { $0.contains(value) } }
    ranges += others.sorted().map { $0...$0 }
  }
}

/// Scalars that differ only in case, one by one: mappings to several scalars do not count.
enum ScalarCase {
  static func others(of scalar: Unicode.Scalar) -> [Unicode.Scalar] {
    // The Turkish letters are compared unchanged.
    if scalar.value == 0x130 || scalar.value == 0x131 { return [] }
    let (lower, upper) = (lowercased(scalar), uppercased(scalar))
    return [lower, upper, uppercased(lower), lowercased(upper)].filter { $0 != scalar }
  }

  private static func lowercased(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    single(scalar.properties.lowercaseMapping) ?? scalar
  }

  private static func uppercased(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    single(scalar.properties.uppercaseMapping) ?? scalar
  }

  private static func single(_ text: String) -> Unicode.Scalar? {
    let scalars = text.unicodeScalars
    guard let first = scalars.first, scalars.count == 1 else { return nil }
    return first
  }
}
