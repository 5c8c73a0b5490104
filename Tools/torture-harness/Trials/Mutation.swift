import Simulation

/// A change of a stored file behind the database's back: one of those that disks, cables and people
/// have been seen to make.
struct Mutation: CustomStringConvertible {
  let description: String
  private(set) var bytes: [UInt8]
  private let original: [UInt8]
  /// True if a page, or a sector of one, may be what it was at an earlier moment.
  private(set) var isOlder = false

  private static let kinds = [
    "flipped bit", "flipped bit", "flipped bit", "zeroed sector", "zeroed page", "swapped sectors",
    "swapped pages", "stale page", "cut short",
  ]

  /// Changes a file.
  ///
  /// - Parameters:
  ///   - original: The content of the original file.
  ///   - older: The same file at an earlier moment, for stale pages.
  ///   - random: Decides what is changed.
  init(of original: [UInt8], older: [UInt8], _ random: inout SeededGenerator) {
    self.original = original
    bytes = original
    let kind = random.pick(Mutation.kinds)
    let size = kind.hasSuffix("sector") || kind.hasSuffix("sectors") ? 512 : 4096
    let (a, b) = (random.below(original.count / size), random.below(original.count / size))
    let (first, second) = (a * size..<a * size + size, b * size..<b * size + size)
    var detail = "\(a)"
    switch kind {
    case "flipped bit":
      let (offset, bit) = (Mutation.place(in: original, &random), random.below(8))
      bytes[offset] ^= 1 << UInt8(bit)
      detail = "\(bit) of byte \(offset)"
    case "zeroed sector", "zeroed page":
      bytes.replaceSubrange(first, with: [UInt8](repeating: 0, count: size))
    case "swapped sectors", "swapped pages":
      bytes.replaceSubrange(first, with: original[second])
      bytes.replaceSubrange(second, with: original[first])
      // The unused part of a page keeps what another page had at the same place. The first sector
      // has the page's number.
      isOlder = size == 512 && a % 8 == b % 8 && a % 8 > 0
      detail = "\(a) and \(b)"
    case "stale page":
      if second.upperBound <= older.count { bytes.replaceSubrange(second, with: older[second]) }
      isOlder = true
      detail = "\(b)"
    default:
      let count = random.oneIn(2) ? a * size : random.below(original.count)
      bytes.removeLast(original.count - count)
      detail = "to \(count) bytes of \(original.count)"
    }
    description = "\(kind) \(detail)"
  }

  /// A byte, more often than not one that is not zero: most of a small file is.
  private static func place(in bytes: [UInt8], _ random: inout SeededGenerator) -> Int {
    var offset = random.below(bytes.count)
    for _ in 0..<8 where bytes[offset] == 0 { offset = random.below(bytes.count) }
    return offset
  }

  /// The numbers of the pages that differ.
  var changedPages: [Int] {
    (0..<(original.count + 4095) / 4096).filter { page in
      let range = page * 4096..<min((page + 1) * 4096, original.count)
      return range.upperBound > bytes.count || bytes[range] != original[range]
    }
  }
}
