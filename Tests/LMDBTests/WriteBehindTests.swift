// Commits that reach the file later. The judge is a dictionary, which is changed as transactions
// change the table; a reader that begins after `settle` must find what it holds, and nothing else.

import Testing

@testable import LMDB

@Suite("Commits that reach the file later", .timeLimit(.minutes(5)))
struct WriteBehindTests {
  private typealias Model = [String: String]

  private let directory: ScratchDirectory
  private var random: SeededGenerator
  private var row = 0
  /// True if the table is written blindly, so that few keys are looked up.
  private var isBlind = false

  init() throws {
    directory = try ScratchDirectory()
    random = SeededGenerator(seed: 18)
  }

  /// A random key, or one of a row of them that begins somewhere.
  private static func key(_ random: inout SeededGenerator, _ row: inout Int) -> String {
    row += 1
    if random.next() % 10 == 0 { row = Int(random.next() % 600) }
    return "key \(random.next() % 3 == 0 ? Int(random.next() % 60) : row)"
  }

  private static func content(_ access: Access, _ table: Table) throws -> Model {
    var found: Model = [:]
    try access.forEach(table) { found[$0.text] = $1.text }
    return found
  }

  static func content(_ environment: Environment, _ table: Table) throws -> [String: String] {
    let transaction = try ReadTransaction(environment, tables: [table])
    return try content(transaction.access, table)
  }

  // MARK: A random history

  @Test(
    "are what a dictionary says, with savepoints, cursors, readers, and transactions given up",
    arguments: [(Seal.none, false), (.short, false), (.short, true)], [600, 4096, 1 << 20])
  mutating func randomHistory(_ kind: (seal: Seal, isBlind: Bool), bytesMax: Int) throws {
    isBlind = kind.isBlind
    let environment = try directory.open(blindTables: isBlind ? ["words"] : [])
    let table = try environment.table("words").sealed(kind.seal)
    let behind = WriteBehind(environment, bytesMax: bytesMax)
    var model: Model = [:]
    for _ in 0..<600 {
      let isDirect = random.next() % 8 == 0
      var transaction = try WriteTransaction(environment, behind: behind, isDirect: isDirect)
      var changed = model
      try changeAtRandom(&transaction, table, &changed, depth: 0)
      if random.next() % 5 > 0 {
        try transaction.commit()
        model = changed
      } else {
        _ = consume transaction
      }
      if behind.isFull || random.next() % 9 == 0 { try behind.turn() }
      switch random.next() % 18 {
      case 0..<3:
        #expect(try behind.settle())
        #expect(try Self.content(environment, table) == model)
      case 3..<5:
        #expect(try behind.writeBack())
        #expect(!behind.isBackWaiting)
      case 5: #expect(try behind.write() && behind.isEmpty)
      default: break
      }
    }
    #expect(try behind.settle())
    #expect(try Self.content(environment, table) == model)
    #expect(try environment.walkPages().findings.isEmpty)
  }

  private mutating func changeAtRandom(
    _ transaction: inout WriteTransaction, _ table: Table, _ model: inout Model, depth: Int
  ) throws {
    for _ in 0..<Int(random.next() % [12, 12, 60][Int(random.next() % 3)]) {
      let key = Self.key(&random, &row)
      switch random.next() % 40 {
      case 0..<16:
        let value = String(repeating: "v", count: Int(random.next() % 120)) + "\(random.next())"
        try transaction.put(table, key, value)
        model[key] = value
      case 16..<24:
        let wasThere = try transaction.delete(table, key)
        #expect(wasThere == (model.removeValue(forKey: key) != nil) || wasThere && isBlind)
      case 24..<38 where !isBlind || random.next() % 20 == 0:
        #expect(try transaction.access.get(table, key) == model[key])
        let near = try Array(key.utf8).lend { try transaction.get(table, $0) { $0.text } }
        #expect(near == model[key])
      case 38: #expect(try Self.content(transaction.access, table) == model)
      case 24..<38: break
      default: try nest(&transaction, table, &model, depth: depth)
      }
    }
  }

