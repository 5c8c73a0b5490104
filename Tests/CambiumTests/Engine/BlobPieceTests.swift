// Goal: a range of a blob is the same range of its content, whatever its ends, and reading it
// touches no chunk outside. Method: random ranges, from a seed that is printed, against the content
// in memory; chunks outside the range are removed first.

import Foundation
import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("The pieces of a blob") struct BlobPieceTests {
  private static let chunk = UInt64(BlobChunks.chunkBytes)

  /// Content that does not repeat within a chunk.
  private func content(_ count: Int) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &* 7) })
  }

  @Test("are the content, from any place to any other", arguments: SeededGenerator.seeds(61))
  func ranges(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    try withDatabase { database in
      let content = content(3 * Int(Self.chunk) + 1_000)
      let blob = try database.store(content)
      let snapshot = try database.snapshot()
      let edges = [0, 1, Int(Self.chunk) - 1, Int(Self.chunk), content.count - 1, content.count]
      for turn in 0..<200 {
        let ends = (0..<2).map { _ in
          turn < 60 ? edges[random.below(edges.count)] : random.below(content.count + 1)
        }
        let range = (ends.min() ?? 0)..<(ends.max() ?? 0)
        let pieces = try snapshot.pieces(
          of: blob, in: UInt64(range.lowerBound)..<UInt64(range.upperBound)
        ).fetch()
        #expect(Data(pieces.flatMap(\.data)) == content[range])
        var place = UInt64(range.lowerBound)
        for piece in pieces {
          #expect(piece.offset == place && !piece.data.isEmpty)
          place = piece.end
        }
      }
      #expect(try snapshot.pieces(of: blob, in: 10..<UInt64.max).fetch().last?.end == blob.size)
    }
  }

  @Test("of a range are read without the chunks outside")
  func onlyRange() throws {
    let place = try Place()
    let content = content(3 * Int(Self.chunk))
    let blob = try place.use { try $0.store(content) }
    try place.editLog { transaction, tables in
      try blob.key(0).lend { _ = try transaction.delete(tables.blobs, $0) }
    }
    try place.use { database in
      let snapshot = try database.snapshot()
      let pieces = try snapshot.pieces(of: blob, in: Self.chunk..<(Self.chunk + 5)).fetch()
      #expect(pieces.map(\.data) == [content[Int(Self.chunk)..<(Int(Self.chunk) + 5)]])
      #expect(throws: DatabaseError.self) { try snapshot.pieces(of: blob).fetch() }
    }
  }

  @Test("come without blocking, go on where a reader has stopped, and end with the task")
  func background() async throws {
    try await withDatabase { database in
      let content = content(4 * Int(Self.chunk))
      let blob = try await database.store(content)
      let snapshot = try database.snapshot()
      var read = Data()
      for try await piece in snapshot.pieces(of: blob).inBackground {
        read += piece.data
        if piece.end == 2 * Self.chunk { break }
      }
      for try await piece in snapshot.pieces(of: blob, in: UInt64(read.count)..<UInt64.max)
        .inBackground
      {
        read += piece.data
      }
      #expect(read == content)
      let task = Task {
        for try await _ in snapshot.pieces(of: blob).inBackground {
          try await Task.sleep(for: .seconds(60))
        }
      }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test("of an empty blob are none")
  func empty() throws {
    try withDatabase { database in
      let blob = try database.store(Data())
      #expect(try database.snapshot().pieces(of: blob).fetch().isEmpty)
      #expect(try database.snapshot().read(blob) == Data())
    }
  }
}
