// Readers read pages without LMDB. The judge is a dictionary: whatever is stored, looked up, sought
// and walked, forward and backward, is what the dictionary has.

import Testing

@testable import LMDB

@Suite("The pages of a reader", .timeLimit(.minutes(5)))
struct SnapshotPagesTests {
  private static let keys = 0..<3000

  private static func key(_ number: Int) -> [UInt8] { Array("key \(100_000 + number)".utf8) }

  private static func number(in random: inout SeededGenerator) -> Int { Int(random.next() % 3000) }

  @Test(
    "give what a dictionary gives",
    arguments: [Seal.none, .short], [1, 2])
  func model(seal: Seal, seed: Int) throws {
    let directory = try ScratchDirectory()
    let environment = try directory.open()
    let table = try environment.table("words").sealed(seal)
    var random = SeededGenerator(seed: seed)
    var model: [[UInt8]: [UInt8]] = [:]
    for _ in 0..<12 {
      try change(&model, environment, table, &random)
      try compare(model, environment, table, &random)
    }
  }

  private func change(
    _ model: inout [[UInt8]: [UInt8]], _ environment: Environment, _ table: Table,
    _ random: inout SeededGenerator
  ) throws {
    let transaction = try WriteTransaction(environment)
    for _ in 0..<600 {
      let key = SnapshotPagesTests.key(SnapshotPagesTests.number(in: &random))
      if random.next() % 3 == 0 {
        model[key] = nil
        try key.lend { _ = try transaction.delete(table, $0) }
      } else {
        // Some lie in pages of their own.
        let count = random.next() % 20 == 0 ? 5000 : Int(random.next() % 90)
        let value = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        model[key] = value
        try key.lend { key in try value.lend { try transaction.put(table, key, $0) } }
      }
    }
    try transaction.commit()
  }

  private func compare(
    _ model: [[UInt8]: [UInt8]], _ environment: Environment, _ table: Table,
    _ random: inout SeededGenerator
  ) throws {
    let transaction = try ReadTransaction(environment, tables: [table])
    let access = transaction.access
    #expect(try access.count(table) == model.count)
    let sorted = model.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    for number in SnapshotPagesTests.keys {
      let key = SnapshotPagesTests.key(number)
      let found = try key.lend { try access.get(table, $0) { $0.copied } }
      if found != model[key] { Issue.record("\(number) differs") }
    }
    var cursor = try Cursor(access, table)
    var walked = 0
    var isThere = try cursor.first()
    while isThere {
      let entry = cursor.withEntry { ($0.copied, $1.copied) }
      if entry != sorted[walked] { Issue.record("entry \(walked) differs") }
      walked += 1
      isThere = try cursor.next()
    }
    #expect(walked == sorted.count)
    for _ in 0..<500 { try seek(sorted, &cursor, &random) }
    try find(model, access, table, &random)
  }

  /// Looks up keys, most of them near the one before: on its leaf, or on the next.
  private func find(
    _ model: [[UInt8]: [UInt8]], _ access: Access, _ table: Table,
    _ random: inout SeededGenerator
  ) throws {
    var lookup = NearLookup(access, table)
    var number = 0
    for _ in 0..<2000 {
      let isNear = random.next() % 8 > 0
      let next = isNear ? number + Int(random.next() % 60) - 30 : Self.number(in: &random)
      number = min(max(0, next), 2999)
      let key = SnapshotPagesTests.key(number)
      let found = try key.lend { try lookup.lend($0) { $0.copied } }
      if found != model[key] { Issue.record("\(number) differs") }
    }
  }

