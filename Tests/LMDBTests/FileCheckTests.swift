import LMDB
import Synchronization
import Testing

@Suite("The check before opening")
struct FileCheckTests {
  static func sound() throws -> [UInt8] { try PageCheckTests.image() }

  /// The error for a file with these bytes, or nil.
  static func refusal(of image: [UInt8]) throws -> FileDamage? {
    let environment = try ScratchEnvironment(image: image)
    do {
      try FileCheck.check(environment.file)
      return nil
    } catch {
      return error
    }
  }

  @Test("accepts what LMDB wrote, and says its newest transaction")
  func acceptsSoundFiles() throws {
    let environment = try ScratchEnvironment(image: Self.sound())
    let meta = try FileCheck.check(environment.file)
    #expect(meta.transactionID == 3 && meta.main.entries == 2)
    #expect(try FileCheck.pageSize(of: environment.file) == FileCheck.pageSize)
    let descriptor = unsafe open(environment.file, O_RDONLY)
    #expect(try FileCheck.check(descriptor: descriptor) == meta)
    #expect(lseek(descriptor, 0, SEEK_CUR) == 0 && close(descriptor) == 0)
  }

  @Test("refuses files that are not LMDB's", arguments: [0, 1, 16, 152, 4096, 8191, 8192, 100_000])
  func refusesForeignFiles(count: Int) throws {
    var random = SeededGenerator(seed: count)
    for image in [[UInt8](repeating: 0, count: count), random.bytes(count)] {
      guard case .notEnvironment = try Self.refusal(of: image) else {
        Issue.record("\(count) bytes: \(String(describing: try Self.refusal(of: image)))")
        continue
      }
    }
  }

