import Testing

/// One change to a data file, and a part of what must be said about it.
struct FileEdit: Sendable, CustomTestStringConvertible {
  let text: String
  let edit: @Sendable (inout EditedImage) -> Void

  init(_ text: String, _ edit: @escaping @Sendable (inout EditedImage) -> Void) {
    self.text = text
    self.edit = edit
  }

  var testDescription: String { text }
}

/// A data file with one newest transaction, and where its parts are.
struct EditedImage {
  var bytes: [UInt8]

  func u16(_ at: Int) -> Int { Int(bytes[at]) | Int(bytes[at + 1]) << 8 }
  func u32(_ at: Int) -> Int { u16(at) | u16(at + 2) << 16 }
  func u64(_ at: Int) -> UInt64 { UInt64(u32(at)) | UInt64(u32(at + 4)) << 32 }

  mutating func set(u16 value: Int, at place: Int) { set(u64: UInt64(value), at: place, count: 2) }
  mutating func set(u32 value: Int, at place: Int) { set(u64: UInt64(value), at: place, count: 4) }
  mutating func set(u64 value: UInt64, at place: Int, count: Int = 8) {
    for index in 0..<count {
      bytes[place + index] = UInt8(truncatingIfNeeded: value >> (8 * index))
    }
  }

  /// Where the newest meta page starts.
  var meta: Int { u64(144) > u64(4096 + 144) ? 0 : 4096 }

  /// Where the meta page of the transaction before starts.
  var older: Int { 4096 - meta }

  func count(_ page: Int) -> Int { (u16(page + 12) - 16) / 2 }
  func node(_ index: Int, _ page: Int) -> Int { page + u16(page + 16 + 2 * index) }
  func child(_ index: Int, _ page: Int) -> Int { u32(node(index, page)) * 4096 }

  /// Where a table's summary is, in the one leaf of the main table.
  func table(_ name: String) -> Int {
    let main = Int(u64(meta + 88 + 40)) * 4096
    for index in 0..<count(main) {
      let node = node(index, main)
      let key = bytes[(node + 8)..<(node + 8 + u16(node + 6))]
      if Array(key) == Array(name.utf8) { return node + 8 + key.count }
    }
    return 0
  }

  /// Where the branch at the root of table `t` starts, its first leaf, and the one overflow run.
  var tableRoot: Int { Int(u64(table("t") + 40)) * 4096 }
  var firstLeaf: Int { child(0, tableRoot) }
  var run: Int {
    let leaf = Int(u64(table("large") + 40)) * 4096
    return u32(node(0, leaf) + 9) * 4096
  }

  /// Where a node of the free list starts: 8 bytes header, transaction, count, page numbers.
  func freeEntry(_ index: Int) -> Int { node(index, Int(u64(meta + 40 + 40)) * 4096) }

  /// Where the last page number of the newer one is.
  var lastFreePage: Int { freeEntry(1) + 16 + 8 * Int(u64(freeEntry(1) + 16)) }
}