  /// Changes in a savepoint, which is kept or undone.
  private mutating func nest(
    _ transaction: inout WriteTransaction, _ table: Table, _ model: inout Model, depth: Int
  ) throws {
    if depth == 3 { return }
    var changed = model
    try transaction.savepoint()
    try changeAtRandom(&transaction, table, &changed, depth: depth + 1)
    if random.next() % 2 == 0 {
      try transaction.release()
      model = changed
    } else {
      transaction.rollBack()
    }
  }

  @Test("of a blind table are looked up in the file, and look nothing up themselves")
  func blind() throws {
    let environment = try directory.open(blindTables: ["words"])
    let table = try environment.table("words")
    let behind = WriteBehind(environment, bytesMax: 1 << 20)
    func write(
      _ key: String, isBehind: Bool, _ body: (borrowing WriteTransaction) throws -> Void
    ) throws {
      let transaction = try WriteTransaction(environment, behind: behind, isDirect: false)
      try transaction.put(table, key, "1")
      try body(transaction)
      try transaction.commit()
      #expect(behind.isEmpty != isBehind)
    }
    try write("a", isBehind: true) { _ in }
    // Nothing tells yet that there is none of these.
    try write("b", isBehind: true) {
      let isDeleted = try $0.delete(table, "z")
      #expect(isDeleted)
    }
    try write("c", isBehind: true) {
      let isDeleted = try $0.delete(table, "a")
      #expect(isDeleted)
    }
    try write("d", isBehind: false) {
      let access = $0.access
      let found = try ["a", "b", "d"].map { try access.get(table, $0) }
      #expect(found == [nil, "1", "1"])
      let deleted = (try $0.delete(table, "z"), try $0.delete(table, "b"))
      #expect(deleted == (false, true))
    }
    #expect(try Self.content(environment, table).keys.sorted() == ["c", "d"])
  }

  @Test("can append, in the order of the keys")
  func appending() throws {
    let environment = try directory.open()
    let table = try environment.table("words")
    let behind = WriteBehind(environment, bytesMax: 1 << 20)
    for group in 0..<20 {
      let transaction = try WriteTransaction(environment, behind: behind, isDirect: group == 9)
      for number in 0..<50 {
        try transaction.put(table, "key \(1000 + 50 * group + number)", "\(number)", .append)
      }
      try transaction.commit()
      if group == 12 { try behind.write() }
      if group == 4 || group == 15 { try behind.turn() }
    }
    #expect(try behind.settle())
    let found = try Self.content(environment, table)
    #expect(found.count == 1000 && found["key 1999"] == "49")
  }

  // MARK: Reaching the file

  @Test("are too many once they have a size, and reach it when that is asked for")
  func limit() throws {
    let environment = try directory.open()
    let table = try environment.table("words")
    let behind = WriteBehind(environment, bytesMax: 2000)
    let value = String(repeating: "v", count: 320)
    for number in 0..<6 {
      let transaction = try WriteTransaction(environment, behind: behind, isDirect: false)
      try transaction.put(table, "key \(number)", value)
      try transaction.commit()
      #expect(behind.isFull == (number == 5))
    }
    #expect(try Self.content(environment, table).isEmpty && behind.since != nil)
    #expect(try behind.write() && behind.isEmpty && behind.since == nil)
    #expect(try Self.content(environment, table).count == 6)
  }

