// The linear dialect, by recursive descent over scalars:
//
//     pattern    = [ "(?" ( "i" | "s" ) … ")" ] choice
//     choice     = sequence { "|" sequence }
//     sequence   = { atom [ ( "*" | "+" | "?" | "{" M [ "," [ N ] ] "}" ) [ "?" ] ] }
//     atom       = "." | "^" | "$" | "(" [ "?:" ] choice ")" | class | escape | scalar
//     class      = "[" [ "^" ] { scalar [ "-" scalar ] | escape } "]"
//     escape     = "\" ( d | D | w | W | s | S | b | B | A | z | n | r | t | f
//                      | xHH | x{H…} | uHHHH | u{H…} | a character that is no letter or digit )
//
// Repetition counts end at 255. It has no backreferences, lookaround or possessive quantifiers,
// which no program without backtracking can run; nor constructs that differ between other dialects:
// a literal bracket or brace is escaped.

/// A parsed pattern.
indirect enum LinearPatternNode: Equatable {
  case scalars(ScalarSet)
  case assertion(LinearPattern.Assertion)
  case sequence([LinearPatternNode])
  case choice([LinearPatternNode])
  case repetition(LinearPatternNode, Int, Int?)
}

/// Parses a pattern of the linear dialect.
struct LinearPatternParser {
  private static let depthMax = 64
  private static let repetitionMax = 255

  private let scalars: [Unicode.Scalar]
  private var index = 0
  private var depth = 0
  private(set) var ignoresCase: Bool
  private var dotTakesNewlines = false

  init(_ pattern: String, ignoresCase: Bool) {
    scalars = Array(pattern.unicodeScalars)
    self.ignoresCase = ignoresCase
  }

  mutating func parsed() throws(PatternError) -> LinearPatternNode {
    try takeFlags()
    let node = try choice()
    if index < scalars.count { throw error("there is no “(” to this “)”") }
    return node
  }

  private func error(_ reason: String) -> PatternError {
    PatternError(reason: "\(reason), at scalar \(index + 1)")
  }

  private var peek: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

  private mutating func take(_ text: String) -> Bool {
    let wanted = Array(text.unicodeScalars)
    guard scalars[index...].starts(with: wanted) else { return false }
    index += wanted.count
    return true
  }

  /// Flags for the whole pattern.
  private mutating func takeFlags() throws(PatternError) {
    guard scalars.starts(with: ["(", "?"]),
      let end = scalars.firstIndex(of: ")"),
      scalars[2..<end].allSatisfy({ $0 == "i" || $0 == "s" }), end > 2
    else { return }
    if scalars[2..<end].contains("i") { ignoresCase = true }
    dotTakesNewlines = scalars[2..<end].contains("s")
    index = end + 1
  }

  // MARK: Structure

  private mutating func choice() throws(PatternError) -> LinearPatternNode {
    depth += 1
    defer { depth -= 1 }
    if depth > Self.depthMax { throw error("groups are nested too deep") }
    var parts = [try sequence()]
    while take("|") { parts.append(try sequence()) }
    return parts.count == 1 ? parts[0] : .choice(parts)
  }

  private mutating func sequence() throws(PatternError) -> LinearPatternNode {
    var parts: [LinearPatternNode] = []
    while let next = peek, next != "|", next != ")" {
      let atom = try atom()
      parts.append(try repeated(atom))
    }
    return parts.count == 1 ? parts[0] : .sequence(parts)
  }

  private mutating func repeated(
    _ atom: LinearPatternNode
  ) throws(PatternError) -> LinearPatternNode {
    let (least, most): (Int, Int?)
    switch peek {
    case "*": (least, most) = (0, nil)
    case "+": (least, most) = (1, nil)
    case "?": (least, most) = (0, 1)
    case "{": return try lazily(counted(atom))
    default: return atom
    }
    if case .assertion = atom { throw error("there is nothing to repeat") }
    index += 1
    return try lazily(.repetition(atom, least, most))
  }

  /// `{m}`, `{m,}` or `{m,n}`.
  private mutating func counted(
    _ atom: LinearPatternNode
  ) throws(PatternError) -> LinearPatternNode {
    if case .assertion = atom { throw error("there is nothing to repeat") }
    index += 1
    guard let least = try number() else { throw error("a number is missing behind “{”") }
    var most: Int? = least
    if take(",") { most = try number() }
    guard take("}") else { throw error("a “}” is missing") }
    if let most, most < least { throw error("a repetition ends before it begins") }
    return .repetition(atom, least, most)
  }

  private mutating func number() throws(PatternError) -> Int? {
    var value: Int?
    while let next = peek, next >= "0", next <= "9" {
      value = (value ?? 0) * 10 + Int(next.value - 0x30)
      if value ?? 0 > Self.repetitionMax {
        throw error("more than \(Self.repetitionMax) repetitions are not taken")
      }
      index += 1
    }
    return value
  }

