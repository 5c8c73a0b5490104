// Goal: a search or a walk that damage misleads gives an error, never another entry or none.
// Method: a table of several leaves, in which one thing is changed by hand. Every other number is a
// key, so that a damaged key can take the place of one that is missing.

import CXXHash
import Testing

@testable import LMDB

@Suite("A search in a damaged table")
struct SearchDamageTests {
  @Test("finds what is there where nothing is damaged", arguments: [Seal.short, .ownLeading])
  func sound(seal: Seal) throws {
    let numbers = try NumberTable(seal)
    try numbers.withCursor { cursor in
      for number in 0..<2 * NumberTable.count - 1 {
        let isThere = try numbers.key(number).lend { try cursor.seek($0) }
        let found = cursor.key
        #expect(isThere && Array(found.utf8) == numbers.key((number + 1) / 2 * 2))
      }
    }
  }

  @Test(
    "takes no entry with a damaged key for the next one",
    arguments: [Seal.short, .ownLeading], [0, 5])
  func damagedKey(seal: Seal, index: Int) throws {
    let numbers = try NumberTable(seal)
    let refusal = try numbers.refusal(2 * index) { image in
      image.bytes[image.node(index, image.firstLeaf) + 8 + 7] += 1
    }
    #expect(refusal == .corrupt)
  }

  @Test("checks the first entry of the next leaf", arguments: [Seal.short, .ownLeading])
  func nextLeaf(seal: Seal) throws {
    let numbers = try NumberTable(seal)
    let first = numbers.sound.count(numbers.sound.firstLeaf)
    let refusal = try numbers.refusal(2 * first - 1) { image in
      image.bytes[image.node(0, image.child(1, image.tableRoot)) + 8 + 7] += 1
    }
    #expect(refusal == .corrupt)
  }

  @Test("does not miss an entry that has vanished from the start of the table")
  func vanishedFirst() throws {
    let refusal = try NumberTable(.short).refusal(0) { image in
      let (leaf, count) = (image.firstLeaf, image.count(image.firstLeaf))
      for index in 0..<count - 1 { image.setOffset(index, to: index + 1, leaf) }
      image.set(u16: image.u16(leaf + 12) - 2, at: leaf + 12)
    }
    #expect(refusal == .corrupt)
  }

  @Test("does not walk past an entry that has vanished", arguments: [true, false])
  func vanishedLast(isForward: Bool) throws {
    let refusal = try NumberTable(.short).withCursor { image in
      let leaf = image.child(1, image.tableRoot)
      image.set(u16: image.u16(leaf + 12) - 2, at: leaf + 12)
    } _: { cursor in
      try kind {
        while isForward ? try cursor.next() : try cursor.previous() {}
      }
    }
    #expect(refusal == .corrupt)
  }

  // MARK: Offsets

  @Test(
    "misses no entry where an offset of a leaf leads to another node", arguments: [0, 1, 12])
  func leafOffsets(child: Int) throws {
    let numbers = try NumberTable(.short)
    try expectNoneMissed(numbers, numbers.sound.child(child, numbers.sound.tableRoot))
  }

  @Test(
    "misses no entry where an offset of a branch leads to another node", arguments: [0, 1])
  func branchOffsets(child: Int) throws {
    // Long keys make a tree of three levels. Opening checks the root, and so a branch below it.
    let numbers = try NumberTable(.short, keyBytes: 400)
    try expectNoneMissed(numbers, numbers.sound.child(child, numbers.sound.tableRoot))
  }

  private func expectNoneMissed(_ numbers: NumberTable, _ page: Int) throws {
    let count = numbers.sound.count(page)
    for index in 0..<count {
      for other in [0, index - 1, index + 1, count - 1]
      where other != index && 0..<count ~= other {
        let missed = try missed(numbers) { $0.setOffset(index, to: other, page) }
        #expect(missed == [], "offset \(index) is that of node \(other)")
      }
    }
  }

  /// The numbers that are said not to be there, by any kind of search.
  private func missed(
    _ numbers: NumberTable, _ change: (inout EditedImage) -> Void
  ) throws -> [Int] {
    try numbers.withAccess(change) { access, table in
      stride(from: 0, to: 2 * NumberTable.count, by: 2).filter { number in
        [isFound, isFoundByCursor, isFoundNearby].contains { find in
          // An error is as good as an entry.
          (try? find(numbers.key(number), access, table)) == false
        }
      }
    }
  }

