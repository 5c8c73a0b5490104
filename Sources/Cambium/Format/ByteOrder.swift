/// Compares text by its UTF-8 bytes, which is how Cambium orders and equates it. Swift's own `==`
/// and `<` on strings follow Unicode's canonical equivalence instead.
enum ByteOrder {
  /// Less than, equal to or greater than zero if `a` sorts before, with or after `b`.
  @inline(__always)
  static func compare(_ a: String, _ b: String) -> Int {
    // Most names differ in their first byte, which is cheap to read.
    if let first = a.utf8.first, let second = b.utf8.first, first != second {
      return Int(first) - Int(second)
    }
    var (a, b) = (a, b)
    return a.withUTF8 { a in
      b.withUTF8 { b in
        let common = min(a.count, b.count)
        var index = 0
        while index < common {
          let difference = unsafe Int(a[index]) - Int(b[index])
          if difference != 0 { return difference }
          index += 1
        }
        return a.count - b.count
      }
    }
  }

  /// True if two texts consist of the same bytes.
  @inline(__always)
  static func areEqual(_ a: String, _ b: String) -> Bool {
    haveSameStorage(a, b) || (a.utf8.count == b.utf8.count && compare(a, b) == 0)
  }

  /// True if two strings are one and the same: short ones with the same bytes, or longer ones in
  /// the same memory. Most names that are compared are identical.
  @inline(__always)
  static func haveSameStorage(_ a: String, _ b: String) -> Bool {
    let a = unsafe unsafeBitCast(a, to: (UInt64, UInt64).self)
    let b = unsafe unsafeBitCast(b, to: (UInt64, UInt64).self)
    return a == b
  }
}
