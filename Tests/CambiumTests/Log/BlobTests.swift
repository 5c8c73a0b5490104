import FoundationEssentials
import LMDB
import Simulation
import Testing

@testable import Cambium

/// Large values: what goes in comes out, is stored once, and damage shows.
@Suite("A blob", .timeLimit(.minutes(1)))
struct BlobTests {
  private static let chunk = 256 << 10

  /// A megabyte that cannot be compressed.
  private static let noise: [UInt8] = {
    var random = SeededGenerator(seed: 1)
    return (0..<(1 << 17)).flatMap { _ in
      let bits = random.next()
      return (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt64($0))) }
    }
  }()

  /// Content of any length, which compresses well or not at all.
  private static func content(_ count: Int, seed: Int = 0, isPlain: Bool = false) -> Data {
    if isPlain {
      return Data(repeating: 7, count: count / 2) + Data(repeating: 9, count: count - count / 2)
    }
    var bytes = Array(noise[seed...])
    while bytes.count < count { bytes += noise }
    return Data(bytes.prefix(count))
  }

  private func pieces(_ blob: Blob, _ database: Database) throws -> [Data] {
    var pieces: [Data] = []
    try database.read { try $0.read(blob) { pieces.append($0) } }
    return pieces
  }

  private func read(_ blob: Blob, _ database: Database) throws -> Data {
    try pieces(blob, database).reduce(into: Data()) { $0.append($1) }
  }

  private func chunks(_ database: Database) throws -> Int {
    let table = try database.information().tables.first { $0.name == "blobs" }
    return try #require(table).entries
  }

  // MARK: Round trip

  @Test(
    "comes back as it was, in chunks, whatever its size",
    arguments: [0, 1, 64, 65, chunk - 1, chunk, chunk + 1, 3 * chunk + 5], [true, false])
  func roundTrip(count: Int, isPlain: Bool) throws {
    try withDatabase { database in
      let content = Self.content(count, isPlain: isPlain)
      let blob = try database.store(content)
      #expect(blob.size == UInt64(count))
      #expect(try read(blob, database) == content)
      let pieces = try pieces(blob, database)
      #expect(pieces.dropLast().allSatisfy { $0.count == Self.chunk })
      #expect(try chunks(database) == max(1, (count + Self.chunk - 1) / Self.chunk))
    }
  }

  @Test("can be stored piece by piece, however the pieces are cut")
  func streaming() throws {
    try withDatabase { database in
      let content = Self.content(20 << 20)
      let blob = try database.store { writer in
        var offset = 0
        var count = 1
        while offset < content.count {
          let end = min(offset + count, content.count)
          try writer.append(content[offset..<end])
          (offset, count) = (end, count * 3 % 1_000_003 + 1)
        }
      }
      #expect(try read(blob, database) == content)
      #expect(try database.store(content) == blob)
      #expect(try chunks(database) == 80)
    }
  }

  @Test("is stored once, and takes no place in the log of transactions")
  func once() throws {
    try withDatabase { database in
      let content = Self.content(Self.chunk + 1)
      let blob = try database.store(content)
      #expect(try database.store(content) == blob)
      #expect(try database.write { tx in try tx.store(content) } == blob)
      #expect(try chunks(database) == 2)
      #expect(try database.head == 0)
      #expect(try database.store(Self.content(Self.chunk + 1, seed: 2)) != blob)
      #expect(try chunks(database) == 4)
    }
  }

  @Test("stays when the database is closed, rebuilt and copied")
  func durable() throws {
    let place = try Place()
    let content = Self.content(2 * Self.chunk, isPlain: true)
    let blob = try place.use { database in
      try database.write { tx in
        let blob = try tx.store(content)
        try tx.set("film", to: ["name": "Metropolis", "data": .blob(blob)])
        return blob
      }
    }
    try place.use { database in
      try database.rebuild()
      #expect(try database.read { try $0["film"]["data"] } == .blob(blob))
      #expect(try read(blob, database) == content)
      try database.replay(to: place.beside("copy"))
      try expectSound(database)
    }
    let copy = try Database(at: place.beside("copy"))
    #expect(try read(blob, copy) == content)
    try expectSound(copy)
  }

  @Test("can be read from a snapshot of the past, of a value that has gone")
  func past() throws {
    try withDatabase { database in
      let content = Self.content(1000)
      try database.write { tx in try tx.set("a", to: .blob(try tx.store(content))) }
      try database.write { tx in try tx.remove("a") }
      try database.read(at: .sequence(1)) { snapshot in
        guard case .blob(let blob)? = try snapshot["a"].value else {
          Issue.record("there is no blob")
          return
        }
        var pieces: [Data] = []
        try snapshot.read(blob) { pieces.append($0) }
        #expect(Data(pieces.joined()) == content)
      }
    }
  }

  // MARK: Nothing

  private struct Refusal: Error {}

  @Test("of a transaction that throws is not there, and one after it is")
  func thrown() throws {
    try withDatabase { database in
      #expect(throws: Refusal.self) {
        try database.write { tx in
          try tx.set("a", to: .blob(try tx.store(Self.content(1000))))
          throw Refusal()
        }
      }
      #expect(try chunks(database) == 0)
      #expect(try database.read { try !$0["a"].exists })
      try database.write { tx in try tx.set("a", to: .blob(try tx.store(Self.content(1000)))) }
      #expect(try chunks(database) == 1)
    }
  }

  @Test("whose content stops with an error leaves nothing")
  func interrupted() throws {
    try withDatabase { database in
      #expect(throws: Refusal.self) {
        try database.store { writer in
          try writer.append(Self.content(1000))
          throw Refusal()
        }
      }
      #expect(try chunks(database) == 0)
      let names = try Files.names(in: database.path)
      #expect(names == ["log", "state-1", "wake", "write.lock", "write.lock.wait"])
    }
  }

  @Test("cannot be stored by itself inside a write, which says so")
  func insideWrite() throws {
    try withDatabase { database in
      try database.write { tx in
        let error = #expect(throws: DatabaseError.self) {
          try database.store(Self.content(1000))
        }
        guard case .misuse? = error else { throw Refusal() }
        try tx.set("a", to: .blob(try tx.store(Self.content(1000))))
      }
      #expect(try chunks(database) == 1)
    }
  }

  // MARK: Damage

  @Test("that is missing or damaged gives an error that says so", arguments: Damage.allCases)
  func damaged(damage: Damage) throws {
    let place = try Place()
    let blob = try place.use { database in
      let blob = try database.store(Self.content(3 * Self.chunk))
      try database.write { tx in try tx.set("a", to: .blob(blob)) }
      return blob
    }
    try place.editLog { transaction, tables in
      try damage.apply(blob, transaction, tables)
    }
    try place.use { database in
      let error = #expect(throws: DatabaseError.self) { try read(blob, database) }
      guard case .corrupt? = error else {
        Issue.record("\(error as Any)")
        return
      }
      let findings = try database.verify().findings
      #expect(findings != [])
    }
  }

  enum Damage: CaseIterable {
    case bit, missing, exchanged, cut

    func apply(
      _ blob: Blob, _ transaction: borrowing WriteTransaction, _ tables: LogTables
    ) throws {
      let (first, second) = (blob.key(0), blob.key(1))
      let stored = try second.lend { try transaction.access.get(tables.blobs, $0) { $0.array() } }
      var chunk = try #require(stored)
      switch self {
      case .bit: chunk[chunk.count / 2] ^= 1
      case .cut: chunk.removeLast(1000)
      case .exchanged:
        try first.lend { key in try chunk.lend { try transaction.put(tables.blobs, key, $0) } }
      case .missing:
        _ = try second.lend { try transaction.delete(tables.blobs, $0) }
        return
      }
      try second.lend { key in try chunk.lend { try transaction.put(tables.blobs, key, $0) } }
    }
  }

  @Test("that was never stored gives an error that says so")
  func unknown() throws {
    try withDatabase { database in
      let blob = Blob(hash: [UInt8](repeating: 1, count: 32), size: 5)
      let error = #expect(throws: DatabaseError.self) { try read(blob, database) }
      guard case .corrupt? = error else {
        Issue.record("\(error as Any)")
        return
      }
    }
  }
}
