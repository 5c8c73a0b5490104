import CLMDB
import Dispatch
import Synchronization
import Testing

@testable import LMDB

/// Readers: their slots, and what several threads see through one.
@Suite("A reader")
struct ReaderTests {
  private let directory: ScratchDirectory
  private let environment: Environment
  private let table: Table

  init() throws {
    directory = try ScratchDirectory()
    environment = try directory.open()
    table = try environment.table("words")
  }

  /// The number of slots that LMDB has ever given out.
  private var slots: Int {
    var info = unsafe MDB_envinfo()
    unsafe mdb_env_info(environment.handle, &info)
    return Int(unsafe info.me_numreaders)
  }

  @Test("uses the slot of one that has ended")
  func reuse() throws {
    for number in 0..<500 {
      try environment.put("a", "\(number)")
      #expect(try environment.get("a") == "\(number)")
    }
    #expect(slots == 1)
    #expect(environment.readers.idle.withLock { $0.count } == 1)
    do {
      let first = try ReadTransaction(environment, tables: [table])
      let second = try ReadTransaction(environment, tables: [table])
      #expect(first.access.number == second.access.number)
      #expect(environment.readers.idle.withLock { $0.isEmpty })
    }
    #expect(slots == 2)
  }

  @Test("sees the newest commit in a slot that is used again")
  func renewal() throws {
    for number in 0..<20 {
      try environment.put("a", "\(number)")
      let transaction = try ReadTransaction(environment, tables: [table])
      try environment.put("a", "later")
      #expect(try transaction.access.get(table, "a") == "\(number)")
    }
  }

  @Test("that a commit overtakes while it begins pins the newest moment, and reads that")
  func overtaken() throws {
    try environment.put("a", "1")
    var handle: OpaquePointer?
    #expect(unsafe environment.readers.begin(&handle, in: environment.handle) == MDB_SUCCESS)
    let reader = unsafe ReaderHandle(handle: try #require(unsafe handle))
    defer { environment.readers.end(reader) }
    try environment.put("a", "2")
    let pages = unsafe try environment.readers.pages(pinnedBy: reader.handle, of: environment)
    let newest = try environment.usage().transaction
    #expect(pages?.transaction == newest)
    #expect(unsafe UInt64(mdb_txn_id(reader.handle)) == newest)
  }

  @Test("gets .busy when all slots are taken, and a slot when one is free")
  func exhaustion() throws {
    try environment.put("a", "1")
    let held = Mutex<[Held]>([])
    var refusal: StorageError.Kind?
    while refusal == nil {
      refusal = try kind {
        let reader = Held(try ReadTransaction(environment, tables: [table]))
        held.withLock { $0.append(reader) }
      }
      try #require(held.withLock { $0.count } <= 1024)
    }
    #expect(refusal == .busy)
    #expect(held.withLock { $0.count } == 1024)
    #expect(try kind { _ = try environment.get("a") } == .busy)
    try environment.put("a", "2")
    held.withLock { _ = $0.removeLast() }
    #expect(try environment.get("a") == "2")
    held.withLock { $0.removeAll() }
    #expect(environment.health.failure == nil)
  }

  /// A transaction in an array.
  private final class Held: Sendable {
    let transaction: ReadTransaction
    init(_ transaction: consuming ReadTransaction) { self.transaction = transaction }
  }

  @Test("shows eight threads one moment while a writer commits")
  func shared() throws {
    try write(round: 0)
    let transaction = try ReadTransaction(environment, tables: [table])
    let access = transaction.access
    let (environment, table) = (environment, table)
    let differences = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 9) { thread in
      do {
        if thread == 0 {
          for round in 1...30 { try write(round: round) }
        } else {
          for _ in 0..<20 where try !Self.isWhole(access, table, round: 0) {
            differences.wrappingAdd(1, ordering: .relaxed)
          }
        }
      } catch {
        Issue.record(error)
      }
    }
    #expect(differences.load(ordering: .relaxed) == 0)
    let newest = try ReadTransaction(environment, tables: [table])
    #expect(try Self.isWhole(newest.access, table, round: 30))
  }

  private func write(round: Int) throws {
    try environment.write { transaction, table in
      for number in 0..<200 { try transaction.put(table, "\(number)", "round \(round)") }
    }
  }

  /// True if all entries are there and of one round, by lookup and by walking.
  private static func isWhole(_ access: Access, _ table: Table, round: Int) throws -> Bool {
    for number in 0..<200 where try access.get(table, "\(number)") != "round \(round)" {
      return false
    }
    var cursor = try Cursor(access, table)
    var count = 0
    var isThere = try cursor.first()
    while isThere {
      if cursor.withEntry({ _, value in value.text }) != "round \(round)" { return false }
      count += 1
      isThere = try cursor.next()
    }
    return count == 200
  }

  @Test("that meets damage when it begins leaves nothing open")
  func damaged() throws {
    try write(round: 0)
    try damageMainTable()
    // The first table reaches the damage, and the second uses the transaction that has failed.
    #expect(try kind { _ = try ReadTransaction(environment, tables: [table, table]) } != nil)
    try environment.growMap(headroom: 1 << 25)
    #expect(try environment.usage().mapBytes > 1 << 25)
  }

  /// Makes the root of the table of tables neither branch nor leaf.
  private func damageMainTable() throws {
    let file = try PageFile(path: directory.data)
    let root = try FileCheck.check(file).main.root
    file.close()
    let descriptor = unsafe open(directory.data, O_WRONLY)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let flags: [UInt8] = [0, 0]
    try #require(unsafe pwrite(descriptor, flags, 2, off_t(root * 4096 + 10)) == 2)
  }

  @Test("of a moment keeps its pages, which are used again when it has ended")
  func pages() throws {
    try write(round: 0)
    let before = try environment.usage().usedBytes
    do {
      let transaction = try ReadTransaction(environment, tables: [table])
      for round in 1...100 { try write(round: round) }
      #expect(try Self.isWhole(transaction.access, table, round: 0))
    }
    let held = try environment.usage().usedBytes
    #expect(held > 4 * before)
    for round in 0..<100 { try write(round: round) }
    #expect(try environment.usage().usedBytes <= held + 65_536)
  }
}