  @Test("refuses what is not a regular file, without blocking")
  func refusesOtherFileTypes() throws {
    let environment = try ScratchEnvironment()
    #expect(unsafe mkfifo(environment.file, 0o600) == 0)
    for path in [environment.file, environment.directory, "/dev/null"] {
      #expect(throws: FileDamage.notEnvironment(reason: "it is not a regular file")) {
        try FileCheck.check(path)
      }
    }
    _ = unsafe unlink(environment.file)
    let missing = #expect(throws: FileDamage.self) { try FileCheck.check(environment.file) }
    #expect(missing?.storageError.kind == .missing)
    #expect(unsafe symlink(environment.file, environment.file) == 0)
    #expect(throws: FileDamage.notEnvironment(reason: "it is not a regular file")) {
      try FileCheck.check(environment.file)
    }
  }

  @Test("accepts the older meta page as LMDB leaves it when the newer one could not be written")
  func acceptsFailedCommits() throws {
    var edited = EditedImage(bytes: try Self.sound())
    let (newest, older) = (edited.meta, 4096 - edited.meta)
    for (place, value) in [(136, 2), (128, edited.u64(newest + 136))] {
      edited.set(u64: value, at: older + place)
    }
    #expect(try Self.refusal(of: edited.bytes) == nil)
    edited.set(u64: 4000, at: older + 128)
    #expect(try Self.refusal(of: edited.bytes) == nil)
    edited.set(u64: 4000, at: newest + 128)
    #expect(try Self.refusal(of: edited.bytes) != nil)
  }

  static let cases: [FileEdit] = [
    FileEdit("damaged: page 0: it is no meta page") { $0.set(u64: 0, at: 16) },
    FileEdit("damaged: page 1: it is no meta page") { $0.set(u64: 0, at: 4096 + 16) },
    FileEdit("damaged: page 1: it is no meta page") { $0.set(u16: 2, at: 4096 + 10) },
    FileEdit("the other byte order") { image in
      for meta in [0, 4096] { image.set(u32: 0xDEC0_EFBE, at: meta + 16) }
    },
    FileEdit("its format version is 999, not 1") { $0.set(u32: 999, at: 20) },
    FileEdit("its pages have 16384 bytes, not 4096") { $0.set(u32: 16384, at: 40) },
    FileEdit("its pages have 0 bytes, not 4096") { $0.set(u32: 0, at: $0.meta + 40) },
    FileEdit("has the flags 0x9 and 0x0") { $0.set(u16: 9, at: 44) },
    FileEdit("has the flags 0x8 and 0x4") { $0.set(u16: 4, at: 92) },
    FileEdit("0 is the last page of") { $0.set(u64: 0, at: $0.meta + 136) },
    FileEdit("is the last page of") { $0.set(u64: .max, at: $0.meta + 136) },
    FileEdit("is the last page of") { $0.set(u64: 1 << 40, at: $0.meta + 136) },
    FileEdit("its map has 4096 bytes") { $0.set(u64: 4096, at: $0.meta + 32) },
    FileEdit("its map has 18446744073709551615 bytes") { $0.set(u64: .max, at: $0.meta + 32) },
    FileEdit("free list: the root is page 0") { $0.set(u64: 0, at: $0.meta + 80) },
    FileEdit("main table: the root is page 4000") { $0.set(u64: 4000, at: $0.meta + 128) },
    FileEdit("main table: the depth is 0") { $0.set(u16: 0, at: $0.meta + 94) },
    FileEdit("main table: the counts") { $0.set(u64: 0, at: $0.meta + 104) },
    FileEdit("main table: the tree has no root") { $0.set(u64: .max, at: $0.meta + 128) },
    FileEdit("the transactions 2 and 5, which do not follow") { $0.set(u64: 5, at: 4096 + 144) },
    FileEdit("the transactions 0 and 3, which do not follow") { $0.set(u64: 0, at: 144) },
    FileEdit("the transactions 3 and 2, which do not follow") { image in
      image.set(u64: 3, at: 144)
      image.set(u64: 2, at: 4096 + 144)
    },
  ]

  @Test("refuses impossible meta pages, and says why", arguments: cases)
  func refusesImpossibleMetaPages(test: FileEdit) throws {
    var edited = EditedImage(bytes: try Self.sound())
    test.edit(&edited)
    let refusal = try Self.refusal(of: edited.bytes)
    #expect(refusal?.description.contains(test.text) == true, "\(String(describing: refusal))")
  }

  @Test("accepts an older meta page whose write failed, since its roots are not followed")
  func acceptsSpoiledOlderMeta() throws {
    var edited = EditedImage(bytes: try Self.sound())
    edited.set(u64: 4000, at: edited.older + 128)
    edited.set(u64: 2, at: edited.older + 136)
    #expect(try Self.refusal(of: edited.bytes) == nil)
    let environment = try ScratchEnvironment(image: edited.bytes)
    #expect(try PageWalker.walk(environment.file).findings == [])
    try environment.open()
    try environment.write { try $0.put([1], [3], in: $0.table("t")) }
    environment.close()
    #expect(try PageWalker.walk(environment.file).findings == [])
  }

  @Test("tells the page size of a file that is not supported")
  func tellsOtherPageSizes() throws {
    var edited = EditedImage(bytes: try Self.sound())
    edited.set(u32: 16384, at: 40)
    let environment = try ScratchEnvironment(image: edited.bytes)
    #expect(try FileCheck.pageSize(of: environment.file) == 16384)
  }
}

/// Goal: a file cut short is refused, a sound file that is short is not.
@Suite("The check of a file's length")
struct FileLengthTests {
  @Test("refuses a file cut short anywhere")
  func refusesCutFiles() throws {
    let image = try PageCheckTests.image()
    for length in stride(from: 0, to: image.count, by: 1000) {
      #expect(try FileCheckTests.refusal(of: Array(image.prefix(length))) != nil, "\(length) bytes")
    }
    #expect(try FileCheckTests.refusal(of: Array(image.dropLast())) != nil)
    #expect(try FileCheckTests.refusal(of: image) == nil)
  }

