import LMDB
import Testing

/// Goal: every check of the walker fires, and says what is wrong where.
/// Method: a small sound file, in which one thing is changed by hand.
@Suite("Each check of the page walker")
struct PageCheckTests {
  /// A table whose tree has a branch, one with a large value, and a free list of two transactions.
  static func image() throws -> [UInt8] {
    let environment = try ScratchEnvironment()
    try environment.open()
    try environment.write { transaction in
      let table = try transaction.table("t")
      for number in 0..<200 as Range<UInt8> {
        try transaction.put([1 + number], [UInt8](repeating: number, count: 100), in: table)
      }
      let large = try transaction.table("large")
      try transaction.put([1], [UInt8](repeating: 1, count: 10_000), in: large)
    }
    // Two more transactions, so that the free list has two entries.
    for value in 1...2 as ClosedRange<UInt8> {
      try environment.write { try $0.put([1], [value], in: $0.table("t")) }
    }
    environment.close()
    return try ScratchFile.contents(of: environment.file)
  }

  static let pageCases: [FileEdit] = [
    FileEdit("it says that it is page 77") { $0.set(u64: 77, at: $0.tableRoot) },
    FileEdit("its kind is 0x5 instead of 0x1") { $0.set(u16: 5, at: $0.tableRoot + 10) },
    FileEdit("its kind is 0x22 instead of 0x2") { $0.set(u16: 0x22, at: $0.firstLeaf + 10) },
    FileEdit("its free space is said to be 17") { $0.set(u16: 17, at: $0.firstLeaf + 12) },
    FileEdit("its free space is said to be") { $0.set(u16: 4098, at: $0.firstLeaf + 14) },
    FileEdit("it has too few nodes: 1") { $0.set(u16: 18, at: $0.tableRoot + 12) },
    FileEdit("it has too few nodes: 0") { $0.set(u16: 16, at: $0.firstLeaf + 12) },
    FileEdit("node 0 is said to be at 4096") { $0.set(u16: 4096, at: $0.firstLeaf + 16) },
    FileEdit("node 1 is said to be at") { image in
      image.set(u16: image.u16(image.firstLeaf + 16), at: image.firstLeaf + 18)
    },
    FileEdit("ends outside the page") { $0.set(u16: 9000, at: $0.node(0, $0.firstLeaf)) },
    FileEdit("ends outside the page") { $0.set(u16: 9000, at: $0.node(0, $0.firstLeaf) + 6) },
    FileEdit("its nodes overlap, or leave gaps") { $0.set(u16: 104, at: $0.node(5, $0.firstLeaf)) },
    FileEdit("the key of node 3 has 0 bytes") { image in
      image.set(u16: 0, at: image.node(3, image.firstLeaf) + 6)
      image.set(u16: 101, at: image.node(3, image.firstLeaf))
    },
    FileEdit("the key of node 4 is not greater") { $0.bytes[$0.node(4, $0.firstLeaf) + 8] = 1 },
    FileEdit("its first key is less than the branch above says") { image in
      let leaf = image.child(1, image.tableRoot)
      image.bytes[image.node(0, leaf) + 8] = 1
    },
    FileEdit("its last key is greater than the branch above says") { image in
      let last = image.count(image.firstLeaf) - 1
      image.bytes[image.node(last, image.firstLeaf) + 8] = 255
    },
    FileEdit("has the flags 0x4") { $0.set(u16: 4, at: $0.node(2, $0.firstLeaf) + 4) },
    FileEdit("has the flags 0x2") { $0.set(u16: 2, at: $0.node(2, $0.firstLeaf) + 4) },
  ]

  static let treeCases: [FileEdit] = [
    FileEdit("is used twice") { image in
      image.set(u32: image.u32(image.tableRoot), at: image.node(1, image.tableRoot))
      image.set(u32: image.u32(image.node(0, image.tableRoot)), at: image.node(1, image.tableRoot))
    },
    FileEdit("is used twice") { image in
      image.set(u32: image.tableRoot / 4096, at: image.node(1, image.tableRoot))
    },
    FileEdit("there is no such page") { $0.set(u32: 999, at: $0.node(1, $0.tableRoot)) },
    FileEdit("there is no such page") { $0.set(u32: 1, at: $0.node(1, $0.tableRoot)) },
    FileEdit("there is no such page") { $0.set(u16: 1, at: $0.node(1, $0.tableRoot) + 4) },
    FileEdit("it has 200 entries, but 201 are noted") { $0.set(u64: 201, at: $0.table("t") + 32) },
    FileEdit("1 branch pages, but 2 are noted") { $0.set(u64: 2, at: $0.table("t") + 8) },
    FileEdit("leaf pages, but 9 are noted") { $0.set(u64: 9, at: $0.table("t") + 16) },
    FileEdit("3 overflow pages, but 4 are noted") { $0.set(u64: 4, at: $0.table("large") + 24) },
    FileEdit("the counts of pages and entries") { $0.set(u64: .max, at: $0.table("t") + 24) },
    FileEdit("the depth is 33") { $0.set(u16: 33, at: $0.table("t") + 6) },
    FileEdit("its kind is 0x2 instead of 0x1") { $0.set(u16: 3, at: $0.table("t") + 6) },
    FileEdit("its kind is 0x1 instead of 0x2") { $0.set(u16: 1, at: $0.table("t") + 6) },
    FileEdit("the root is page 1,") { $0.set(u64: 1, at: $0.table("t") + 40) },
    FileEdit("the tree has no root") { $0.set(u64: .max, at: $0.table("t") + 40) },
    FileEdit("its flags are 0x8") { $0.set(u16: 8, at: $0.table("t") + 4) },
    FileEdit("its kind is 0x0 instead of 0x4") { $0.set(u16: 0, at: $0.run + 10) },
    FileEdit("2 pages do not hold the value of 10000") { $0.set(u32: 2, at: $0.run + 12) },
    FileEdit("after the end of the file") { $0.set(u32: 4_000_000_000, at: $0.run + 12) },
  ]

