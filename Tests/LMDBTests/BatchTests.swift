// Walks that read some entries ahead, and lookups of several keys together. The judge is a
// dictionary: what is handed out is what a reader finds who takes one entry at a time.

import Testing

@testable import LMDB

@Suite("Entries that are read ahead", .timeLimit(.minutes(5)))
struct BatchTests {
  private let directory: ScratchDirectory
  private var random: SeededGenerator

  init() throws {
    directory = try ScratchDirectory()
    random = SeededGenerator(seed: 11)
  }

  private static func key(_ number: Int) -> [UInt8] { Array("key \(100_000 + number)".utf8) }

  /// Stores two of three numbers with values of random lengths; some lie in pages of their own.
  private mutating func fill(
    _ environment: Environment, _ table: Table
  ) throws -> [(key: [UInt8], value: [UInt8])] {
    let transaction = try WriteTransaction(environment)
    var entries: [(key: [UInt8], value: [UInt8])] = []
    for number in 0..<3000 where number % 3 != 2 {
      let count = random.next() % 20 == 0 ? 5000 : Int(random.next() % 90)
      let value = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      entries.append((Self.key(number), value))
      try Self.key(number).lend { key in
        try value.lend { try transaction.put(table, key, $0) }
      }
    }
    try transaction.commit()
    return entries
  }

  // MARK: Walks

  @Test(
    "are those that a walk comes to, from anywhere, both ways, up to where it ends",
    arguments: [Seal.none, .short], [true, false])
  mutating func walks(seal: Seal, isWriter: Bool) throws {
    let environment = try directory.open()
    let table = try environment.table("words").sealed(seal)
    let entries = try fill(environment, table)
    if isWriter {
      let transaction = try WriteTransaction(environment)
      try walkAtRandom(entries, transaction.access, table)
    } else {
      let transaction = try ReadTransaction(environment, tables: [table])
      try walkAtRandom(entries, transaction.access, table)
    }
  }

  private mutating func walkAtRandom(
    _ entries: [(key: [UInt8], value: [UInt8])], _ access: Access, _ table: Table
  ) throws {
    for _ in 0..<300 {
      let start = Int(random.next() % UInt64(entries.count))
      let isReversed = random.next() % 2 == 0
      let most = 1 + Int(random.next() % [3, 40, 3000][Int(random.next() % 3)])
      let whole = isReversed ? Array(entries[...start].reversed()) : Array(entries[start...])
      let expected = Array(whole.prefix(most))
      var cursor = try Cursor(access, table)
      #expect(try entries[start].key.lend { try cursor.seek($0) })
      var found = 0
      try cursor.walk(isReversed: isReversed) { key, value in
        if key.copied != expected[found].key || value.copied != expected[found].value {
          Issue.record("entry \(found) after \(start) differs")
        }
        found += 1
        return found < most
      }
      #expect(found == expected.count)
    }
  }

  @Test("can be left out, and cut, and know their places in the batch")
  mutating func keeps() throws {
    let environment = try directory.open()
    let table = try environment.table("words")
    let entries = try fill(environment, table)
    let transaction = try ReadTransaction(environment, tables: [table])
    var cursor = try Cursor(transaction.access, table)
    #expect(try cursor.first())
    var (before, found) = (0, [[UInt8]]())
    try cursor.walkBatches(isReversed: false) { batch in
      let whole = batch.count
      #expect(whole > 0)
      var place = before
      batch.keep { key, value in
        defer { place += 1 }
        #expect(key.copied == entries[place].key)
        return place % 5 == 0 ? nil : (4, value.byteCount / 2)
      }
      for index in 0..<batch.count {
        let place = before + batch.place(index)
        batch.lend(index) { key, value in
          #expect(key.copied == Array(entries[place].key[4...]))
          let stored = entries[place].value
          let rest = Array(stored[(stored.count / 2)...])
          if value.copied != rest { Issue.record("\(place) differs") }
          found.append(key.copied)
        }
      }
      before += whole
      return true
    }
    #expect(before == entries.count)
    #expect(found == entries.indices.filter { $0 % 5 != 0 }.map { Array(entries[$0].key[4...]) })
  }

