import Testing

@testable import LMDB

/// Names are looked up in directories that are open, and no link is followed.
@Suite("A directory")
struct DirectoryTests {
  private let scratch: ScratchDirectory

  init() throws { scratch = try ScratchDirectory() }

  private func link(_ name: String, to target: String) {
    #expect(unsafe symlink(target, "\(scratch.path)/\(name)") == 0)
  }

  @Test("is not reached over a link, wherever in the path it is")
  func links() throws {
    try Files.createDirectory("\(scratch.path)/real")
    try Files.createDirectory("\(scratch.path)/real/inner")
    _ = try FileWriter(creating: "\(scratch.path)/real/inner/file")
    link("alias", to: "real")
    link("real/file", to: "inner/file")
    for path in ["alias/inner/file", "alias", "real/file"] {
      let path = "\(scratch.path)/\(path)"
      #expect(try kind { _ = try FileReader(path) } == .notRegular)
    }
    #expect(Files.exists("\(scratch.path)/real/inner/file"))
    #expect(!Files.exists("\(scratch.path)/alias/inner/file"))
    #expect(Files.isLink("\(scratch.path)/alias"))
    let resolved = Files.resolved("\(scratch.path)/alias/inner/new")
    #expect(resolved == Files.resolved(scratch.path) + "/real/inner/new")
    #expect(Files.exists(Files.resolved("\(scratch.path)/alias/inner/file")))
  }

  @Test("lies in a file system whose room is known")
  func room() throws {
    let free = try #require(Files.freeBytes(at: scratch.path))
    let total = try #require(Files.totalBytes(at: "\(scratch.path)/file"))
    #expect(free > 0 && free <= total)
    #expect(Files.freeBytes(at: "\(scratch.path)/missing") == nil)
  }

  @Test("is the same one, opened at once or part by part")
  func walking() throws {
    try Files.createDirectory("\(scratch.path)/real")
    try Files.createDirectory("\(scratch.path)/real/\u{301}inner")
    _ = try FileWriter(creating: "\(scratch.path)/real/file")
    link("alias", to: "real")
    link("loop", to: "loop")
    let paths = [
      "", "/", "//", ".", "..", "real", "real/", "//real//.//\u{301}inner", "real/../real", "alias",
      "alias/\u{301}inner", "real/../alias/\u{301}inner", "loop", "loop/x", "real/file",
      "real/file/x", "none", "none/x", String(repeating: "x", count: 300),
    ]
    var refused: [StorageError.Kind: Int] = [:]
    for path in paths.map({ "\(scratch.path)/\($0)" }) + ["", ".", "..", "/", "//", "none"] {
      let (atOnce, walked) = (opened(path, Directory.open), opened(path, Directory.walk))
      #expect(atOnce == walked, "\(path)")
      if case .failure(let error) = walked { refused[error.kind, default: 0] += 1 }
    }
    #expect(refused[.notRegular] == 7)
    #expect(refused[.missing] == 3)
  }

  private func opened(
    _ path: String, _ open: (String) throws(StorageError) -> Directory
  ) -> Result<Files.Identity?, StorageError> {
    do throws(StorageError) { return .success(try open(path).identity) } catch {
      return .failure(error)
    }
  }

  @Test(
    "has a name and a parent, as the system reads its path",
    arguments: [
      ("a", ".", "a"), ("/a", "/", "a"), ("a/b", "a", "b"), ("/a/b/", "/a", "b"),
      ("a/\u{301}b", "a", "\u{301}b"), ("/", "/", "/"), ("//", "/", "/"), ("", ".", ""),
      (".", ".", "."), ("a//b", "a/", "b"), ("./..", ".", ".."), ("/é/ü", "/é", "ü"),
    ])
  func names(path: String, parent: String, name: String) {
    #expect(Files.parent(of: path) == parent)
    #expect(Files.name(of: path) == name)
  }

