// Goal and method as in GoldenValueTests.swift: operations, transaction records, the log's own
// entries and the chunks of blobs. Checksums and digests were computed with other implementations.

import FoundationEssentials
import Testing

@testable import Cambium

/// An operation with its stored form, after the ones before it in ``all``.
struct GoldenOperation: Sendable {
  let operation: Operation
  let hex: String

  static let all: [GoldenOperation] = [
    GoldenOperation(
      operation: .set("users/ada", Content(kind: .scalar, bytes: [3, 5])),
      hex: """
        01
        00 0C 03757365727300 0361646100     ; path: shares 0 bytes, 12 follow
        01 02 0305                          ; a single value of 2 bytes
        """),
    GoldenOperation(
      operation: .set("users/bob", Content(kind: .record, bytes: [0, 0])),
      hex: """
        01
        08 04 626F6200    ; path: shares 8 bytes, 4 follow
        02 02 0000        ; a record of 2 bytes
        """),
    GoldenOperation(
      operation: .update("users/bob", [.init(name: 3, value: [2]), .init(name: 300, value: nil)]),
      hex: """
        02
        0C 00           ; the same path
        02              ; 2 properties
        03   01 02      ; name 3: a value of 1 byte
        AC02 00         ; name 300: taken out
        """),
    GoldenOperation(
      operation: .change("users/bob", 3, .increment(by: [3, 1])),
      hex: "03  0C 00  04  02 0301    ; property 3, by a value of 2 bytes"),
    GoldenOperation(
      operation: .change("users/bob", nil, .increment(by: [3, 1])),
      hex: "03  0C 00  00  02 0301    ; the node's own value"),
    GoldenOperation(
      operation: .change("users/bob", 0, .append([1])),
      hex: "04  0C 00  01  01 01      ; property 0"),
    GoldenOperation(
      operation: .change("users/bob", nil, .insert([1], at: 200)),
      hex: "05  0C 00  00  C801  01 01    ; at position 200"),
    GoldenOperation(
      operation: .change("users/bob", 1, .removeElement(at: 0)),
      hex: "06  0C 00  02  00    ; of property 1, at position 0"),
    GoldenOperation(operation: .remove("users/bob"), hex: "07  0C 00"),
    GoldenOperation(
      operation: .restore("users/bob", removedAt: 16_384),
      hex: "08  0C 00  808001    ; removed by transaction 16,384"),
    GoldenOperation(
      operation: .move("users/bob", to: "users/5"),
      hex: """
        09
        0C 00                       ; from the same path
        07 09 018000000000000005    ; to one that shares 7 bytes
        """),
    GoldenOperation(
      operation: .define(300, "né"), hex: "0A  AC02  03 6EC3A9    ; name 300, 3 bytes"),
    GoldenOperation(
      operation: .event("sold", [2]), hex: "0B  04 736F6C64  01 02    ; name, payload"),
    GoldenOperation(operation: .remove("users"), hex: "07  07 00    ; the path before was users/5"),
    GoldenOperation(
      operation: .declare("users", [0x0E]), hex: "0C  07 00  01 0E    ; a value of 1 byte"),
    GoldenOperation(operation: .declare("users", nil), hex: "0C  07 00  00    ; taken back"),
    GoldenOperation(
      operation: .change("users", 3, .include([3, 5])),
      hex: "0D  07 00  04  02 0305    ; property 3"),
    GoldenOperation(
      operation: .change("users", nil, .exclude([3, 5])),
      hex: "0E  07 00  00  02 0305    ; the node's own value"),
    GoldenOperation(
      operation: .change("users", 3, .setEntry(key: "né", [1])),
      hex: "0F  07 00  04  03 6EC3A9  01 01    ; property 3, key, a value of 1 byte"),
    GoldenOperation(
      operation: .change("users", 3, .setEntry(key: "USD", nil)),
      hex: "0F  07 00  04  03 555344  00       ; taken out"),
    GoldenOperation(
      operation: .change("users", 3, .incrementEntry(key: "USD", by: [3, 1])),
      hex: "10  07 00  04  03 555344  02 0301"),
  ]
}