  @Test("end before one that cannot be used, and tell why when those before it were")
  mutating func failure() throws {
    let environment = try directory.open()
    let table = try environment.table("words")
    let entries = try fill(environment, table)
    let transaction = try ReadTransaction(environment, tables: [table])
    for bad in [0, 1, 2, 7, 100] {
      var cursor = try Cursor(transaction.access, table)
      #expect(try cursor.first())
      var (place, found) = (0, 0)
      let refusal = try kind {
        try cursor.walkBatches(isReversed: false) { batch in
          batch.keep { key, _ in
            defer { place += 1 }
            #expect(key.copied == entries[place].key)
            if place == bad { throw StorageError(.invalid, "no such word") }
            return (0, 0)
          }
          found += batch.count
          try batch.throwFailure()
          return true
        }
      }
      #expect(refusal == .invalid)
      #expect(found == bad)
    }
  }

  @Test("are read again by a second walk of the same cursor")
  mutating func again() throws {
    let environment = try directory.open()
    let table = try environment.table("words")
    let entries = try fill(environment, table)
    let transaction = try ReadTransaction(environment, tables: [table])
    var cursor = try Cursor(transaction.access, table)
    for start in [0, 500, 3] {
      #expect(try entries[start].key.lend { try cursor.seek($0) })
      var found: [[UInt8]] = []
      try cursor.walk(isReversed: false) { key, _ in
        found.append(key.copied)
        return found.count < 20
      }
      #expect(found == entries[start..<(start + 20)].map(\.key))
    }
  }

  @Test("do not hide those before a damaged one", arguments: [1, 2, 9, 17], [true, false])
  func damaged(index: Int, isReversed: Bool) throws {
    let (found, refusal) = try walk(isReversed: isReversed) { image, leaf, count in
      // A byte of a value; its key has ten bytes.
      image.bytes[image.node(isReversed ? count - 1 - index : index, leaf) + 8 + 10 + 3] ^= 1
    }
    #expect(refusal == .corrupt)
    #expect(found == index)
  }

  @Test("are in order, or an error says that they are not", arguments: [1, 6, 20], [true, false])
  func exchanged(index: Int, isReversed: Bool) throws {
    let (found, refusal) = try walk(isReversed: isReversed) { image, leaf, count in
      let first = leaf + 16 + 2 * (isReversed ? count - 2 - index : index)
      let (one, two) = (image.u16(first), image.u16(first + 2))
      image.set(u16: two, at: first)
      image.set(u16: one, at: first + 2)
    }
    #expect(refusal == .corrupt)
    #expect(found == index + 1)
  }

  /// Walks over a table whose first leaf was changed, from one of its ends.
  ///
  /// - Returns: The number of entries that were handed out, and the error that followed.
  private func walk(
    isReversed: Bool, _ change: (inout EditedImage, _ leaf: Int, _ count: Int) -> Void
  ) throws -> (found: Int, refusal: StorageError.Kind?) {
    let environment = try directory.open(tables: ["t"])
    let table = try environment.table("t").sealed(.short)
    let transaction = try WriteTransaction(environment)
    for number in 0..<400 {
      try Self.key(number).lend { key in
        try [UInt8](repeating: 7, count: 90).lend { try transaction.put(table, key, $0) }
      }
    }
    try transaction.commit()
    environment.close()
    var image = EditedImage(bytes: try ScratchFile.contents(of: directory.data))
    let leaf = image.firstLeaf
    let count = image.count(leaf)
    change(&image, leaf, count)
    try ScratchFile.store(image.bytes, at: directory.data)
    let reopened = try directory.open(tables: ["t"])
    defer { reopened.close() }
    let damaged = try reopened.table("t").sealed(.short)
    let reader = try ReadTransaction(reopened, tables: [damaged])
    var cursor = try Cursor(reader.access, damaged)
    #expect(try Self.key(isReversed ? count - 1 : 0).lend { try cursor.seek($0) })
    var found = 0
    let refusal = try kind {
      try cursor.walk(isReversed: isReversed) { _, _ in
        found += 1
        return true
      }
    }
    return (found, refusal)
  }