  /// LMDB does not write a page that a transaction took from the end of the file and gave back.
  static func shortFile() throws -> ScratchEnvironment {
    let environment = try ScratchEnvironment()
    try environment.open()
    for value in 1...5 as ClosedRange<UInt8> {
      try environment.write { try $0.put([value], [value], in: $0.table("t")) }
    }
    try environment.write { transaction in
      let table = try transaction.table("t")
      try transaction.put([99], [UInt8](repeating: 0, count: 50_000), in: table)
      try transaction.remove([99], from: table)
    }
    environment.close()
    return environment
  }

  @Test("accepts a file whose missing pages are free")
  func acceptsShortFiles() throws {
    let environment = try Self.shortFile()
    let meta = try FileCheck.check(environment.file)
    let size = Files.size(of: environment.file)
    #expect(size < (meta.lastPage + 1) * UInt64(FileCheck.pageSize), "the file is not short at all")
    let report = try PageWalker.walk(environment.file)
    #expect(report.isSound && report.free > 10, "\(report.findings)")
    try PageFaultTests.useWithLMDB(environment, report)
  }

  @Test("refuses a short file as soon as a missing page is in use")
  func refusesShorterFiles() throws {
    let environment = try Self.shortFile()
    let image = try ScratchFile.contents(of: environment.file)
    var refused = 0
    for pages in 2...(image.count / 4096) {
      let cut = try ScratchEnvironment(image: Array(image.prefix(pages * 4096)))
      let isAccepted = (try? FileCheck.check(cut.file)) != nil
      let isSound = (try? PageWalker.walk(cut.file))?.isSound ?? false
      #expect(isAccepted == isSound, "\(pages) pages")
      refused += isAccepted ? 0 : 1
    }
    #expect(refused >= 5)
  }

  @Test("does not mistake a writer at work for damage")
  func acceptsFilesBeingWritten() async throws {
    let environment = try ScratchEnvironment()
    try environment.open()
    let file = environment.file
    let seen = Atomic<UInt64>(0)
    async let last = Self.check(file, until: 200, seen)
    var random = SeededGenerator(seed: 7)
    while seen.load(ordering: .relaxed) < 200 {
      for _ in 0..<20 { try environment.changeAtRandom(&random, operations: 6) }
      await Task.yield()
    }
    #expect(try await last >= 200)
  }

  /// Checks over and over, until a transaction is there; at the end `seen` is large in any case.
  @concurrent
  static func check(
    _ file: String, until transaction: UInt64, _ seen: borrowing Atomic<UInt64>
  ) async throws -> UInt64 {
    defer { seen.store(.max, ordering: .relaxed) }
    while true {
      let newest = try FileCheck.check(file).transactionID
      seen.store(newest, ordering: .relaxed)
      if newest >= transaction { return newest }
      await Task.yield()
    }
  }

  #if os(Linux)
    @Test("leaves LMDB's locks alone")
    func leavesLocksAlone() throws {
      let environment = try ScratchEnvironment()
      try environment.open()
      let before = try Self.locks(of: environment.directory + "/lock.mdb")
      try FileCheck.check(environment.file)
      _ = try PageWalker.walk(environment.file)
      #expect(try Self.locks(of: environment.directory + "/lock.mdb") == before && before > 0)
    }

    /// The number of POSIX locks on a file, by the kernel's list.
    static func locks(of path: String) throws -> Int {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return -1 }
      let descriptor = unsafe open("/proc/locks", O_RDONLY)
      defer { close(descriptor) }
      var buffer = [UInt8](repeating: 0, count: 1 << 20)
      var text: [UInt8] = []
      while case let count = unsafe read(descriptor, &buffer, buffer.count), count > 0 {
        text += buffer.prefix(count)
      }
      let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
      return lines.count { $0.contains("POSIX") && $0.contains(":\(status.st_ino) ") }
    }
  #endif
}
