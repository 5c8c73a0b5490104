import FoundationEssentials

/// The tag of a value: a hash of its JSON, so that equal values have equal tags, also after a
/// restart. It guards against accidents, and not against someone who looks for collisions.
struct FirebaseETag {
  static let null = "null_etag"

  /// FNV-1a of 128 bits.
  private var hash: UInt128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D
  private static let prime: UInt128 = 1 << 88 | 0x13B

  mutating func add(_ bytes: [UInt8]) {
    for byte in bytes { hash = (hash ^ UInt128(byte)) &* FirebaseETag.prime }
  }

  /// The tag of the value whose JSON was added.
  var text: String {
    let bytes = stride(from: 120, through: 0, by: -8).map { UInt8(truncatingIfNeeded: hash >> $0) }
    return Data(bytes).base64EncodedString()
  }

  /// True if a header that holds one tag, or several with commas between, names this one.
  static func matches(_ header: String, _ tag: String) -> Bool {
    header.split(separator: ",").contains { part in
      var name = part.drop { $0 == " " }
      while name.last == " " { name.removeLast() }
      // A tag is base64, and may itself begin with these letters; a weak one is always quoted.
      if name.hasPrefix("W/\"") { name = name.dropFirst(2) }
      if name.count >= 2, name.first == "\"", name.last == "\"" {
        name = name.dropFirst().dropLast()
      }
      return name == tag || name == "*" && tag != null
    }
  }
}