  // MARK: Lookups

  @Test("answer for keys that were announced, and for others", arguments: [Seal.none, .short])
  mutating func announced(seal: Seal) throws {
    let environment = try directory.open()
    let table = try environment.table("words").sealed(seal)
    let model = Dictionary(uniqueKeysWithValues: try fill(environment, table))
    let transaction = try ReadTransaction(environment, tables: [table])
    try lookUpAtRandom(model, transaction.access, table, 400) { try $0() }
  }

  /// Announces some keys, and looks up most of them and some others, mostly in that order.
  private mutating func lookUpAtRandom(
    _ model: [[UInt8]: [UInt8]], _ access: Access, _ table: Table, _ rounds: Int,
    _ trying: (() throws -> Void) throws -> Void
  ) throws {
    var lookup = NearLookup(access, table)
    var scattered = 0
    for _ in 0..<rounds {
      let keys = (0..<Int(random.next() % 24)).map { _ in Self.key(Int(random.next() % 3000)) }
      for key in keys { key.lend { lookup.expect($0) } }
      var wanted = keys.filter { _ in random.next() % 8 > 0 }
      if random.next() % 4 == 0 { wanted.append(Self.key(Int(random.next() % 3000))) }
      if random.next() % 4 == 0 { wanted.reverse() }
      for key in wanted {
        try trying {
          let found = try key.lend { try lookup.lend($0) { $0.copied } }
          if found != model[key] { Issue.record("\(key) differs") }
        }
        if lookup.isScattered { scattered += 1 }
      }
    }
    #expect(scattered > rounds / 4)
  }

  @Test("answer rightly or with an error, whichever byte is changed")
  mutating func damagedLookups() throws {
    let environment = try directory.open()
    let model = Dictionary(
      uniqueKeysWithValues: try fill(environment, environment.table("words").sealed(.short)))
    environment.close()
    let sound = try ScratchFile.contents(of: directory.data)
    var refusals = 0
    for _ in 0..<200 {
      var bytes = sound
      for _ in 0..<20 {
        let place = 2 * 4096 + Int(random.next() % UInt64(sound.count - 2 * 4096))
        bytes[place] ^= UInt8(1 + random.next() % 255)
      }
      try ScratchFile.store(bytes, at: directory.data)
      guard let damaged = try? directory.open() else { continue }
      defer { damaged.close() }
      let table = try damaged.table("words").sealed(.short)
      guard let transaction = try? ReadTransaction(damaged, tables: [table]) else { continue }
      try lookUpAtRandom(model, transaction.access, table, 20) { body in
        do { try body() } catch is StorageError { refusals += 1 }
      }
    }
    #expect(refusals > 0)
  }

  // MARK: Keys

  private mutating func bytes(upTo count: UInt64) -> [UInt8] {
    (0..<random.next() % count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }

  @Test("are in the order of their bytes")
  mutating func order() {
    for _ in 0..<20_000 {
      let shared = bytes(upTo: 50)
      let (one, two) = (shared + bytes(upTo: 12), shared + bytes(upTo: 12))
      let order = unsafe one.withUnsafeBytes { one in
        unsafe two.withUnsafeBytes { unsafe one.order(to: $0) }
      }
      #expect((order < 0) == one.lexicographicallyPrecedes(two))
      #expect((order == 0) == (one == two))
    }
  }
}

extension RawSpan {
  fileprivate var copied: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}