  private func seek(
    _ sorted: [(key: [UInt8], value: [UInt8])], _ cursor: inout Cursor,
    _ random: inout SeededGenerator
  ) throws {
    let wanted = SnapshotPagesTests.key(SnapshotPagesTests.number(in: &random))
    var index = sorted.firstIndex { !$0.key.lexicographicallyPrecedes(wanted) } ?? sorted.count
    var isThere = try wanted.lend { try cursor.seek($0) }
    #expect(isThere == (index < sorted.count))
    while isThere, random.next() % 8 > 0 {
      if cursor.withEntry({ key, _ in key.copied }) != sorted[index].key {
        Issue.record("\(index) differs")
      }
      let isForward = random.next() % 2 == 0
      isThere = isForward ? try cursor.next() : try cursor.previous()
      index += isForward ? 1 : -1
      #expect(isThere == sorted.indices.contains(index))
    }
    let before = try wanted.lend { try cursor.seekBefore($0) }
    let last = sorted.last { $0.key.lexicographicallyPrecedes(wanted) }
    #expect(before == (last != nil))
    if let last { #expect(cursor.withEntry { key, _ in key.copied } == last.key) }
  }

  @Test("answer rightly or with an error, whichever byte is changed", arguments: [3])
  func damage(seed: Int) throws {
    let directory = try ScratchDirectory()
    var random = SeededGenerator(seed: seed)
    var model: [[UInt8]: [UInt8]] = [:]
    var environment = try directory.open()
    for _ in 0..<4 {
      try change(&model, environment, environment.table("words").sealed(.short), &random)
    }
    environment.close()
    let sound = try ScratchFile.contents(of: directory.data)
    for _ in 0..<300 {
      var bytes = sound
      let place = 2 * 4096 + Int(random.next() % UInt64(sound.count - 2 * 4096))
      bytes[place] ^= UInt8(1 + random.next() % 255)
      try ScratchFile.store(bytes, at: directory.data)
      guard let damaged = try? directory.open() else { continue }
      environment = damaged
      let table = try environment.table("words").sealed(.short)
      try expectNothingWrong(model, environment, table, "byte \(place)")
      environment.close()
    }
  }

  private func expectNothingWrong(
    _ model: [[UInt8]: [UInt8]], _ environment: Environment, _ table: Table, _ place: String
  ) throws {
    guard let transaction = try? ReadTransaction(environment, tables: [table]) else { return }
    for number in SnapshotPagesTests.keys {
      let key = SnapshotPagesTests.key(number)
      do {
        let found = try key.lend { try transaction.access.get(table, $0) { $0.copied } }
        if found != model[key] { Issue.record("\(place): \(number) is wrong") }
      } catch is StorageError {}
    }
    var walked: [[UInt8]] = []
    do {
      var cursor = try Cursor(transaction.access, table)
      var isThere = try cursor.first()
      while isThere {
        walked.append(cursor.withEntry { key, _ in key.copied })
        isThere = try cursor.next()
      }
      if walked.count != model.count { Issue.record("\(place): the walk is wrong") }
    } catch is StorageError {}
  }
}

extension RawSpan {
  fileprivate var copied: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}

extension SnapshotPagesTests {
  @Test("are refused where the root of a small table is older than the table", arguments: [3, 400])
  func olderRoot(count: Int) throws {
    let directory = try ScratchDirectory()
    let filled = try directory.open()
    try filled.write { transaction, table in
      for number in 0..<count { try transaction.put(table, "word \(1000 + number)", "value") }
    }
    filled.close()
    var edited = EditedImage(bytes: try ScratchFile.contents(of: directory.data))
    edited.removeLastNode(of: Int(edited.u64(edited.table("words") + 40)) * 4096)
    try ScratchFile.store(edited.bytes, at: directory.data)
    let environment = try directory.open()
    #expect(throws: StorageError.self) { try environment.get("word 1001") }
    let table = try environment.table("words")
    let transaction = try ReadTransaction(environment, tables: [table])
    #expect(throws: StorageError.self) {
      var cursor = try Cursor(transaction.access, table)
      _ = try cursor.first()
    }
    #expect(throws: StorageError.self) {
      var cursor = try Cursor(transaction.access, table)
      _ = try Array("word 1001".utf8).lend { try cursor.seek($0) }
    }
  }
}

extension EditedImage {
  /// Leaves a page as it was before its last node was added.
  fileprivate mutating func removeLastNode(of page: Int) {
    let (node, isBranch) = (node(count(page) - 1, page), u16(page + 10) & 1 == 1)
    let size = 8 + u16(node + 6) + (isBranch ? 0 : u32(node))
    set(u16: u16(page + 14) + (size + 1) & ~1, at: page + 14)
    set(u16: u16(page + 12) - 2, at: page + 12)
  }
}
