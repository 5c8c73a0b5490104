// Regular expressions without backtracking (Thompson 1968, in Pike's form): the pattern becomes a
// small program, and all places in it that a match may have reached are advanced through the text
// in parallel.
//
//     a(b|c)*d      0: test a     1: split 2, 6     2: split 3, 4     3: test b → 5
//                   4: test c     5: jump 1         6: test d         7: accept
//
//     text "abd":   after a {2·3, 2·4, 6}   after b {the same}   after d {7}: found
//
// A place is in the set once, so that a text of n scalars takes at most n · (size of the program)
// steps, whatever the pattern and the text. That is why declarations accept only this dialect: the
// fold runs their conditions, and a limit at which an expression is aborted would make the result
// depend on more than the log.

/// A regular expression of the linear dialect, compiled.
struct LinearPattern: Sendable {
  /// The maximum size of a program; larger ones are refused.
  static let instructionsMax = 1000

  enum Instruction: Equatable, Sendable {
    /// Consumes a scalar that a test accepts, and continues after it.
    case test(Int)
    /// Continues at both places.
    case split(Int, Int)
    case jump(Int)
    /// Continues if the assertion holds between two scalars.
    case assert(Assertion)
    case accept
  }

  /// A condition that may hold between two scalars.
  enum Assertion: Equatable, Sendable { case start, end, boundary, noBoundary }

  let instructions: [Instruction]
  let tests: [ScalarTest]

  /// Compiles a pattern.
  ///
  /// - Parameters:
  ///   - pattern: The pattern.
  ///   - ignoresCase: True to ignore case.
  /// - Throws: ``PatternError`` if it is not an expression of the dialect, or is too large.
  init(_ pattern: String, ignoresCase: Bool) throws(PatternError) {
    var parser = LinearPatternParser(pattern, ignoresCase: ignoresCase)
    var compiler = LinearPatternCompiler(ignoresCase: ignoresCase)
    let tree = try parser.parsed()
    compiler.ignoresCase = parser.ignoresCase
    try compiler.emit(tree)
    try compiler.add(.accept)
    (instructions, tests) = (compiler.instructions, compiler.tests)
  }

  /// True if a part of a text in UTF-8 matches.
  ///
  /// - Complexity: O(*n* · *m*) for *n* scalars and *m* instructions.
  func matches(_ text: RawSpan) throws -> Bool {
    var steps = 0
    return try matches(text, steps: &steps)
  }

  /// As ``matches(_:)``, adding the number of instructions that were executed.
  func matches(_ text: RawSpan, steps: inout Int) throws -> Bool {
    var present = LinearPlaces(count: instructions.count)
    var next = LinearPlaces(count: instructions.count)
    var (offset, before) = (0, Unicode.Scalar?.none)
    defer { steps += present.steps + next.steps }
    while true {
      let (scalar, count) =
        offset < text.byteCount ? try text.scalar(at: offset) : (Unicode.Scalar?.none, 0)
      let place = LinearPlaces.Position(before: before, after: scalar)
      // A match may begin anywhere. The places in the set already passed this position's
      // assertions.
      if present.add(0, instructions, place) { return true }
      guard let scalar else { return false }
      offset += count
      let after = offset < text.byteCount ? try text.scalar(at: offset).scalar : nil
      next.removeAll()
      let behind = LinearPlaces.Position(before: scalar, after: after)
      for index in present.places {
        guard case .test(let test) = instructions[index], tests[test].allows(scalar) else {
          continue
        }
        if next.add(index + 1, instructions, behind) { return true }
      }
      swap(&present, &next)
      before = scalar
    }
  }
}

/// The places of a program that a match may have reached, each once.
struct LinearPlaces {
  /// A position between two scalars.
  struct Position {
    let before, after: Unicode.Scalar?

    func holds(_ assertion: LinearPattern.Assertion) -> Bool {
      switch assertion {
      case .start: before == nil
      case .end: after == nil
      case .boundary: isBoundary
      case .noBoundary: !isBoundary
      }
    }

    private var isBoundary: Bool { isWord(before) != isWord(after) }