  @Test("is removed with all in it, and of links only the links go")
  func removal() throws {
    let (outside, inside) = ("\(scratch.path)/outside", "\(scratch.path)/inside")
    for path in [outside, inside, "\(inside)/deep", "\(inside)/deep/deeper"] {
      try Files.createDirectory(path)
    }
    _ = try FileWriter(creating: "\(outside)/kept")
    #expect(unsafe symlink(outside, "\(inside)/deep/link") == 0)
    #expect(unsafe mkfifo("\(inside)/deep/pipe", 0o600) == 0)
    try Files.removeDirectory(inside)
    #expect(!Files.exists(inside))
    #expect(try Files.names(in: outside) == ["kept"])
  }

  @Test("does not wait for a pipe")
  func pipe() throws {
    let path = "\(scratch.path)/pipe"
    #expect(unsafe mkfifo(path, 0o600) == 0)
    #expect(try kind { _ = try FileReader(path) } == .notRegular)
    #expect(try kind { _ = try WakeFile(path: path) } == .notRegular)
    #expect(try kind { _ = try FileLock(path: path) } == .notRegular)
    #expect(throws: FileDamage.self) { _ = try PageFile(path: path) }
    #expect(try kind { try Files.sync(path) } == .notRegular)
  }

  @Test("gives its permissions to what is created in it")
  func permissions() throws {
    for mode in [0o700, 0o750, 0o770] as [mode_t] {
      let path = "\(scratch.path)/\(mode)"
      try Files.createDirectory(path)
      #expect(unsafe chmod(path, mode) == 0)
      try Files.createDirectory("\(path)/inner")
      _ = try FileWriter(creating: "\(path)/inner/file")
      #expect(DirectoryTests.mode(of: "\(path)/inner") == mode)
      #expect(DirectoryTests.mode(of: "\(path)/inner/file") == mode & 0o666)
    }
  }

  private static func mode(of path: String) -> mode_t? {
    (try? DirectoryEntry(path).status).flatMap { $0.map { $0.st_mode & 0o777 } }
  }

  @Test("with an environment has a lock file with all its disk blocks, and as many readers as ever")
  func lockFile() throws {
    let environment = try scratch.open()
    let lock = "\(scratch.path)/lock.mdb"
    #expect(Files.allocated(lock) >= Files.size(of: lock))
    #expect(Files.size(of: lock) >= 1023 * 64)
    environment.close()
    // One that is sparse, as LMDB alone makes it, gets its blocks when it is opened again.
    #expect(unsafe truncate(lock, 0) == 0)
    #expect(unsafe truncate(lock, 65_664) == 0)
    #expect(Files.allocated(lock) == 0)
    let again = try scratch.open()
    #expect(Files.allocated(lock) >= Files.size(of: lock))
    again.close()
  }

  @Test(
    "with an environment whose file was replaced by a link is refused",
    arguments: [
      "data.mdb", "lock.mdb",
    ])
  func linkedEnvironment(name: String) throws {
    try scratch.fill(10)
    let other = try ScratchDirectory()
    try other.fill(10)
    let before = try FileReader(other.data).read(1 << 20)
    try Files.remove("\(scratch.path)/\(name)")
    link(name, to: "\(other.path)/\(name)")
    #expect(throws: (any Error).self) { try scratch.open() }
    #expect(try FileReader(other.data).read(1 << 20) == before)
    try Files.remove("\(scratch.path)/\(name)")
  }

  @Test("has room in reserve that can be given up and set aside again")
  func reserve() throws {
    let path = "\(scratch.path)/reserve"
    let reserve = try Reserve(path: path, bytesMax: 1 << 16)
    #expect(!reserve.release())
    try reserve.fill()
    #expect(Files.allocated(path) >= 1 << 16)
    try reserve.fill()
    #expect(reserve.release())
    #expect(Files.allocated(path) == 0)
    // One who is alone with it looks at it again only after giving it up.
    try reserve.fill(isAlone: true)
    #expect(Files.allocated(path) >= 1 << 16)
    #expect(try Reserve(path: path, bytesMax: 1 << 16).release())
    try reserve.fill(isAlone: true)
    #expect(Files.allocated(path) == 0)
    try reserve.fill()
    #expect(try Reserve(path: path, bytesMax: 1 << 16).release())
  }
}
