// The sources with all drawn mutants in them, and a switch that is looked at while they run:
//
//     if cursor < end {          if Mutant.flip(7, (Mutant.on(3) ? cursor <= end : cursor < end)) {
//     try sync()                 if !Mutant.on(12) { try sync() }
//     let limit = 8              let limit = (Mutant.on(5) ? 9 : 8)
//
// A mutant may lie within another one. The two sides of a `?:` both have those that lie within.

/// A file's text with numbered mutants.
struct Rendering {
  private let bytes: [UInt8]

  init(_ source: String) { bytes = Array(source.utf8) }

  /// - Parameter mutants: The mutants and their numbers, in any order.
  /// - Returns: The text with all of them, and with a switch for each.
  func text(_ mutants: [(number: Int, mutant: Mutant)]) -> String {
    let sorted = mutants.sorted {
      let (left, right) = ($0.mutant.range, $1.mutant.range)
      if left.lowerBound != right.lowerBound { return left.lowerBound < right.lowerBound }
      if left.count != right.count { return left.count > right.count }
      return $0.number < $1.number
    }
    return text(0..<bytes.count, sorted[...])
  }

  /// The text of some bytes, with the mutants among those given that lie within.
  private func text(
    _ range: Range<Int>, _ mutants: ArraySlice<(number: Int, mutant: Mutant)>
  ) -> String {
    var (result, position, rest) = ("", range.lowerBound, mutants)
    while let (number, mutant) = rest.popFirst() {
      guard range.contains(mutant.range), mutant.range.lowerBound >= position else { continue }
      result += plain(position..<mutant.range.lowerBound)
      result += form(number, mutant, rest)
      position = mutant.range.upperBound
    }
    return result + plain(position..<range.upperBound)
  }

  private func form(
    _ number: Int, _ mutant: Mutant, _ inner: ArraySlice<(number: Int, mutant: Mutant)>
  ) -> String {
    let original = text(mutant.range, inner)
    switch mutant.form {
    case .negated: return "Mutant.flip(\(number), \(original))"
    case .leftOut: return "if !Mutant.on(\(number)) { \(original) }"
    case .replaced(let pieces):
      let other = pieces.map { piece in
        switch piece {
        case .source(let range): text(range, inner)
        case .text(let text): text
        }
      }
      return "(Mutant.on(\(number)) ? \(other.joined()) : \(original))"
    }
  }

  private func plain(_ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }
}

extension Rendering {
  /// The switch, which each module gets. Beside asking, it can note which mutants a process has
  /// met: a byte for each, in a file that is mapped.
  static let theSwitch = """
    // The mutant that this process has. Tools/mutate wrote this.

    import Glibc

    enum Mutant {
      private static let active: Int = {
        guard let text = unsafe getenv("CAMBIUM_MUTANT") else { return 0 }
        return Int(unsafe atoi(text))
      }()

      private nonisolated(unsafe) static let met: UnsafeMutablePointer<UInt8>? = {
        guard let path = unsafe getenv("CAMBIUM_MUTANTS_MET") else { return nil }
        let file = unsafe open(path, O_RDWR)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let size = Int(lseek(file, 0, SEEK_END))
        let map = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        guard unsafe map != MAP_FAILED else { return nil }
        return unsafe map?.assumingMemoryBound(to: UInt8.self)
      }()

      static func on(_ number: Int) -> Bool {
        if let met = unsafe met { unsafe met[number] = 1 }
        return active == number
      }

      static func flip(_ number: Int, _ value: Bool) -> Bool { on(number) != value }
    }

    """
}
