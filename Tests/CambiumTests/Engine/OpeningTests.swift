import FoundationEssentials
import LMDB
import Simulation
import Testing

@testable import Cambium

/// Opening a path, whatever is there, and what becomes of it. An opening that may not create a
/// database creates nothing.
@Suite("Opening", .timeLimit(.minutes(1)))
struct OpeningTests {
  private let place: Place

  init() throws { place = try Place() }

  /// Ways to open that must not create anything.
  enum Way: CaseIterable {
    case readOnly, withoutCreating

    func configure(_ options: inout Database.Options) {
      if self == .readOnly { options.readOnly = true } else { options.createIfMissing = false }
    }
  }

  private func failure(_ configure: (inout Database.Options) -> Void = { _ in }) throws
    -> DatabaseError?
  {
    do {
      try place.open(configure).close()
      return nil
    } catch let error as DatabaseError {
      return error
    }
  }

  // MARK: Nothing, or something else

  @Test("a missing path is refused where nothing may be created", arguments: Way.allCases)
  func missing(way: Way) throws {
    #expect(try failure(way.configure) == .noDatabase(path: place.path))
    #expect(try place.neighbors == [])
  }

  @Test("a path whose parent is missing is refused")
  func missingParent() throws {
    let path = place.beside("none/test.cambium")
    let error = #expect(throws: DatabaseError.self) { try Database(at: path) }
    #expect(error == .noDatabase(path: place.beside("none")))
  }

  /// Things that are no database.
  enum Thing: CaseIterable {
    case file, fifo, directory, emptyLogDirectory

    func make(at path: String) throws {
      switch self {
      case .file: try Data("hello".utf8).write(to: URL(filePath: path))
      case .fifo: #expect(unsafe mkfifo(path, 0o600) == 0)
      case .directory: try Files.createDirectory(path)
      case .emptyLogDirectory:
        try Files.createDirectory(path)
        try Files.createDirectory("\(path)/log")
      }
    }
  }

  @Test("something else is refused at once, and stays as it is", arguments: Thing.allCases)
  func somethingElse(thing: Thing) throws {
    try thing.make(at: place.path)
    let before = try? place.listing()
    for configure in [{ _ in }, Way.readOnly.configure, Way.withoutCreating.configure] {
      guard case .unsupported(let path, _)? = try failure(configure) else {
        Issue.record("\(thing) is not refused as it should be")
        continue
      }
      #expect(path == place.path)
    }
    let after = try? place.listing()
    #expect(after == before)
    #expect(try place.neighbors == ["test.cambium"])
  }

  @Test(
    "links that lead nowhere are refused, and nothing is left", arguments: ["test.cambium", "none"])
  func badLinks(target: String) throws {
    #expect(unsafe symlink(target, place.path) == 0)
    switch try failure() {
    case .unsupported, .noDatabase, .ioFailure: break
    case let other: Issue.record("\(other as Any)")
    }
    #expect(try place.neighbors == ["test.cambium"])
  }

  @Test("a path may end with a slash")
  func trailingSlash() throws {
    try Database(at: "\(place.path)/").close()
    #expect(try place.neighbors == ["test.cambium"])
    try place.fill(1)
    let database = try Database(at: "\(place.path)//")
    #expect(try database.head == 1)
  }

  @Test("an empty path is refused")
  func emptyPath() {
    let error = #expect(throws: DatabaseError.self) { try Database(at: "") }
    if case .corrupt? = error { Issue.record("it says that something is damaged") }
  }

  // MARK: Damage

  /// The kinds of damage to the log's file.
  enum Damage: CaseIterable {
    case emptied, onePage, halved, foreign, noMeta

    func apply(to path: String) throws {
      switch self {
      case .emptied: #expect(unsafe truncate(path, 0) == 0)
      case .onePage: #expect(unsafe truncate(path, 4096) == 0)
      case .halved: #expect(unsafe truncate(path, off_t(Files.size(of: path) / 2)) == 0)
      case .foreign:
        var random = SeededGenerator(seed: 1)
        let bytes = (0..<100_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        try Data(bytes).write(to: URL(filePath: path))
      case .noMeta:
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes.replaceSubrange(0..<8192, with: Data(repeating: 0, count: 8192))
        try bytes.write(to: URL(filePath: path))
      }
    }
  }

