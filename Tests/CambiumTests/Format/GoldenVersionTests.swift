// Goal and method as in GoldenValueTests.swift: the versions of nodes, their links, and the
// entries of the state's other tables. Checksums were computed with another implementation of
// XXH3.

import Testing

@testable import Cambium

@Suite("The stored form of a node's version, byte by byte,")
struct GoldenVersionTests {
  /// The tree's key of the child `a` of the root.
  static let treeKey = [UInt8](hex: "0000000000000001 03 61")

  static let plain = [UInt8](
    hex: """
      FC133AF37DED7BBC    ; checksum
      01                  ; a single value
      00                  ; neither node id nor links
      070000000000        ; made by transaction 7
      03 05               ; integer 5
      """)
  static let complete = [UInt8](
    hex: """
      392E421413332AD2              ; checksum
      02                            ; a record
      05                            ; node id and links follow
      050403020100                  ; made by transaction 4,328,719,365
      0900000000000000              ; its children's keys begin with 9
      0900                          ; 9 bytes of links
      01  050000000000 00           ; level 0: one link, transaction 5, entry 0
          03                        ; one property has changed, name 3
      00 01  0300 0200  03 01       ; the record: name 3 is integer 1
      """)
  /// The same with links of the first form, which do not say what has changed.
  static let first = [UInt8](
    hex: """
      42ADE86143001061              ; checksum
      02                            ; a record
      03                            ; node id and links of the first form follow
      050403020100                  ; made by transaction 4,328,719,365
      0900000000000000              ; its children's keys begin with 9
      0B00                          ; 11 bytes of links
      01  050000000000 00000000     ; level 0: one link, transaction 5, entry 0
      00 01  0300 0200  03 01       ; the record: name 3 is integer 1
      """)
  static let container = [UInt8](
    hex: """
      DDE442CC6F39FBB1    ; checksum
      00                  ; nothing of its own
      01                  ; node id follows
      010000000000        ; made by transaction 1
      0200000000000000    ; its children's keys begin with 2
      """)

  static func stored(
    _ header: NodeHeader, _ content: [UInt8], _ links: VersionLinks? = nil
  ) -> [UInt8] {
    var buffer = ByteBuffer()
    buffer.append(0xEE)
    content.lend { content in
      treeKey.lend { header.store(content, links, key: $0, into: &buffer) }
    }
    return buffer.array()
  }

  @Test("is what the file format says")
  func versions() throws {
    let value = NodeHeader(kind: .scalar, modified: 7)
    #expect(Self.stored(value, [3, 5]).hex == Self.plain.hex)
    #expect(Self.stored(value, [3, 5], VersionLinks()).hex == Self.plain.hex)
    var links = VersionLinks()
    _ = try links.add(HistoryLink(sequence: 5, index: 0), changing: .these([3]))
    let record = NodeHeader(kind: .record, modified: 0x01_0203_0405, node: 9)
    let content = [UInt8](hex: "0001 0300 0200 0301")
    #expect(Self.stored(record, content, links).hex == Self.complete.hex)
    let bare = NodeHeader(kind: .none, modified: 1, node: 2)
    #expect(Self.stored(bare, []).hex == Self.container.hex)
  }

  @Test("is read field by field")
  func reading() throws {
    try Self.treeKey.lend { key in
      let entry = HistoryLink(sequence: 5, index: 0)
      for (stored, offset, changed) in [
        (Self.complete, 35, ChangedNames.these([3])), (Self.first, 37, .any),
      ] {
        try stored.lend { version in
          let header = try NodeHeader(version, key: key)
          #expect(header.kind == .record && header.modified == 0x01_0203_0405 && header.node == 9)
          #expect(header.hasLinks && header.contentOffset == offset)
          #expect(try header.links(version).all == [VersionLink(entry: entry, changed: changed)])
          #expect(try header.oldestLink(version, after: 4) == entry)
          #expect(try header.oldestLink(version, after: 5) == nil)
        }
      }
      try Self.plain.lend { version in
        let header = try NodeHeader(version, key: key)
        #expect(header.kind == .scalar && header.modified == 7 && header.node == 0)
        #expect(!header.hasLinks && header.contentOffset == NodeHeader.fixedCount)
      }
      let bare = try Self.container.lend { try NodeHeader($0, key: key) }
      #expect(bare.kind == .none && bare.node == 2 && bare.contentOffset == 24)
    }
  }

  @Test("belongs to its place in the tree")
  func place() throws {
    for other in ["0000000000000002 03 61", "0000000000000001 03 62", "", "0000000000000001"] {
      #expect(throws: DatabaseError.self) {
        try [UInt8](hex: other).lend { key in
          _ = try Self.plain.lend { try NodeHeader($0, key: key) }
        }
      }
    }
  }
}