@Suite("The stored form of the log, byte by byte,")
struct GoldenLogTests {
  @Test("holds operations as the file format says")
  func operations() throws {
    var writer = OperationWriter()
    for golden in GoldenOperation.all {
      let start = writer.bytes.count
      writer.write(golden.operation)
      let expected = [UInt8](hex: golden.hex)
      #expect(Array(writer.bytes[start...]).hex == expected.hex, "\(golden.operation)")
    }
    #expect(Int(writer.count) == GoldenOperation.all.count)
    var reader = OperationReader(writer.bytes)
    for golden in GoldenOperation.all { #expect(try reader.next() == golden.operation) }
    #expect(try reader.next() == nil)
  }

  @Test("shows every operation's code here")
  func codes() throws {
    let codes = Set(try GoldenOperation.all.map { try #require([UInt8](hex: $0.hex).first) })
    #expect(codes == Set(1...16))
  }

  static let clock = HybridClock(rawValue: 1_767_323_045_678 << 16 | 3)
  static let previous = [UInt8](repeating: 0x55, count: 32)

  /// Transaction 2 of a log, with nothing left to chance.
  static func record() -> TransactionRecord {
    var operations = OperationWriter()
    operations.write(.set("a", Content(kind: .scalar, bytes: [3, 5])))
    var record = TransactionRecord(
      sequence: 2, clock: clock, time: GoldenValue.date.microseconds, origin: GoldenValue.uuid,
      metadata: ["why": "é", "who": "ada"], operations: operations, previous: previous)
    record.salt = [UInt8](0xA0..<0xB0)
    record.link = record.chained(to: previous)
    return record
  }

  static let storedRecord = [UInt8](
    hex: """
      8E6EA392AFD4C8C1                      ; checksum
      01                                    ; format 1
      00                                    ; no flags
      0200000000000000                      ; transaction 2
      0300 2E8FA97C9B01                     ; clock: counter 3, milliseconds
      354F57F65E470600                      ; time, microseconds
      101112131415161718191A1B1C1D1E1F      ; origin
      01000000                              ; 1 operation
      0F000000                              ; 15 bytes of metadata
      0A000000                              ; 10 bytes of operations
      03 77686F 03 616461                   ; who: ada
      03 776879 02 C3A9                     ; why: é
      A0A1A2A3A4A5A6A7A8A9AAABACADAEAF      ; salt
      01  00 03 036100  01 02 0305          ; set a to the integer 5
      A4C909A74B3713988DC26692A031DC15B557118D7D70A8D73A498242F095418D    ; link
      """)

  @Test("holds transaction records as the file format says")
  func transactionRecord() throws {
    let record = Self.record()
    #expect(record.stored().hex == Self.storedRecord.hex)
    #expect(try Self.storedRecord.lend { try TransactionRecord($0) } == record)
    #expect(record.chained(to: Self.previous) == record.link)
    let first = record.chained(to: TransactionRecord.firstLink)
    #expect(first.hex == "999f7b80a422b096df0cff95f07563b9ac5fee55389aa047e8f8d15aa4216823")
    let count = try Self.storedRecord.lend { try TransactionRecord.count(startingWith: $0) }
    #expect(count == Self.storedRecord.count)
    let key = LogTables.recordKey(0x0102, part: 3)
    #expect(key.hex == [UInt8](hex: "0000000000000102 00000003").hex)
  }
}

// MARK: The tail

extension GoldenLogTests {
  private static let seed: UInt64 = 0x1122_3344_5566_7788
  private static let frame =
    [UInt8](
      hex: """
        0C725994104858CB                      ; checksum
        0200000000000000                      ; transaction 2
        0100000000000000                      ; 1 was durable before it
        87000000 00000000                     ; 135 bytes of record
        """) + storedRecord + [0]

  @Test("holds frames of the tail as the file format says")
  func tailFrame() throws {
    var bytes: [UInt8] = []
    TailFrame.append(Self.record(), durable: 1, seed: Self.seed, to: &bytes)
    #expect(bytes.hex == Self.frame.hex)
    let file = [0, 0, 0, 0, 0, 0, 0, 0] + Self.frame
    let frame = try read(file)
    #expect(frame?.record == Self.record())
    #expect(frame?.place == 4104..<(4104 + 168))
    #expect(try read(file, seed: 1) == nil)
    for count in 0..<(file.count - 1) { #expect(try read(Array(file.prefix(count))) == nil) }
  }

  /// Reads the frame that begins after eight bytes of a file's part.
  private func read(_ bytes: [UInt8], seed: UInt64 = seed) throws -> TailFrame? {
    try bytes.lend { try TailFrame($0, at: 8, seed: seed, from: 4096) }
  }
}

// MARK: The article

extension GoldenLogTests {
  /// The first record of the worked example in the article on the file format.
  private static let example = [UInt8](
    hex: """
      c02c90b491aa292f
      01 00 0100000000000000 00003d2b1affa101 13e7387ecc600600 7604bed3837d67295f9b0df501fef40d
      03000000 08000000 30000000
      03 77686f 03 616461
      673df42b5b95fe550f5e141c5e3a7c14
      0a 00 04 626f726e    0a 01 04 6e616d65
      01 00 0c 03 7573657273 00 03 616461 00    02 11 00 02 0000 0300 0100 0700 04 1707 08 416461
      09f35d7a10326b5ce47eaa35cb85232a b33210845687e16609299f7d1189d337
      """)

  @Test("reads the example of its article")
  func example() throws {
    let record = try Self.example.lend { try TransactionRecord($0) }
    #expect(record.sequence == 1 && record.metadata == ["who": "ada"])
    #expect(record.time == 1_795_281_267_517_203 && record.operationCount == 3)
    #expect(record.clock.rawValue == 1_795_281_267_517 << 16)
    #expect(record.chained(to: TransactionRecord.firstLink) == record.link)
    var reader = OperationReader(record.operations)
    #expect(try reader.next() == .define(0, "born"))
    #expect(try reader.next() == .define(1, "name"))
    guard case .set("users/ada", let content)? = try reader.next() else {
      Issue.record("the third operation is no set of users/ada")
      return
    }
    var catalog = Catalog()
    try catalog.define("born", as: 0)
    try catalog.define("name", as: 1)
    let ada = try content.bytes.lend { try ValueMap(stored: $0, catalog) }
    #expect(content.kind == .record && ada == ["name": "Ada", "born": 1815])
    #expect(try reader.next() == nil)
  }
}

// MARK: Other entries

extension GoldenLogTests {
  static let formatEntry = [UInt8](
    hex: """
      43414D4249554D 00                     ; CAMBIUM, 0
      02000000                              ; format 2
      101112131415161718191A1B1C1D1E1F      ; origin
      354F57F65E470600                      ; created
      F23925466C867DD2                      ; checksum
      """)
  static let headEntry = [UInt8](
    hex: """
      0200000000000000                      ; transaction 2 is the newest
      0300 2E8FA97C9B01                     ; its clock
      354F57F65E470600                      ; its time
      0900000000000000                      ; written by LMDB's transaction 9
      A4C909A74B3713988DC26692A031DC15B557118D7D70A8D73A498242F095418D    ; its link
      F527655646C1E869                      ; checksum
      """)
  static let stateEntry = [UInt8](
    hex: """
      0300000000000000                      ; generation 3
      01                                    ; clean
      04 626F6F74                           ; boot
      05 6D6F756E74                         ; mount
      02000000                              ; fold 2
      C00256C74FE307FC                      ; checksum
      """)

  private func open<R>(_ sealed: [UInt8], _ name: String, _ body: (RawSpan) throws -> R) throws -> R
  {
    try sealed.lend { try MetaEntry.open($0, name: Array(name.utf8), body) }
  }

  private func seal(_ value: [UInt8], _ name: String) -> String {
    MetaEntry.seal(value, name: Array(name.utf8)).hex
  }

  @Test("holds its own entries as the file format says")
  func meta() throws {
    let format = FormatEntry(origin: GoldenValue.uuid, created: GoldenValue.date.microseconds)
    #expect(seal(format.stored(), "format") == Self.formatEntry.hex)
    #expect(try open(Self.formatEntry, "format") { try FormatEntry($0) } == format)
    var head = LogHead()
    (head.sequence, head.clock, head.time) = (2, Self.clock, GoldenValue.date.microseconds)
    (head.transaction, head.link) = (9, Self.record().link)
    #expect(seal(head.stored(), "head") == Self.headEntry.hex)
    #expect(try open(Self.headEntry, "head") { try LogHead($0) } == head)
    var mark = StateMark(generation: 3, isClean: true, boot: "boot", mount: "mount")
    mark.fold = 2
    #expect(seal(mark.stored(), "state") == Self.stateEntry.hex)
    #expect(try open(Self.stateEntry, "state") { try StateMark($0) } == mark)
    let position = [UInt8](hex: "2A00000000000000")
    let sealed = [UInt8](hex: "2A00000000000000 2C1D9A14F1111A45")
    #expect(seal(position, "consumer/mailer") == sealed.hex)
    #expect(throws: DatabaseError.self) { try open(sealed, "consumer/mailef") { _ in } }
  }

  static let blob = Blob(
    hash: [UInt8](hex: "0AC307B72ED7BD4E7275BFD65162077BF4B54B1C8AFA2F3A2659A28CFE425194"), size: 7)
  static let storedChunk = [UInt8](
    hex: """
      FA71642F1E1B392F    ; checksum
      00                  ; as it is
      43616D6269756D      ; Cambium
      """)

  @Test("holds the chunks of blobs as the file format says")
  func chunks() throws {
    let content = Array("Cambium".utf8)
    #expect(content.lend { Digest.of($0) } == Self.blob.hash && Self.blob.chunkCount == 1)
    let key = Self.blob.key(0)
    #expect(key.hex == Self.blob.hash.hex + "00000000")
    #expect(content.lend { BlobChunk.stored($0, key: key) }.hex == Self.storedChunk.hex)
    #expect(try Self.storedChunk.lend { try BlobChunk.content($0, key: key) } == content)
    let empty = Blob(hash: [UInt8]().lend { Digest.of($0) }, size: 0)
    #expect(empty.chunkCount == 1)
    let chunk = [UInt8]().lend { BlobChunk.stored($0, key: empty.key(0)) }
    #expect(chunk.hex == [UInt8](hex: "4E660BAA094FA9A4 00").hex)
  }

  @Test("reads compressed chunks of any content back")
  func compressedChunks() throws {
    for content in [
      [UInt8](repeating: 7, count: BlobChunks.chunkBytes), Array(0...255) + Array(0...255),
    ] {
      let key = Blob(hash: content.lend { Digest.of($0) }, size: UInt64(content.count)).key(0)
      let stored = content.lend { BlobChunk.stored($0, key: key) }
      #expect(stored[8] == 1 && stored.count < content.count)
      #expect(try stored.lend { try BlobChunk.content($0, key: key) } == content)
    }
  }
}
