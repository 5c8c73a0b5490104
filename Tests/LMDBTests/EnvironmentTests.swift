import CLMDB
import Testing

@testable import LMDB

/// Opening, reading and closing an environment, and when it refuses to be opened or written.
@Suite("An environment")
struct EnvironmentTests {
  private let directory: ScratchDirectory

  init() throws { directory = try ScratchDirectory() }

  @Test(
    "has no flags but MDB_NOTLS, and MDB_NOSYNC where no commit waits", arguments: [true, false])
  func flags(synced: Bool) throws {
    let environment = try directory.open(synced: synced)
    var flags: UInt32 = 0
    #expect(unsafe mdb_env_get_flags(environment.handle, &flags) == MDB_SUCCESS)
    let wanted = synced ? UInt32(MDB_NOTLS) : UInt32(MDB_NOTLS | MDB_NOSYNC)
    #expect(flags & 0x0FFF_FFFF == wanted)
  }

  @Test("has room for 1,024 readers")
  func readers() throws {
    var count: UInt32 = 0
    let environment = try directory.open()
    #expect(unsafe mdb_env_get_maxreaders(environment.handle, &count) == MDB_SUCCESS)
    #expect(count == 1024)
  }

  // MARK: Opening

  @Test("is open once in a process, by whatever path, and again after closing")
  func openedTwice() throws {
    let link = "\(directory.path).link"
    #expect(unsafe symlink(directory.path, link) == 0)
    defer { _ = unsafe unlink(link) }
    let environment = try directory.open()
    #expect(try kind { _ = try directory.open() } == .alreadyOpen)
    #expect(
      try kind { _ = try Environment(at: "\(directory.path)/.", .init(tables: [])) }
        == .alreadyOpen)
    #expect(try kind { _ = try Environment(at: link, .init(tables: [])) } == .notRegular)
    #expect(
      try kind { _ = try Environment(at: Files.resolved(link), .init(tables: [])) }
        == .alreadyOpen)
    try environment.put("a", "1")
    environment.close()
    #expect(try directory.open().get("a") == "1")
  }

  @Test("can be opened after an opening that failed")
  func openedAfterFailure() throws {
    #expect(try kind { _ = try directory.open(readOnly: true) } == .missing)
    try directory.open().put("a", "1")
    #expect(try kind { _ = try directory.open(tables: ["none"], readOnly: true) } == .corrupt)
    #expect(try directory.open(readOnly: true).get("a") == "1")
  }

  @Test("cannot be opened where there is no directory")
  func noDirectory() throws {
    let options = Environment.Options(tables: [])
    #expect(
      try kind { _ = try Environment(at: "\(directory.path)/none", options) } == .missing)
    #expect(try Files.names(in: directory.path).isEmpty)
  }

  @Test("refuses a damaged file, and leaves it as it is", arguments: Damage.allCases)
  func damaged(damage: Damage) throws {
    try directory.fill(100)
    try damage.apply(to: directory.data)
    let size = Files.size(of: directory.data)
    for isReadOnly in [false, true] {
      #expect(throws: FileDamage.self) { try directory.open(readOnly: isReadOnly) }
    }
    #expect(Files.size(of: directory.data) == size)
  }

  enum Damage: CaseIterable {
    case empty, halved, foreign, onePage

    func apply(to path: String) throws {
      switch self {
      case .empty: #expect(unsafe truncate(path, 0) == 0)
      case .onePage: #expect(unsafe truncate(path, 4096) == 0)
      case .halved: #expect(unsafe truncate(path, off_t(Files.size(of: path) / 2)) == 0)
      case .foreign: try ScratchFile.store([UInt8](repeating: 0x5A, count: 65_536), at: path)
      }
    }
  }

  @Test("knows only the tables that it was opened with")
  func tables() throws {
    let environment = try directory.open(tables: ["words", "numbers"])
    #expect(try environment.table("words") != environment.table("numbers"))
    #expect(try kind { _ = try environment.table("none") } == .invalid)
  }

  // MARK: Reading only

  @Test("that is open for reading only refuses to be written")
  func readOnly() throws {
    try directory.fill(3)
    let environment = try directory.open(readOnly: true)
    #expect(try environment.get("word 2") == "value 2")
    #expect(try kind { try environment.put("a", "1") } == .readOnly)
    #expect(environment.health.failure == nil)
  }

  // MARK: Closing

  @Test("begins nothing after it was closed, and can be closed twice")
  func closed() throws {
    let environment = try directory.open()
    environment.close()
    environment.close()
    #expect(try kind { _ = try environment.get("a") } == .closed)
    #expect(try kind { try environment.put("a", "1") } == .closed)
    #expect(try kind { _ = try environment.usage() } == .closed)
    #expect(try kind { try environment.sync() } == .closed)
    #expect(try kind { try environment.growMap(headroom: 1) } == .closed)
  }

  @Test("that is closed under a reader serves it to its end")
  func closedUnderReader() throws {
    let environment = try directory.open()
    try environment.put("a", "1")
    let table = try environment.table("words")
    let reader = try ReadTransaction(environment, tables: [table])
    environment.close()
    let found = try reader.access.get(table, "a")
    #expect(found == "1")
  }

  @Test("that is closed under a reader begins nothing more")
  func closedForNewReaders() throws {
    let environment = try directory.open()
    try environment.put("a", "1")
    let reader = try ReadTransaction(environment, tables: [])
    environment.close()
    #expect(try kind { _ = try environment.get("a") } == .closed)
    #expect(try kind { try environment.put("a", "2") } == .closed)
    #expect(reader.access.number > 0)
  }

  @Test("that was released can be opened again")
  func released() throws {
    for number in 0..<3 { try directory.open().put("a", "\(number)") }
    #expect(try directory.open().get("a") == "2")
  }

  // MARK: Poison

  @Test("that is poisoned refuses to be written, says why, and can be read")
  func poisoned() throws {
    let environment = try directory.open()
    try environment.put("a", "1")
    environment.health.poison(StorageError(.inputOutput, "the disk is on fire"))
    environment.health.poison(StorageError(.corrupt, "the second reason"))
    #expect(environment.health.failure != nil)
    let error = #expect(throws: StorageError.self) { try environment.put("a", "2") }
    #expect(error?.kind == .closed)
    #expect(error?.description.contains("the disk is on fire") == true)
    #expect(try environment.get("a") == "1")
    environment.close()
    try directory.open().put("a", "3")
  }

  @Test(
    "whose files are replaced, removed or moved refuses to be written", arguments: Loss.allCases)
  func replaced(loss: Loss) throws {
    let environment = try directory.open()
    try environment.put("a", "1")
    try loss.happen(in: directory.path)
    defer { loss.undo(in: directory.path) }
    #expect(try kind { try environment.put("a", "2") } == .closed)
    #expect(environment.health.failure != nil)
    #expect(try environment.get("a") == "1")
  }

  enum Loss: CaseIterable {
    case dataRemoved, dataReplaced, lockRemoved, lockReplaced, directoryMoved

    func happen(in path: String) throws {
      let file = "\(path)/\(self == .dataRemoved || self == .dataReplaced ? "data" : "lock").mdb"
      switch self {
      case .dataRemoved, .lockRemoved: #expect(unsafe unlink(file) == 0)
      case .dataReplaced, .lockReplaced:
        let bytes = try ScratchFile.contents(of: file)
        #expect(unsafe unlink(file) == 0)
        try ScratchFile.store(bytes, at: file)
      case .directoryMoved: try Files.rename(path, to: "\(path).moved")
      }
    }

    func undo(in path: String) {
      if self == .directoryMoved { try? Files.rename("\(path).moved", to: path) }
    }
  }

  // MARK: The map

  @Test("doubles its map up to the maximum, and says when that is reached")
  func growth() throws {
    let environment = try directory.open(mapSize: 1 << 20, mapSizeMax: 1 << 22)
    #expect(try environment.usage().mapBytes == 1 << 20)
    #expect(try environment.hasRoom(for: 1 << 19))
    try environment.growMap(headroom: 1 << 19)
    #expect(try environment.usage().mapBytes == 1 << 20)
    #expect(try !environment.hasRoom(for: 1 << 20))
    try environment.growMap(headroom: 1 << 20)
    #expect(try environment.usage().mapBytes == 1 << 21)
    #expect(try kind { try environment.growMap(headroom: 1 << 22) } == .mapFull)
    try environment.put("a", "1")
    #expect(environment.health.failure == nil)
  }
}
