/// A key that a user pressed.
enum PressedKey: Equatable, Sendable {
  case up, down, left, right, pageUp, pageDown, home, end, escape
  case character(Character)
}

/// Reads the keys out of the bytes that a terminal sends for them. They may come in pieces.
///
/// | Key | Bytes |
/// |---|---|
/// | arrows, home, end | `ESC [ A` and so on, or `ESC O A` |
/// | with shift, alt, control | `ESC [ 1 ; 5 A`, taken as without |
/// | page up, page down | `ESC [ 5 ~`, `ESC [ 6 ~`; home and end too may have numbers |
/// | escape | `ESC` with nothing after it, which only time can tell: see ``flush()`` |
/// | others | UTF-8 |
///
/// A sequence that is none of these is read to its end and passed over.
struct KeyDecoder {
  private var unread: [UInt8] = []

  /// Takes bytes, and returns the keys that are complete.
  mutating func keys(_ bytes: [UInt8]) -> [PressedKey] {
    unread += bytes
    var keys: [PressedKey] = []
    var rest = unread[...]
    while let (key, count) = KeyDecoder.first(of: rest) {
      if let key { keys.append(key) }
      rest = rest.dropFirst(count)
    }
    unread = Array(rest)
    return keys
  }

  /// Some time has passed: what is incomplete stays so. An escape alone is the key of that name.
  mutating func flush() -> [PressedKey] {
    defer { unread = [] }
    return unread == [KeyDecoder.escape] ? [.escape] : []
  }

  private static let escape: UInt8 = 0x1B

  /// The first key, nil for a sequence that is none, and the number of its bytes; nil if it is not
  /// complete.
  private static func first(of bytes: ArraySlice<UInt8>) -> (key: PressedKey?, count: Int)? {
    guard let byte = bytes.first else { return nil }
    if byte != escape { return character(bytes) }
    guard let second = bytes.dropFirst().first else { return nil }
    switch second {
    case UInt8(ascii: "["): return sequence(bytes)
    case UInt8(ascii: "O"):
      guard let last = bytes.dropFirst(2).first else { return nil }
      return (named(last), 3)
    default: return (.escape, 1)
    }
  }

  /// A sequence with parameters, which ends with a byte from `@` to `~`.
  private static func sequence(_ bytes: ArraySlice<UInt8>) -> (key: PressedKey?, count: Int)? {
    let body = bytes.dropFirst(2)
    guard let end = body.firstIndex(where: { (0x40...0x7E).contains($0) }) else {
      // None is so long; the bytes are no sequence.
      return body.count > 32 ? (nil, bytes.count) : nil
    }
    let count = end - bytes.startIndex + 1
    if bytes[end] != UInt8(ascii: "~") { return (named(bytes[end]), count) }
    let number = body[..<end].prefix { $0 != UInt8(ascii: ";") }
    return (numbered(Int(String(decoding: number, as: UTF8.self))), count)
  }

  private static func named(_ letter: UInt8) -> PressedKey? {
    switch letter {
    case UInt8(ascii: "A"): .up
    case UInt8(ascii: "B"): .down
    case UInt8(ascii: "C"): .right
    case UInt8(ascii: "D"): .left
    case UInt8(ascii: "H"): .home
    case UInt8(ascii: "F"): .end
    default: nil
    }
  }

  private static func numbered(_ number: Int?) -> PressedKey? {
    switch number {
    case 1, 7: .home
    case 4, 8: .end
    case 5: .pageUp
    case 6: .pageDown
    default: nil
    }
  }

  private static func character(_ bytes: ArraySlice<UInt8>) -> (key: PressedKey?, count: Int)? {
    let wanted =
      switch bytes[bytes.startIndex] {
      case 0xC2...0xDF: 2
      case 0xE0...0xEF: 3
      case 0xF0...0xF4: 4
      default: 1
      }
    let start = bytes.prefix(wanted)
    guard let text = String(validating: start, as: UTF8.self) else {
      let isUnfinished = start.count < wanted && start.dropFirst().allSatisfy { $0 & 0xC0 == 0x80 }
      return isUnfinished ? nil : (nil, 1)
    }
    return (text.first.map { .character($0) }, wanted)
  }
}