  /// A lazy repetition matches the same texts; a possessive one does not.
  private mutating func lazily(
    _ node: LinearPatternNode
  ) throws(PatternError) -> LinearPatternNode {
    if take("?") { return node }
    switch peek {
    case "*", "+", "{": throw error("a repetition cannot be repeated without a group")
    default: return node
    }
  }

  // MARK: Atoms

  private mutating func atom() throws(PatternError) -> LinearPatternNode {
    guard let next = peek else { throw error("something is missing here") }
    switch next {
    case "(": return try group()
    case "[": return .scalars(try classSet())
    case "\\": return try escapedAtom()
    case "*", "+", "?": throw error("there is nothing to repeat")
    case "{", "}", "]": throw error("“\(next)” must be escaped here")
    default: break
    }
    index += 1
    switch next {
    case ".": return .scalars(dotTakesNewlines ? .all : ScalarSet.newlines.inverted)
    case "^": return .assertion(.start)
    case "$": return .assertion(.end)
    default: return .scalars(ScalarSet(next))
    }
  }

  private mutating func group() throws(PatternError) -> LinearPatternNode {
    index += 1
    if !take("?:"), peek == "?" || peek == "*" {
      throw error("this kind of group is not taken; only “(…)” and “(?:…)” are")
    }
    let node = try choice()
    guard take(")") else { throw error("a “)” is missing") }
    return .sequence([node])
  }

  private mutating func escapedAtom() throws(PatternError) -> LinearPatternNode {
    let start = index
    index += 1
    switch peek {
    case "b": index += 1; return .assertion(.boundary)
    case "B": index += 1; return .assertion(.noBoundary)
    case "A": index += 1; return .assertion(.start)
    case "z": index += 1; return .assertion(.end)
    default:
      index = start
      return .scalars(try escapedSet())
    }
  }

  // MARK: Classes

  private mutating func classSet() throws(PatternError) -> ScalarSet {
    index += 1
    var set = ScalarSet()
    let isInverted = take("^")
    while let next = peek, next != "]" {
      if next == "[" { throw error("“[” must be escaped in a class") }
      if ["&&", "--", "~~"].contains(where: { scalars[index...].starts(with: $0.unicodeScalars) }) {
        throw error("classes cannot be put together here")
      }
      try addItem(to: &set)
    }
    guard take("]") else { throw error("a “]” is missing") }
    if set.isEmpty { throw error("a class without anything in it matches nothing") }
    return isInverted ? set.inverted : set
  }

  private mutating func addItem(to set: inout ScalarSet) throws(PatternError) {
    let first = try item()
    guard peek == "-", index + 1 < scalars.count, scalars[index + 1] != "]" else {
      return set.add(first)
    }
    guard let low = first.single else { throw error("a range cannot begin with a class") }
    index += 1
    guard let high = try item().single, low <= high else {
      throw error("a range must end behind its beginning")
    }
    set.ranges.append(low.value...high.value)
  }

  private mutating func item() throws(PatternError) -> ScalarSet {
    guard let next = peek else { throw error("a “]” is missing") }
    if next == "[" { throw error("“[” must be escaped in a class") }
    if next == "\\" { return try escapedSet() }
    index += 1
    return ScalarSet(next)
  }

  // MARK: Escapes

  private mutating func escapedSet() throws(PatternError) -> ScalarSet {
    index += 1
    guard let next = peek else { throw error("something is missing behind “\\”") }
    index += 1
    switch next {
    case "d": return ScalarSet(.digit)
    case "D": return ScalarSet(.digit).inverted
    case "w": return ScalarSet(.word)
    case "W": return ScalarSet(.word).inverted
    case "s": return ScalarSet(.space)
    case "S": return ScalarSet(.space).inverted
    case "n": return ScalarSet("\n")
    case "r": return ScalarSet("\r")
    case "t": return ScalarSet("\t")
    case "f": return ScalarSet("\u{C}")
    case "x": return ScalarSet(try hexadecimal(digits: 2))
    case "u": return ScalarSet(try hexadecimal(digits: 4))
    default: break
    }
    let isPlain = next.isASCII && !("0"..."9").contains(next) && !next.properties.isAlphabetic
    guard isPlain else { throw error("“\\\(next)” is not taken") }
    return ScalarSet(next)
  }

  private mutating func hexadecimal(digits: Int) throws(PatternError) -> Unicode.Scalar {
    let isBraced = take("{")
    var (value, count) = (UInt32(0), 0)
    while let digit = peek.flatMap({ Character($0).hexDigitValue }), count < (isBraced ? 8 : digits)
    {
      (value, count) = (value << 4 | UInt32(digit), count + 1)
      index += 1
    }
    guard isBraced ? count > 0 && take("}") : count == digits,
      let scalar = Unicode.Scalar(value)
    else { throw error("this is no scalar in hexadecimal digits") }
    return scalar
  }
}
