import Testing

@testable import LMDB

/// Two processes on one environment. The second one is an exit test: this program, started again.
@Suite("Two processes")
struct ProcessTests {
  private let directory: ScratchDirectory

  init() throws { directory = try ScratchDirectory() }

  @Test("see each other's commits, and each takes over the map that the other has grown")
  func growth() async throws {
    let environment = try directory.open(mapSize: 1 << 20)
    try environment.put("a", "1")
    let table = try environment.table("words")
    let before = try ReadTransaction(environment, tables: [table]).access.number
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let other = try Environment(at: path, .init(tables: ["words"], mapSize: 1 << 24))
      try other.put("a", String(repeating: "x", count: 3 << 20))
    }
    // Once the file is larger than the map, LMDB begins no transaction here until that is mapped.
    #expect(try environment.get("a")?.utf8.count == 3 << 20)
    #expect(try environment.usage().mapBytes > 3 << 20)
    #expect(try ReadTransaction(environment, tables: [table]).access.number > before)
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let other = try Environment(at: path, .init(tables: ["words"], mapSize: 1 << 26))
      try other.put("b", String(repeating: "x", count: 20 << 20))
    }
    try environment.put("c", "written here")
    #expect(try environment.get("b")?.utf8.count == 20 << 20)
  }

  @Test("a reader that is killed keeps no page alive: its slot is freed")
  func staleReader() async throws {
    let environment = try directory.open()
    try environment.put("a", "1")
    try await killReader()
    environment.clearStaleReaders()
    try expectReuse(environment)
  }

  @Test("a reader that is killed is found by opening")
  func staleReaderAtOpening() async throws {
    try directory.fill(1)
    try await killReader()
    try expectReuse(try directory.open())
  }

  @Test("a reader that is killed is found within 1,000 commits")
  func staleReaderWhileWriting() async throws {
    let environment = try directory.open()
    try environment.put("a", "1")
    try await killReader()
    for number in 0..<1000 { try environment.put("a", "\(number)") }
    try expectReuse(environment)
  }

  /// A process that dies while it reads.
  private func killReader() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = directory.path as String] in
      let other = try Environment(at: path, .init(tables: ["words"], readOnly: true))
      let reader = try ReadTransaction(other, tables: [])
      #expect(reader.access.number > 0)
      kill(getpid(), SIGKILL)
    }
  }

  /// Checks that old pages are used again: without that, 200 commits would take megabytes.
  private func expectReuse(_ environment: Environment) throws {
    let before = try environment.usage().usedBytes
    for number in 0..<200 { try environment.put("a", "\(number)") }
    #expect(try environment.usage().usedBytes - before < 200_000)
  }

  @Test("a writer that is killed leaves nothing, and the next one begins")
  func killedWriter() async throws {
    let environment = try directory.open()
    try environment.put("a", "1")
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = directory.path as String] in
      let other = try Environment(at: path, .init(tables: ["words"]))
      try other.write { transaction, table in
        try transaction.put(table, "a", "2")
        kill(getpid(), SIGKILL)
      }
    }
    try environment.put("b", "3")
    #expect(try environment.get("a") == "1")
    #expect(try environment.get("b") == "3")
  }

  @Test("a child that was forked is refused by every call, and its parent goes on")
  func forked() async throws {
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let environment = try Environment(at: path, .init(tables: ["words"]))
      try environment.put("a", "1")
      let child = try #require(Forking.fork())
      if child == 0 {
        let reading = try? kind { _ = try environment.get("a") }
        let writing = try? kind { try environment.put("a", "2") }
        _exit(reading == .closed && writing == .closed ? 0 : 1)
      }
      #expect(Forking.status(of: child) == 0)
      try environment.put("b", "2")
      #expect(try environment.get("a") == "1")
    }
  }

  #if os(Linux)
    @Test("a writer that has ended leaves no memory taken, committed or not")
    func memory() async throws {
      // In a process of its own, where no other test takes memory meanwhile.
      await #expect(processExitsWith: .success) { [path = directory.path as String] in
        let environment = try Environment(at: path, .init(tables: ["words"], synced: false))
        let table = try environment.table("words")
        func write(_ count: Int) throws {
          for number in 0..<count {
            let transaction = try WriteTransaction(environment)
            try transaction.put(table, "a", "\(number)")
            if number % 10 == 0 { try transaction.commit() }
          }
        }
        try write(1000)
        let before = try ResidentMemory.pages()
        try write(30_000)
        #expect(try ResidentMemory.pages() - before < 1000)
      }
    }
  #endif

  // MARK: A file system that is full

  @Test("a disk that takes nothing gives .diskFull, and writing goes on when it does again")
  func diskFull() async throws {
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let environment = try Environment(at: path, .init(tables: ["words"]))
      try environment.put("a", "1")
      // At a page's border the system refuses the write as a whole.
      try FileSizeLimit.set(Files.size(of: environment.path + "/data.mdb"))
      let large = String(repeating: "x", count: 100_000)
      #expect(try kind { try environment.put("b", large) } == .diskFull)
      #expect(environment.health.failure == nil)
      #expect(try environment.get("a") == "1")
      try FileSizeLimit.set(nil)
      try environment.put("b", large)
      #expect(try environment.get("b") == large)
    }
  }

  @Test("a write that a full disk takes in part leaves nothing")
  func shortWrite() async throws {
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let environment = try Environment(at: path, .init(tables: ["words"]))
      try environment.put("a", "1")
      try FileSizeLimit.set(Files.size(of: environment.path + "/data.mdb") + 10_000)
      let large = String(repeating: "x", count: 100_000)
      #expect(try kind { try environment.put("b", large) } == .diskFull)
      try FileSizeLimit.set(nil)
      #expect(environment.health.failure == nil)
      #expect(try environment.get("b") == nil)
      try environment.put("b", large)
      #expect(try environment.get("a") == "1")
    }
  }

  @Test("a meta page that cannot be written poisons the environment; opening it again decides")
  func metaPage() async throws {
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let environment = try Environment(at: path, .init(tables: ["words"]))
      try environment.put("a", "1")
      try MetaPageDescriptor.breakIt(environment)
      #expect(try kind { try environment.put("a", "2") } != nil)
      #expect(try kind { try environment.put("a", "3") } != nil)
      #expect(environment.health.failure != nil)
      environment.close()
      let reopened = try Environment(at: path, .init(tables: ["words"]))
      #expect(try reopened.get("a") == "1")
      try reopened.put("a", "4")
      #expect(try reopened.get("a") == "4")
    }
  }
}