    private func isWord(_ scalar: Unicode.Scalar?) -> Bool {
      scalar.map { ScalarTest.Class.word.contains($0) } ?? false
    }
  }

  /// The places that consume a scalar.
  private(set) var places: [Int] = []
  /// The number of instructions that were executed.
  private(set) var steps = 0
  /// The round in which each place was last added.
  private var rounds: [UInt32]
  private var round: UInt32 = 1
  private var waiting: [Int] = []

  init(count: Int) {
    rounds = Array(repeating: 0, count: count)
    places.reserveCapacity(count)
  }

  mutating func removeAll() {
    places.removeAll(keepingCapacity: true)
    round += 1
  }

  /// Adds a place and all places that can be reached from it without consuming a scalar.
  ///
  /// - Returns: True if it leads to the end of the program.
  mutating func add(
    _ start: Int, _ instructions: [LinearPattern.Instruction], _ position: Position
  ) -> Bool {
    waiting.append(start)
    while let index = waiting.popLast() {
      if rounds[index] == round { continue }
      rounds[index] = round
      steps += 1
      switch instructions[index] {
      case .accept:
        waiting.removeAll(keepingCapacity: true)
        return true
      case .test: places.append(index)
      case .jump(let target): waiting.append(target)
      case .split(let one, let other): waiting += [other, one]
      case .assert(let assertion): if position.holds(assertion) { waiting.append(index + 1) }
      }
    }
    return false
  }
}

/// Makes the program of a parsed pattern.
struct LinearPatternCompiler {
  private(set) var instructions: [LinearPattern.Instruction] = []
  private(set) var tests: [ScalarTest] = []
  var ignoresCase: Bool
  /// The number of parts that may still be visited: repetitions of nothing add no instructions.
  private var budget = 20 * LinearPattern.instructionsMax

  init(ignoresCase: Bool) { self.ignoresCase = ignoresCase }

  mutating func add(_ instruction: LinearPattern.Instruction) throws(PatternError) {
    instructions.append(instruction)
    if instructions.count > LinearPattern.instructionsMax { throw tooLarge }
  }

  private var tooLarge: PatternError {
    PatternError(
      reason: "it takes more than \(LinearPattern.instructionsMax) steps when its repetitions are "
        + "written out")
  }

  mutating func emit(_ node: LinearPatternNode) throws(PatternError) {
    budget -= 1
    if budget < 0 { throw tooLarge }
    switch node {
    case .scalars(let set):
      let test = try ScalarTest(set, ignoresCase: ignoresCase)
      let index = tests.firstIndex(of: test) ?? tests.count
      if index == tests.count { tests.append(test) }
      try add(.test(index))
    case .assertion(let assertion): try add(.assert(assertion))
    case .sequence(let nodes): for node in nodes { try emit(node) }
    case .choice(let nodes): try emit(choice: nodes[...])
    case .repetition(let node, let least, let most): try emit(node, least, most)
    }
  }

  private mutating func emit(choice nodes: ArraySlice<LinearPatternNode>) throws(PatternError) {
    guard let first = nodes.first else { return }
    if nodes.count == 1 { return try emit(first) }
    let split = instructions.count
    try add(.accept)
    try emit(first)
    let jump = instructions.count
    try add(.accept)
    instructions[split] = .split(split + 1, instructions.count)
    try emit(choice: nodes.dropFirst())
    instructions[jump] = .jump(instructions.count)
  }

  private mutating func emit(
    _ node: LinearPatternNode, _ least: Int, _ most: Int?
  ) throws(PatternError) {
    for _ in 0..<least { try emit(node) }
    guard let most else {
      let split = instructions.count
      try add(.accept)
      try emit(node)
      try add(.jump(split))
      instructions[split] = .split(split + 1, instructions.count)
      return
    }
    var splits: [Int] = []
    for _ in least..<most {
      splits.append(instructions.count)
      try add(.accept)
      try emit(node)
    }
    for split in splits { instructions[split] = .split(split + 1, instructions.count) }
  }
}

/// The reason why a text is not a regular expression, or not one of the linear dialect.
struct PatternError: Error, Equatable {
  let reason: String
}
