import LMDB

/// One damage of a state's file: a byte that is changed, or a page that is not what was written.
package struct StateDamage: Sendable, CustomStringConvertible {
  package enum Kind: Sendable {
    case byte(UInt8)
    case zeroed
    case replaced(by: Int)
    case exchanged(with: Int)
  }

  package let kind: Kind
  /// Where: the byte, or the first one of the page.
  package let offset: Int

  private static let pageBytes = 4096

  package init(_ kind: Kind, at offset: Int) {
    self.kind = kind
    self.offset = offset
  }

  /// Draws one: two of three change a byte, wherever it is; the others are of pages.
  package init(of file: [UInt8], _ random: inout SeededGenerator) {
    let pages = file.count / StateDamage.pageBytes
    if !random.oneIn(3) {
      offset = random.below(file.count)
      kind = .byte(UInt8(1 + random.below(255)))
      return
    }
    offset = random.below(pages) * StateDamage.pageBytes
    let other = random.below(pages) * StateDamage.pageBytes
    kind = [.zeroed, .replaced(by: other), .exchanged(with: other)][random.below(3)]
  }

  package var description: String {
    let page = offset / StateDamage.pageBytes
    return switch kind {
    case .byte(let bits): "byte \(offset % StateDamage.pageBytes) of page \(page) xor \(bits)"
    case .zeroed: "page \(page) zeroed"
    case .replaced(let other): "page \(page) replaced by \(other / StateDamage.pageBytes)"
    case .exchanged(let other): "pages \(page) and \(other / StateDamage.pageBytes) exchanged"
    }
  }

  /// The kind, for a table.
  package var name: String {
    switch kind {
    case .byte: "byte changed"
    case .zeroed: "page zeroed"
    case .replaced: "page replaced"
    case .exchanged: "pages exchanged"
    }
  }

  /// The damaged bytes.
  package func applied(to file: [UInt8]) -> [UInt8] {
    var bytes = file
    let page = offset..<min(offset + StateDamage.pageBytes, file.count)
    switch kind {
    case .byte(let bits): bytes[offset] ^= bits
    case .zeroed: for place in page { bytes[place] = 0 }
    case .replaced(let other):
      for place in page { bytes[place] = file[other + place - page.lowerBound] }
    case .exchanged(let other):
      for place in page {
        bytes[place] = file[other + place - page.lowerBound]
        bytes[other + place - page.lowerBound] = file[place]
      }
    }
    return bytes
  }
}