/// LMDB writes meta pages through a descriptor of their own.
private enum MetaPageDescriptor {
  /// Makes every write through it fail.
  static func breakIt(_ environment: Environment) throws {
    let data = try environment.dataDescriptor()
    let full = unsafe open("/dev/full", O_RDWR)
    try #require(full >= 0)
    var (wanted, found) = (stat(), stat())
    try #require(unsafe fstat(data, &wanted) == 0)
    var count = 0
    for descriptor in 0..<256 as Range<Int32> where descriptor != data {
      guard unsafe fstat(descriptor, &found) == 0, found.st_ino == wanted.st_ino,
        found.st_dev == wanted.st_dev
      else { continue }
      count += 1
      try #require(dup2(full, descriptor) == descriptor)
    }
    try #require(count == 1)
  }
}

#if os(Linux)
  /// The memory of this process.
  private enum ResidentMemory {
    /// The number of pages of 4 KiB.
    static func pages() throws -> Int {
      let descriptor = unsafe open("/proc/self/statm", O_RDONLY)
      defer { close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 200)
      let count = unsafe read(descriptor, &bytes, bytes.count)
      let words = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: " ")
      return try #require(words.count > 1 ? Int(words[1]) : nil)
    }
  }
#endif

/// `fork`, which Swift does not offer, since hardly anything works in such a child.
private enum Forking {
  typealias Function = @convention(c) () -> pid_t

  static func fork() -> pid_t? {
    guard let symbol = unsafe dlsym(nil, "fork") else { return nil }
    return unsafe unsafeBitCast(symbol, to: Function.self)()
  }

  /// Waits for a child and returns how it ended; 0 for success.
  static func status(of child: pid_t) -> Int32 {
    var status: Int32 = -1
    while unsafe waitpid(child, &status, 0) < 0 && errno == EINTR {}
    return status
  }
}

/// The largest file that this process may write, which stands in for a full disk.
private enum FileSizeLimit {
  static func set(_ bytes: UInt64?) throws {
    _ = signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit()
    try #require(unsafe getrlimit(Platform.fileSizeLimit, &limit) == 0)
    limit.rlim_cur = bytes.map { rlim_t($0) } ?? limit.rlim_max
    try #require(unsafe setrlimit(Platform.fileSizeLimit, &limit) == 0)
  }
}
