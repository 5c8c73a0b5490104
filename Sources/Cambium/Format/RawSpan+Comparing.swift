// Operations on the bytes of stored values, for testing them: the one place where conditions read
// raw memory.

import LMDB

extension RawSpan {
  /// Less than, equal to or greater than zero if it sorts before, with or after another.
  @inline(__always)
  func compare(_ other: RawSpan) -> Int {
    unsafe withUnsafeBytes { own in unsafe other.withUnsafeBytes { unsafe own.order(to: $0) } }
  }

  /// True if `wanted` occurs anywhere in these bytes; an empty one always does.
  func holds(_ wanted: RawSpan) -> Bool {
    let last = byteCount - wanted.byteCount
    if wanted.byteCount == 0 { return true }
    return unsafe withUnsafeBytes { text in
      unsafe wanted.withUnsafeBytes { wanted in
        guard last >= 0, let start = text.baseAddress, let first = wanted.baseAddress else {
          return false
        }
        let byte = unsafe Int32(wanted[0])
        var offset = 0
        while offset <= last,
          let found = unsafe memchr(start + offset, byte, last - offset + 1)
        {
          if unsafe memcmp(found, first, wanted.count) == 0 { return true }
          unsafe offset = found - UnsafeMutableRawPointer(mutating: start) + 1
        }
        return false
      }
    }
  }

  /// Visits the elements of a stored array, until `body` returns false.
  func forEachElement(_ body: (RawSpan) throws -> Bool) throws {
    var offset = 1
    while offset < byteCount {
      if try !body(extracting(try part(at: &offset))) { return }
    }
  }

  /// The range of a stored dictionary's member whose name is a stored text, or nil.
  func member(named name: RawSpan) throws -> Range<Int>? {
    guard name.byteCount > 0 else { return nil }
    let wanted = name.extracting(droppingFirst: 1)
    var offset = 1
    while offset < byteCount {
      let name = try part(at: &offset)
      let value = try part(at: &offset)
      if extracting(name).equals(wanted) { return value }
    }
    return nil
  }

  /// The number of elements of a stored array, or of members of a dictionary.
  func elementCount(isMap: Bool) throws -> Int {
    var (offset, found) = (1, 0)
    while offset < byteCount {
      if isMap { _ = try part(at: &offset) }
      _ = try part(at: &offset)
      found += 1
    }
    return found
  }
}