  @Test("a damaged log is refused, and stays as it is", arguments: Damage.allCases)
  func damagedLog(damage: Damage) throws {
    try place.fill(50)
    try damage.apply(to: place.log)
    let before = try place.listing()
    for configure in [{ _ in }, Way.readOnly.configure, Way.withoutCreating.configure] {
      switch try failure(configure) {
      case .corrupt, .unsupported: break
      case let other: Issue.record("\(damage): \(other as Any)")
      }
    }
    #expect(try place.listing() == before)
  }

  @Test("a log of a later format is refused")
  func laterFormat() throws {
    try place.fill(2)
    try place.editLog { transaction, tables in
      var format = FormatEntry(origin: UUID(), created: 0)
      format.version = FormatEntry.versions.upperBound + 1
      try transaction.put(tables.meta, "format", MetaEntry.seal(format.stored(), name: "format"))
    }
    guard case .unsupported(_, let reason)? = try failure() else {
      Issue.record("it is not refused as it should be")
      return
    }
    #expect(reason.contains("its format is 5"))
  }

  @Test("a log whose newest page is torn is refused")
  func tornHead() throws {
    try place.fill(2)
    try place.editLog(keepingHead: true) { transaction, tables in
      try transaction.put(tables.meta, "cursor/x", MetaEntry.seal([0], name: "cursor/x"))
    }
    guard case .corrupt(let reason)? = try failure() else {
      Issue.record("it is not noticed")
      return
    }
    #expect(reason.contains("torn"))
  }

  @Test("a head that is not what was stored is refused")
  func damagedHead() throws {
    try place.fill(2)
    try place.editLog(keepingHead: true) { transaction, tables in
      try transaction.put(tables.meta, "head", LogHead().stored() + [UInt8](repeating: 1, count: 8))
    }
    guard case .corrupt? = try failure() else {
      Issue.record("it is not noticed")
      return
    }
  }

  @Test("another program's LMDB file is refused, and nothing is added to it")
  func foreignEnvironment() throws {
    try Files.createDirectory(place.path)
    try Files.createDirectory("\(place.path)/log")
    do {
      let other = try Environment(at: "\(place.path)/log", .init(tables: ["words"]))
      let transaction = try WriteTransaction(other)
      try transaction.put(try other.table("words"), "a", [1])
      try transaction.commit()
    }
    #expect(try failure() != nil)
    let other = try Environment(
      at: "\(place.path)/log", .init(tables: ["words"], readOnly: true))
    let transaction = try ReadTransaction(other, tables: [])
    let number = transaction.access.number
    #expect(number == 2)
  }

  // MARK: Creating

  @Test("a new database appears under its name only, without leftovers")
  func creation() throws {
    try place.fill(1)
    #expect(try place.neighbors == ["test.cambium"])
    #expect(try place.names == ["log", "state-1", "wake", "write.lock", "write.lock.wait"])
  }

  @Test("what crashes have left is swept")
  func leftovers() throws {
    try place.fill(3)
    for name in ["state-9", "state-2.tmp", "verify-1.tmp"] {
      try Files.createDirectory("\(place.path)/\(name)")
      try Data("x".utf8).write(to: URL(filePath: "\(place.path)/\(name)/data.mdb"))
    }
    try Files.createDirectory("\(place.path).1.tmp")
    try place.expectSound()
    #expect(try place.names == ["log", "state-1", "wake", "write.lock", "write.lock.wait"])
    #expect(try place.neighbors == ["test.cambium"])
    try place.use { try $0.rebuild() }
    #expect(try place.names.filter { $0.hasPrefix("state-") } == ["state-2"])
  }

  @Test("what somebody is at work on, or may have made for another purpose, stays")
  func noLeftovers() throws {
    try place.fill(1)
    let verify = try ClaimedDirectory(creating: "\(place.path)/verify-2.tmp")
    let creation = try ClaimedDirectory(creating: "\(place.path).3.tmp")
    for name in ["4.tmp", "backup.tmp", "5"] {
      try Files.createDirectory("\(place.path).\(name)")
    }
    try Files.createDirectory("\(place.path).4.tmp/photos")
    try place.expectSound()
    #expect(try place.names.contains("verify-2.tmp"))
    #expect(
      try place.neighbors
        == ["", ".3.tmp", ".4.tmp", ".5", ".backup.tmp"].map { "test.cambium\($0)" })
    withExtendedLifetime((verify, creation)) {}
  }

