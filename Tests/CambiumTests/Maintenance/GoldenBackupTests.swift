// Goal and method as in GoldenValueTests.swift: the files of a backup. Checksums and digests were
// computed with other implementations; what is compressed is compared by what it holds, since
// versions of zstd differ.

import Foundation
import Testing

@testable import Cambium

@Suite("The stored form of a backup, byte by byte,")
struct GoldenBackupTests {
  private static let format = FormatEntry(
    origin: GoldenValue.uuid, created: GoldenValue.date.microseconds)

  /// The head of the log of transaction 2, as a backup has it.
  private static var head: LogHead {
    var head = LogHead()
    (head.sequence, head.clock) = (2, GoldenLogTests.clock)
    (head.time, head.link) = (GoldenValue.date.microseconds, GoldenLogTests.record().link)
    return head
  }

  private static let formatHex = """
    43414D4249554D 00                     ; CAMBIUM, 0
    02000000                              ; format 2
    101112131415161718191A1B1C1D1E1F      ; origin
    354F57F65E470600                      ; created
    """
  private static let headHex = """
    0200000000000000                      ; transaction 2
    0300 2E8FA97C9B01                     ; its clock
    354F57F65E470600                      ; its time
    0000000000000000                      ; no transaction of LMDB's
    A4C909A74B3713988DC26692A031DC15B557118D7D70A8D73A498242F095418D    ; its link
    """

  // MARK: The manifest

  static let manifest = [UInt8](
    hex: """
      43414D424D414E 00                     ; CAMBMAN, 0
      02000000                              ; version 2
      \(formatHex)
      02000000                              ; 2 parts
      E803000000000000                      ; the first has 1,000 bytes
      BC02000000000000 0300000000000000     ; its last piece, at 700, is number 3
      D0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEF    ; its digest
      0102000000000000                      ; the second has 513
      0C00000000000000 0000000000000000
      E0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF
      AB0E88FA7085CFF3                      ; checksum
      """)

  @Test("holds the manifest as the file format says")
  func manifest() throws {
    var manifest = BackupManifest(format: Self.format)
    manifest.parts = [
      BackupManifest.Part(
        size: 1000, end: PiecePlace(offset: 700, number: 3), digest: [UInt8](0xD0...0xEF)),
      BackupManifest.Part(
        size: 513, end: PiecePlace(offset: 12, number: 0), digest: [UInt8](0xE0...0xFF)),
    ]
    #expect(manifest.stored().hex == Self.manifest.hex)
    #expect(try BackupManifest(Self.manifest) == manifest)
  }

  // MARK: Pieces

  static let file = [UInt8](
    hex: """
      4341 4D42 4143 4B 00              ; CAMBACK, 0
      02000000                          ; version 2
      31F0A3E298221DAF                  ; checksum of the piece 0
      03 00                             ; bytes of a baseline's file, as they are
      0200000000000000 0200000000000000 ; 2 bytes
      0708
      29BDCD24C399AD11                  ; checksum of the piece 1
      05 00                             ; chunks, as they are
      3800000000000000 3800000000000000
      0AC307B72ED7BD4E7275BFD65162077BF4B54B1C8AFA2F3A2659A28CFE425194 00000000   ; key
      10000000                          ; 16 bytes
      FA71642F1E1B392F 00 43616D6269756D
      """)
  private static let digest = "3fbdef2ced957b29512873971ac73fd6703178a868f7194b4778c64cfae3851b"

  private static let chunk = (key: GoldenLogTests.blob.key(0), value: GoldenLogTests.storedChunk)

  @Test("holds the pieces of a file as the file format says")
  func pieces() throws {
    var written: [UInt8] = []
    let digest = StreamDigest(on: DispatchWork().makeQueue("test"))
    let writer = try PieceWriter(to: digest) { written += $0 }
    var chunks: [UInt8] = []
    PieceOfChunks.append(Self.chunk, to: &chunks)
    try writer.add(.baselineFile, [7, 8])
    try writer.add(.chunks, chunks)
    #expect(written.hex == Self.file.hex)
    #expect(writer.newest == PiecePlace(offset: 40, number: 1) && writer.size == 122)
    #expect(digest.current().hex == Self.digest)
    let read = try chunks.lend { try PieceOfChunks.chunks($0) }
    #expect(read.map(\.key) == [Self.chunk.key] && read.map(\.value) == [Self.chunk.value])
    try withReader(Self.file) { reader in
      let (first, second, third) = (try reader.next(), try reader.next(), try reader.next())
      let digest = try reader.digest()
      #expect(first?.kind == .baselineFile && first?.content == [7, 8])
      #expect(second?.kind == .chunks && second?.content == chunks)
      #expect(third == nil && digest.hex == Self.digest)
    }
  }