  static let freeListCases: [FileEdit] = [
    FileEdit("is free twice") {
      $0.set(u64: $0.u64($0.freeEntry(0) + 24), at: $0.freeEntry(1) + 24)
    },
    FileEdit("is in use") { $0.set(u64: $0.u64($0.meta + 136), at: $0.freeEntry(1) + 24) },
    FileEdit("there is no page 999 in the list") { $0.set(u64: 999, at: $0.freeEntry(1) + 24) },
    FileEdit("there is no page 1 in the list") { $0.set(u64: 1, at: $0.lastFreePage) },
    FileEdit("is not in descending order") {
      $0.set(u64: $0.u64($0.lastFreePage - 8), at: $0.lastFreePage)
    },
    FileEdit("is said to have 900 pages") { $0.set(u64: 900, at: $0.freeEntry(1) + 16) },
    FileEdit("neither in use nor free") { image in
      image.set(u64: image.u64(image.freeEntry(1) + 16) - 1, at: image.freeEntry(1) + 16)
    },
    FileEdit("of transaction 88, which is still to come") {
      $0.set(u64: 88, at: $0.freeEntry(1) + 8)
    },
    FileEdit("the key of node 1 is not greater") { $0.set(u64: 1, at: $0.freeEntry(1) + 8) },
    FileEdit("the key of node 1 is not greater") {
      $0.set(u64: $0.u64($0.freeEntry(0) + 8), at: $0.freeEntry(1) + 8)
    },
    FileEdit("the key of node 1 has 7 bytes") { image in
      let entry = image.freeEntry(1)
      image.set(u16: 7, at: entry + 6)
      image.set(u16: image.u16(entry) + 1, at: entry)
    },
    FileEdit("has 39 bytes") { image in
      let entry = image.freeEntry(1)
      image.set(u16: image.u16(entry) - 1, at: entry)
    },
  ]

  @Test("fires", arguments: pageCases + treeCases + freeListCases)
  func fires(_ test: FileEdit) throws {
    var edited = EditedImage(bytes: try Self.image())
    test.edit(&edited)
    let environment = try ScratchEnvironment(image: edited.bytes)
    let report = try PageWalker.walk(environment.file)
    #expect(report.findings.contains { $0.reason.contains(test.text) }, "\(report.findings)")
    #expect(report.findings.allSatisfy { $0.page != nil })
  }
}

extension PageCheckTests {
  @Test("lists a hundred findings, and counts them all")
  func limitsItsFindings() throws {
    var edited = EditedImage(bytes: try Self.image())
    for index in 0..<edited.count(edited.tableRoot) {
      let leaf = edited.child(index, edited.tableRoot)
      for node in 0..<edited.count(leaf) { edited.set(u16: 4, at: edited.node(node, leaf) + 4) }
    }
    let environment = try ScratchEnvironment(image: edited.bytes)
    let report = try PageWalker.walk(environment.file)
    #expect(report.findings.count == PageWalker.findingsMax && report.findingCount == 200)
  }

  @Test("goes on from the other meta page where one is damaged")
  func usesTheOtherMetaPage() throws {
    var edited = EditedImage(bytes: try Self.image())
    edited.set(u64: 0, at: edited.meta + 16)
    let environment = try ScratchEnvironment(image: edited.bytes)
    let report = try PageWalker.walk(environment.file)
    #expect(report.transactionID == 2 && report.findings.map(\.table) == ["meta pages"])
    #expect(throws: FileDamage.damaged(page: 1, reason: "it is no meta page")) {
      try PageWalker.walk(environment.file, transactionID: 3)
    }
    edited.set(u64: 0, at: 4096 - edited.meta + 16)
    let nothing = try ScratchEnvironment(image: edited.bytes)
    #expect(throws: FileDamage.self) { try PageWalker.walk(nothing.file) }
  }

  @Test("takes neither meta page of a file without transactions for an older one", arguments: 0...1)
  func takesNeitherForOlder(page: Int) throws {
    let fresh = try ScratchEnvironment()
    try fresh.open()
    fresh.close()
    var edited = EditedImage(bytes: try ScratchFile.contents(of: fresh.file))
    edited.set(u64: .max, at: 4096 * page + 136)
    let environment = try ScratchEnvironment(image: edited.bytes)
    let report = try PageWalker.walk(environment.file)
    #expect(report.findings.map(\.table) == ["meta pages"], "\(report.findings)")
  }
}