  @Test("while a process of another container has it open is refused, and works after that")
  func otherNamespace() throws {
    try place.fill(1)
    for readOnly in [false, true] {
      var other = try NamespaceClaim(path: place.log, namespace: "another")
      #expect(other != nil)
      guard case .unsupported(_, let reason)? = try failure({ $0.readOnly = readOnly }) else {
        Issue.record("it is opened, readOnly: \(readOnly)")
        return
      }
      #expect(reason.contains("container"))
      other = nil
      try place.use({ $0.readOnly = readOnly }) { database in
        #expect(throws: StorageError.self) {
          try NamespaceClaim(path: place.log, namespace: "another")
        }
        let head = try database.head
        #expect(head == 1)
      }
    }
    try place.expectSound()
  }

  @Test("several processes may create one database at the same time; all of them have it then")
  func race() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask { [path = place.path] in
          await #expect(processExitsWith: .success) {
            [path = path as String, number = number as Int] in
            let database = try Database(at: path)
            try await database.write { tx in
              try tx.set(NodePath(keys: ["n", .integer(Int64(number))]), to: 1)
            }
            try await database.close()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try place.use { try $0.head } == 4)
    try place.expectSound()
    #expect(try place.neighbors == ["test.cambium"])
  }

  // MARK: Twice

  @Test("a database is open once in a process, by whatever path")
  func twice() throws {
    try place.use { database in
      #expect(unsafe symlink(place.path, place.beside("link")) == 0)
      for path in [place.path, "\(place.path)/.", place.beside("link")] {
        let error = #expect(throws: DatabaseError.self) { try Database(at: path) }
        guard case .alreadyOpen? = error else {
          Issue.record("\(path): \(error as Any)")
          continue
        }
      }
      try database.write { tx in try tx.set("a", to: 1) }
    }
    try place.expectSound()
  }

  @Test(
    "a database can be opened again once it was closed, let go of, or failed to open"
  )
  func again() throws {
    for number in 1...3 as ClosedRange<Int64> {
      let database = try place.open()
      try database.write { tx in try tx.set("a", to: .integer(number)) }
      if number == 1 { try database.close() }
    }
    #expect(throws: CancellationError.self) {
      try place.use { try $0.rebuild { _ in false } }
    }
    #expect(try place.use { try $0.read { try $0["a"].value } } == 3)
    try place.expectSound()
  }

  @Test("a database that a snapshot keeps open is refused until that goes")
  func heldSnapshot() throws {
    try place.fill(2)
    do {
      let database = try place.open()
      let snapshot = try database.snapshot()
      try database.close()
      guard case .alreadyOpen? = try failure() else {
        Issue.record("it is not refused as it should be")
        return
      }
      #expect(try snapshot["n/2"].value == 2)
    }
    try place.expectSound()
  }

  @Test("a database that was closed refuses every call, and can be closed again")
  func closed() async throws {
    let database = try place.open()
    try await database.write { tx in try tx.set("a", to: 1) }
    try await database.close()
    try await database.close()
    let calls: [() throws -> Void] = [
      { _ = try database.head }, { try database.write { tx in try tx.set("a", to: 2) } },
      { _ = try database.snapshot() }, { _ = try database.commits() },
      { _ = try database.information() }, { _ = try database.verify() }, { try database.rebuild() },
      { _ = try database.store(Data([1])) }, { _ = try database.sequence(at: Date()) },
      { _ = try database.consumer("c").position() }, { _ = try database.commit(1) },
      { try database.replay(to: "\(database.path).copy") },
    ]
    for (index, call) in calls.enumerated() {
      let error = #expect(throws: DatabaseError.self, "call \(index)") { try call() }
      guard case .closed? = error else {
        Issue.record("call \(index): \(error as Any)")
        continue
      }
    }
    await #expect(throws: DatabaseError.self) {
      try await database.write { tx in try tx.set("a", to: 2) }
    }
    try place.expectSound()
  }

  // MARK: Without blocking

  @Test("can be done without blocking, and cancelled")
  func async() async throws {
    try place.fill(3)
    let database = try await Database.open(at: place.path)
    #expect(try database.head == 3)
    try await database.close()
    await #expect(throws: DatabaseError.self) {
      try await Database.open(at: place.beside("none/x"))
    }
  }
}