@Suite("The stored form of links to earlier versions, byte by byte,")
struct GoldenLinksTests {
  /// The links of a version that so many others came before, replaced by transactions 1, 2, …, and
  /// what the last of these took along.
  ///
  /// Each changes one of three properties, in turn.
  static func links(after count: UInt64) throws -> (links: VersionLinks, taken: VersionLinks) {
    var links = VersionLinks()
    var taken = VersionLinks()
    for number in 1...count {
      let link = HistoryLink(sequence: number, index: 0x0A0B)
      taken = try links.add(link, changing: .these([[7, 300, 4][Int(number % 3)]]))
    }
    return (links, taken)
  }

  /// A link to the version that a transaction replaced; one that holds others names all three.
  private static func link(_ sequence: UInt8) -> String {
    let names = ["07", "C1 AC02", "04"][Int(sequence % 3)]
    let isHolder = sequence % 9 == 0
    return "\([sequence].hex)0000000000 8B14" + (isHolder ? "C3 04 03 A502" : names)
  }

  /// The same in the first form.
  private static func firstForm(_ levels: [[UInt8]]) -> [UInt8] {
    levels.flatMap { level in
      [UInt8(level.count)] + level.flatMap { [UInt8](hex: "\([$0].hex)0000000000 0B0A0000") }
    }
  }

  private static func level(_ sequences: [UInt8]) -> String {
    [UInt8(sequences.count)].hex + sequences.map { link($0) }.joined()
  }

  @Test("spills from a full level into the next")
  func spills() throws {
    let cases: [(UInt64, present: [[UInt8]], taken: [[UInt8]])] = [
      (1, [[1]], []),
      (8, [[1, 2, 3, 4, 5, 6, 7, 8]], []),
      (9, [[], [9]], [[1, 2, 3, 4, 5, 6, 7, 8]]),
      (10, [[10], [9]], []),
      (18, [[], [9, 18]], [[10, 11, 12, 13, 14, 15, 16, 17]]),
      (80, [[73, 74, 75, 76, 77, 78, 79, 80], [9, 18, 27, 36, 45, 54, 63, 72]], []),
      (
        81, [[], [], [81]],
        [[73, 74, 75, 76, 77, 78, 79, 80], [9, 18, 27, 36, 45, 54, 63, 72]]
      ),
      (82, [[82], [], [81]], []),
    ]
    for (count, present, taken) in cases {
      let found = try Self.links(after: count)
      for (links, levels) in [(found.links, present), (found.taken, taken)] {
        let bytes = [UInt8](hex: levels.map { Self.level($0) }.joined(separator: "\n"))
        #expect(links.stored().hex == bytes.hex, "after \(count)")
        #expect(try bytes.lend { try VersionLinks($0) } == links, "after \(count)")
        let first = try Self.firstForm(levels).lend { try VersionLinks(firstForm: $0) }
        #expect(try first.all.map(\.entry) == links.all.map(\.entry), "after \(count)")
        #expect(try first.all.allSatisfy { $0.changed == .any })
      }
    }
  }
}

@Suite("The state's other entries, byte by byte,")
struct GoldenStateTests {
  @Test("are what the file format says")
  func entries() throws {
    let link = HistoryLink(sequence: 0x0102, index: 3)
    #expect(HistoryEntry.key(link).hex == [UInt8](hex: "0000000000000102 00000003").hex)
    let entry = [UInt8]([0xEE]).lend { HistoryEntry.stored(GoldenVersionTests.treeKey, $0) }
    #expect(entry.hex == [UInt8](hex: "0A00 0000000000000001 0361 EE").hex)
    let removal = HistoryEntry.removalKey(GoldenVersionTests.treeKey, link)
    let expected = [UInt8](hex: "0000000000000001 0361 00 0000000000000102 00000003")
    #expect(removal.hex == expected.hex)
    #expect(try expected.lend { try HistoryEntry.link(endOf: $0) } == link)
  }

  @Test("of its meta table carry checksums")
  func meta() throws {
    var head = StateHead()
    head.applied = 7
    head.nextNode = 12
    head.names = 3
    let stored = [UInt8](
      hex: """
        0700000000000000    ; folded up to transaction 7
        0C00000000000000    ; the next node id is 12
        03000000            ; 3 names
        00000000            ; no collection was declared
        01000000            ; the next index or view is 1
        E057E5F24728E6F7    ; checksum
        """)
    #expect(MetaEntry.seal(head.stored(), name: StateHead.name).hex == stored.hex)
    let read = try stored.lend {
      try MetaEntry.open($0, name: StateHead.name) { try StateHead($0) }
    }
    #expect(read == head)
    // Before collections could be declared it ended with the names.
    let older = Array(stored[..<20])
    #expect(try older.lend { try StateHead($0) } == head)
    let key = StateReader.nameKey(5)
    #expect(key.hex == Array("name/".utf8).hex + "00000005")
    let name = MetaEntry.seal(Array("é".utf8), name: key)
    #expect(name.hex == [UInt8](hex: "C3A9 D7306F17F87C6CAF").hex)
  }
}