  @Test("reads compressed pieces of any content back")
  func compressed() throws {
    var written: [UInt8] = []
    let writer = try PieceWriter { written += $0 }
    let contents = [[UInt8](repeating: 7, count: 100_000), Array(0...255) + Array(0...255)]
    for content in contents { try writer.add(.baselineFile, content) }
    #expect(written[12 + 9] == 1 && written.count < 1_000)
    try withReader(written) { reader in
      var read: [[UInt8]] = []
      while let piece = try reader.next() { read.append(piece.content) }
      #expect(read == contents)
    }
  }

  private func withReader(_ bytes: [UInt8], _ body: (PieceReader) throws -> Void) throws {
    let directory = try TemporaryDirectory()
    try Data(bytes).write(to: URL(filePath: "\(directory.path)/part-1"))
    try body(PieceReader("\(directory.path)/part-1"))
  }

  // MARK: Content of the pieces

  static let start = [UInt8](hex: "03000000 ; part 3 \n \(formatHex) \n \(headHex)")

  @Test("holds the start of a part as the file format says")
  func start() throws {
    let start = PartStart(part: 3, format: Self.format, head: Self.head)
    #expect(start.stored().hex == Self.start.hex)
    #expect(try Self.start.lend { try PartStart($0) } == start)
  }

  static let end = [UInt8](
    hex: """
      \(headHex)
      0B                                    ; the policy: a count, a time, an archive
      E803000000000000                      ; 1,000 transactions
      00A0724E18090000                      ; 10,000,000 seconds, in microseconds
      0700000000000000                      ; a consumer may be 7 behind
      02000000                              ; 2 tags
      02 C3A9 0100000000000000              ; é: transaction 1
      07 72656C65617365 0200000000000000    ; release: transaction 2
      01000000                              ; 1 blob
      0AC307B72ED7BD4E7275BFD65162077BF4B54B1C8AFA2F3A2659A28CFE425194
      """)

  @Test("holds the end of a part as the file format says")
  func end() throws {
    var end = PartEnd(head: Self.head)
    end.retention = Retention(transactions: 1_000, duration: .seconds(10_000_000))
    end.retention.archives = true
    end.retention.consumerLagMax = 7
    end.tags = [CommitTag(name: "é", sequence: 1), CommitTag(name: "release", sequence: 2)]
    end.blobs = [GoldenLogTests.blob.hash]
    #expect(end.stored().hex == Self.end.hex)
    #expect(try Self.end.lend { try PartEnd($0) } == end)
  }

  static let baseline = [UInt8](
    hex: """
      0200000000000000
      0300 2E8FA97C9B01
      354F57F65E470600
      A4C909A74B3713988DC26692A031DC15B557118D7D70A8D73A498242F095418D    ; link
      D0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEF    ; digest of its file
      00000000                              ; edition 0
      02000000                              ; fold 2
      """)

  @Test("holds baselines and records as the file format says")
  func baselineAndRecords() throws {
    var mark = BaselineMark(GoldenLogTests.record(), digest: [UInt8](0xD0...0xEF))
    mark.fold = 2
    #expect(mark.stored().hex == Self.baseline.hex)
    #expect(try Self.baseline.lend { try BaselineMark($0) } == mark)
    var segment = Segment(after: 1)
    segment.append(GoldenLogTests.storedRecord)
    let stored = PieceOfRecords.stored(segment)
    let expected = [UInt8](hex: "0200000000000000 0200000000000000") + GoldenLogTests.storedRecord
    #expect(stored.hex == expected.hex)
    let read = try stored.lend { try PieceOfRecords.segment($0) }
    #expect(read.first == 2 && read.last == 2 && read.records == GoldenLogTests.storedRecord)
  }
}
