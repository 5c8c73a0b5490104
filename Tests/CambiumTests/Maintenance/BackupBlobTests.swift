// Goal: a backup has every blob that is whole, none that is not, and reads each once. Method: blobs
// of sizes on both sides of a chunk's, stored whole and in part, are backed up in several runs,
// restored, and compared with what was stored; pieces are counted in the file.

import FoundationEssentials
import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("Blobs in a backup", .timeLimit(.minutes(1)))
struct BackupBlobTests {
  private let place: Place
  private let backup: String

  init() throws {
    place = try Place()
    backup = place.beside("test.backup")
  }

  private static func content(_ count: Int, _ generator: inout SeededGenerator) -> Data {
    var content = Data(count: count)
    for index in stride(from: 0, to: count, by: 3) {
      content[index] = .random(in: 0...9, using: &generator)
    }
    return content
  }

  private func chunkPieces(_ part: Int) throws -> [[(key: [UInt8], value: [UInt8])]] {
    let reader = try PieceReader("\(backup)/part-\(part)")
    var pieces: [[(key: [UInt8], value: [UInt8])]] = []
    while let piece = try reader.next() {
      if piece.kind == .chunks {
        pieces.append(try piece.content.lend { try PieceOfChunks.chunks($0) })
      }
    }
    return pieces
  }

  @Test("of any size come back, in several runs", arguments: SeededGenerator.seeds(1, 2, 3))
  func sizes(seed: UInt64) throws {
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    let chunk = BlobChunks.chunkBytes
    var sizes = [0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk, 5 * chunk, 5 * chunk + 7]
    sizes += (0..<20).map { _ in .random(in: 0...3 * chunk, using: &generator) }
    let contents = sizes.shuffled(using: &generator).map { Self.content($0, &generator) }
    var blobs: [Blob] = []
    try place.use { database in
      for (index, content) in contents.enumerated() {
        let blob = try database.store(content)
        try database.write { tx in
          try tx.set(NodePath(keys: ["files", .integer(Int64(index))]), to: .blob(blob))
        }
        blobs.append(blob)
        if index % 9 == 8 { try database.backUp(to: backup) }
      }
      try database.backUp(to: backup)
    }
    #expect(try Database.checkBackup(backup).damage == [])
    let parts = 1...Int(try Database.checkBackup(backup).parts)
    let keys = try parts.flatMap { try chunkPieces($0).joined().map(\.key) }
    #expect(Set(keys).count == keys.count, "a blob that a part has is not in a later one")
    let restored = place.beside("restored.cambium")
    try Database.restore(backup, to: restored)
    let database = try Database(at: restored)
    for (blob, content) in zip(blobs, contents) {
      var read = Data()
      try database.read { try $0.read(blob) { read += $0 } }
      #expect(read == content)
    }
    try expectSound(database)
    try database.close()
  }

  @Test("share pieces, so that small ones cost little more than their bytes")
  func small() throws {
    var generator = SeededGenerator(seed: 7)
    try place.use { database in
      try database.write { tx in
        for index in 0..<2_000 {
          let blob = try tx.store(Self.content(.random(in: 0..<400, using: &generator), &generator))
          try tx.set(NodePath(keys: ["files", .integer(Int64(index))]), to: .blob(blob))
        }
      }
      try database.backUp(to: backup)
    }
    let pieces = try chunkPieces(1)
    #expect(pieces.joined().count > 1_500 && pieces.count == 1)
  }

  @Test("that are being stored come again with the next run", arguments: [0, 100])
  func unfinished(rest: Int) throws {
    var generator = SeededGenerator(seed: 11)
    let content = Self.content(2 * BlobChunks.chunkBytes + rest, &generator)
    let blob = Blob(hash: [UInt8](content).lend { Digest.of($0) }, size: UInt64(content.count))
    func put(_ number: Int, _ database: Database) throws {
      let (start, end) = (number * BlobChunks.chunkBytes, (number + 1) * BlobChunks.chunkBytes)
      let bytes = [UInt8](content[start..<min(end, content.count)])
      let key = blob.key(UInt32(number))
      let writer = try LogWriter.begin(database.directory.log)
      try writer.putChunk(key, bytes.lend { BlobChunk.stored($0, key: key) })
      try writer.commit(head: try database.directory.log.read { try $0.head() })
    }
    try place.use { database in
      try database.write { tx in try tx.set("a", to: 1) }
      try put(0, database)
      try database.backUp(to: backup)
      for number in 1..<Int(blob.chunkCount) { try put(number, database) }
      try database.write { tx in try tx.set("a", to: .blob(blob)) }
      try database.backUp(to: backup)
      try database.backUp(to: backup)
    }
    let manifest = try #require(try BackupDirectory(path: backup).manifest())
    let ends = try BackupDirectory(path: backup).ends(manifest)
    #expect(ends.map(\.blobs) == [[], [blob.hash]])
    #expect(try Database.checkBackup(backup).damage == [])
  }
}