  @Test("go on in another buffer once one is full, and follow it into the file")
  func turning() throws {
    let environment = try directory.open()
    let table = try environment.table("words")
    let behind = WriteBehind(environment, bytesMax: 2000)
    var model: Model = [:]
    func write(_ changes: [String: String?], _ found: [String: String?]) throws {
      let transaction = try WriteTransaction(environment, behind: behind, isDirect: false)
      for (key, value) in found { #expect(try transaction.access.get(table, key) == value) }
      for (key, value) in changes {
        if let value { try transaction.put(table, key, value) }
        if value == nil { try transaction.delete(table, key) }
        model[key] = value
      }
      try transaction.commit()
    }
    try write(["a": "1", "b": "1", "c": "1"], [:])
    #expect(behind.takeRequest() == .later && behind.takeRequest() == nil)
    try behind.turn()
    #expect(behind.isBackWaiting && behind.takeRequest() == .now)
    try write(["a": "2", "b": nil, "d": "2"], ["a": "1", "b": "1", "c": "1", "d": nil])
    // The full one alone.
    #expect(try behind.writeBack() && !behind.isBackWaiting && !behind.isEmpty)
    #expect(try Self.content(environment, table) == ["a": "1", "b": "1", "c": "1"])
    #expect(behind.takeRequest() == .later)
    try write(["c": nil], ["a": "2", "b": nil, "c": "1", "d": "2"])
    try behind.turn()
    try write(["b": "3"], ["a": "2", "b": nil, "c": nil, "d": "2"])
    // One that has not been written yet is written before the next one is left to others.
    try behind.turn()
    #expect(try Self.content(environment, table) == ["a": "2", "d": "2"])
    try write(["e": "4"], ["a": "2", "b": "3", "d": "2", "e": nil])
    // Both at once, the older one first.
    try write(["b": "5"], ["b": "3"])
    #expect(try behind.settle() && behind.isEmpty && behind.since == nil)
    #expect(try Self.content(environment, table) == model)
  }

  @Test("are written at once by a transaction after one that was read, and after one with a cursor")
  func direct() throws {
    let environment = try directory.open()
    let table = try environment.table("words")
    let behind = WriteBehind(environment, bytesMax: 1 << 20)
    func write(_ number: Int, cursor: Bool = false) throws -> Bool {
      let transaction = try WriteTransaction(environment, behind: behind, isDirect: false)
      try transaction.put(table, "key \(number)", "\(number)")
      if cursor { _ = try Self.content(transaction.access, table) }
      try transaction.commit()
      return behind.isEmpty
    }
    #expect(try !write(0))
    #expect(try behind.settle())
    #expect(try write(1))
    #expect(try !write(2))
    #expect(try write(3, cursor: true))
    #expect(try write(4))
    for number in 5..<30 { _ = try write(number) }
    #expect(try !write(30))
    #expect(try behind.settle())
    #expect(try Self.content(environment, table).count == 31)
  }

  @Test("of an entry that is larger than the buffer are written at once")
  func large() throws {
    let environment = try directory.open()
    let table = try environment.table("words")
    let behind = WriteBehind(environment, bytesMax: 1000)
    let value = String(repeating: "v", count: 9000)
    let transaction = try WriteTransaction(environment, behind: behind, isDirect: false)
    try transaction.put(table, "small", "1")
    try transaction.put(table, "large", value)
    #expect(try transaction.access.get(table, "small") == "1")
    try transaction.commit()
    #expect(try Self.content(environment, table) == ["small": "1", "large": value])
  }

  @Test("enlarge the map where it is full")
  func mapFull() throws {
    let environment = try directory.open(mapSize: 1 << 16)
    let table = try environment.table("words")
    let behind = WriteBehind(environment, bytesMax: 1 << 20)
    for number in 0..<200 {
      let transaction = try WriteTransaction(environment, behind: behind, isDirect: false)
      try transaction.put(table, "key \(number)", String(repeating: "v", count: 1500))
      try transaction.commit()
    }
    #expect(try behind.settle())
    #expect(try Self.content(environment, table).count == 200)
  }

  // MARK: Failures

  @Test("stay where they cannot be written, for transactions as well")
  func failure() throws {
    let environment = try directory.open(mapSize: 1 << 16, mapSizeMax: 1 << 16)
    let table = try environment.table("words")
    let behind = WriteBehind(environment, bytesMax: 1 << 20)
    func put(_ key: String, _ count: Int) throws {
      let transaction = try WriteTransaction(environment, behind: behind, isDirect: false)
      try transaction.put(table, key, String(repeating: "v", count: count))
      try transaction.commit()
    }
    try put("large", 200_000)
    for _ in 0..<2 { #expect(try kind { try behind.write() } == .mapFull) }
    try put("small", 10)
    let transaction = try WriteTransaction(environment, behind: behind, isDirect: false)
    #expect(try transaction.access.get(table, "large")?.count == 200_000)
    try transaction.delete(table, "large")
    // A cursor would need the file.
    #expect(try kind { _ = try Self.content(transaction.access, table) } == .mapFull)
    #expect(try transaction.access.get(table, "large") == nil)
    try transaction.commit()
    #expect(try Self.content(environment, table).isEmpty)
    // Together they fit.
    #expect(try behind.write())
    #expect(try Self.content(environment, table).keys.sorted() == ["small"])
  }

  @Test("stay in a full buffer that cannot be written, and the other one is not left then")
  func failureOfBack() throws {
    let environment = try directory.open(mapSize: 1 << 16, mapSizeMax: 1 << 16)
    let table = try environment.table("words")
    let behind = WriteBehind(environment, bytesMax: 1 << 20)
    func put(_ key: String, _ count: Int, expecting counts: [String: Int]) throws {
      let transaction = try WriteTransaction(environment, behind: behind, isDirect: false)
      for (key, count) in counts {
        #expect(try transaction.access.get(table, key)?.count == count)
      }
      try transaction.put(table, key, String(repeating: "v", count: count))
      try transaction.commit()
    }
    try put("large", 200_000, expecting: [:])
    try behind.turn()
    try put("small", 10, expecting: ["large": 200_000])
    for _ in 0..<2 {
      #expect(try kind { try behind.writeBack() } == .mapFull)
      #expect(try kind { try behind.write() } == .mapFull)
      #expect(try kind { try behind.turn() } == .mapFull)
    }
    try put("last", 20, expecting: ["large": 200_000, "small": 10])
    #expect(behind.isBackWaiting && !behind.isEmpty)
    #expect(try Self.content(environment, table).isEmpty)
  }

  @Test("are dropped once another has written to the file")
  func foreignCommit() throws {
    let environment = try directory.open()
    let table = try environment.table("words")
    let behind = WriteBehind(environment, bytesMax: 1 << 20)
    func put(_ key: String, to behind: WriteBehind?) throws {
      let transaction = try WriteTransaction(
        environment, behind: behind, isDirect: behind == nil)
      try transaction.put(table, key, "1")
      try transaction.commit()
    }
    try put("mine", to: behind)
    try behind.turn()
    try put("mine, too", to: behind)
    try put("other", to: nil)
    #expect(try !behind.writeBack() && behind.isEmpty)
    try put("mine again", to: behind)
    try behind.turn()
    try put("and again", to: behind)
    try put("another", to: nil)
    // A transaction that begins sees the file, without what was dropped.
    var transaction = try WriteTransaction(environment, behind: behind, isDirect: false)
    #expect(try transaction.access.get(table, "mine again") == nil)
    #expect(try transaction.access.get(table, "another") == "1")
    // One that has begun cannot go on from another file.
    try put("a third", to: nil)
    #expect(try kind { _ = try Self.content(transaction.access, table) } == .busy)
    transaction = try WriteTransaction(environment, behind: behind, isDirect: false)
    try transaction.put(table, "last", "1")
    try transaction.commit()
    #expect(try behind.settle())
    let keys = try Self.content(environment, table).keys.sorted()
    #expect(keys == ["a third", "another", "last", "other"])
  }
}