  private func isFound(_ key: [UInt8], _ access: Access, _ table: Table) throws -> Bool {
    try key.lend { try access.get(table, $0) { _ in true } } ?? false
  }

  private func isFoundByCursor(_ key: [UInt8], _ access: Access, _ table: Table) throws -> Bool {
    var cursor = try Cursor(access, table)
    let isThere = try key.lend { try cursor.seek($0) }
    return isThere && Array(cursor.key.utf8) == key
  }

  /// Looks a key up near the one before it.
  private func isFoundNearby(_ key: [UInt8], _ access: Access, _ table: Table) throws -> Bool {
    var cursor = try Cursor(access, table)
    if try !key.lend({ try cursor.seekBefore($0) }) { _ = try cursor.first() }
    let before = Array(cursor.key.utf8)
    var lookup = NearLookup(access, table)
    _ = try before.lend { try lookup.lend($0) { _ in } }
    return try key.lend { try lookup.lend($0) { _ in true } } ?? false
  }
}

/// A closed file with the even numbers in its table `t`.
private struct NumberTable {
  static let count = 400

  private let directory: ScratchDirectory
  private let seal: Seal
  private let keyBytes: Int
  let sound: EditedImage

  init(_ seal: Seal, keyBytes: Int = 8) throws {
    directory = try ScratchDirectory()
    self.seal = seal
    self.keyBytes = keyBytes
    let environment = try directory.open(tables: ["t"])
    let table = try environment.table("t").sealed(seal)
    let transaction = try WriteTransaction(environment)
    for number in stride(from: 0, to: 2 * Self.count, by: 2) {
      let key = Self.key(number, keyBytes)
      try key.lend { wanted in
        try Self.value(of: key).lend { try transaction.put(table, wanted, $0) }
      }
    }
    try transaction.commit()
    environment.close()
    sound = EditedImage(bytes: try ScratchFile.contents(of: directory.data))
  }

  func key(_ number: Int) -> [UInt8] { Self.key(number, keyBytes) }

  private static func key(_ number: Int, _ count: Int) -> [UInt8] {
    Array("key \(1000 + number)".utf8) + [UInt8](repeating: 0x61, count: count - 8)
  }

  /// A value of 100 bytes that begins with its owner's checksum.
  private static func value(of key: [UInt8]) -> [UInt8] {
    let rest = [UInt8](repeating: key[7], count: 92)
    let seed = unsafe XXH3_64bits_withSeed(key, key.count, 0)
    let sum = unsafe XXH3_64bits_withSeed(rest, rest.count, seed)
    return (0..<8).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) } + rest
  }

  /// Changes the file, and lends a cursor.
  func withCursor<R>(
    _ change: (inout EditedImage) -> Void = { _ in }, _ body: (inout Cursor) throws -> R
  ) throws -> R {
    try withAccess(change) { access, table in
      var cursor = try Cursor(access, table)
      return try body(&cursor)
    }
  }

  /// Changes the file, and lends a reader's view.
  func withAccess<R>(
    _ change: (inout EditedImage) -> Void, _ body: (Access, Table) throws -> R
  ) throws -> R {
    var image = sound
    change(&image)
    try ScratchFile.store(image.bytes, at: directory.data)
    let environment = try directory.open(tables: ["t"])
    defer { environment.close() }
    let table = try environment.table("t").sealed(seal)
    let transaction = try ReadTransaction(environment, tables: [table])
    return try body(transaction.access, table)
  }

  /// The kind of the error that a search for a number gives in the changed file.
  func refusal(
    _ number: Int, _ change: (inout EditedImage) -> Void
  ) throws -> StorageError.Kind? {
    try withCursor(change) { cursor in
      try kind { try key(number).lend { _ = try cursor.seek($0) } }
    }
  }
}

extension EditedImage {
  /// Makes the offset of one of a page's nodes that of another one.
  fileprivate mutating func setOffset(_ index: Int, to other: Int, _ page: Int) {
    set(u16: u16(page + 16 + 2 * other), at: page + 16 + 2 * index)
  }
}
