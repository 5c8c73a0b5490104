// Goal: a wrong byte in a database's files is refused, found by `verify`, or harmless; it never
// ends the process, and no value that has a checksum is ever read wrong. Method: one byte at a time
// of a small closed database is changed; what LMDB then lends is compared with what it should,
// which shows what must be noticed.

import Simulation
import Testing

@testable import Cambium

@Suite("A database with a wrong byte")
struct DatabaseDamageTests {
  private static let sound = Result { try DamagedDatabase() }

  private typealias Verdict = DamagedDatabase.Verdict

  /// The places of some bytes in an image, earlier copies included.
  private static func places(of bytes: [UInt8], in image: [UInt8]) -> [Int] {
    guard let first = bytes.first, bytes.count <= image.count else { return [] }
    return (0...(image.count - bytes.count)).filter { start in
      image[start] == first && image[start..<(start + bytes.count)].elementsEqual(bytes)
    }
  }

  @Test("is whole before")
  func untouched() throws {
    let database = try Self.sound.get()
    #expect(database.images.allSatisfy { $0.value.count.isMultiple(of: 4_096) })
    #expect(try database.judge(.log, 0, 0) == .harmless)
    #expect(try database.judge(.state, 0, 0) == .harmless)
    let tables = Set(database.contents.values.flatMap { $0.filter { !$0.value.isEmpty }.keys })
    #expect(tables == ["records", "blobs", "meta", "tree", "counts", "history", "removals"])
  }

  @Test("in an entry of a table tells so", arguments: DataFile.allCases)
  func entries(_ file: DataFile) throws {
    let database = try Self.sound.get()
    let image = try #require(database.images[file])
    var random = FormatRandom(seed: 1)
    for (table, entries) in try #require(database.contents[file]) {
      for entry in entries {
        for bytes in [entry.key, entry.value] {
          let index = random.below(bytes.count)
          let mask = random.pick([0x01, 0x80, 0xFF] as [UInt8])
          // One of the places is the one in use.
          let verdicts = try Self.places(of: entry.key + entry.value, in: image).map { start in
            let offset = start + (bytes == entry.key ? 0 : entry.key.count) + index
            return try database.judge(file, offset, mask)
          }
          let isNoticed = verdicts.contains { $0 != .harmless }
          #expect(isNoticed, "\(file), \(table), byte \(index) of \(bytes.count): \(verdicts)")
        }
      }
    }
  }

  @Test("anywhere at all is refused, found, mended or harmless", arguments: DataFile.allCases)
  func anywhere(_ file: DataFile) throws {
    let database = try Self.sound.get()
    let image = try #require(database.images[file])
    var random = FormatRandom(seed: 2)
    var verdicts: [Verdict: Int] = [:]
    for page in 0..<(image.count / 4_096) {
      for part in 0..<8 {
        let offset = page * 4_096 + part * 512 + random.below(512)
        let mask = random.pick([0x01, 0x10, 0x80, 0xFF] as [UInt8])
        verdicts[try database.judge(file, offset, mask), default: 0] += 1
      }
    }
    print("\(file): \(verdicts.map { "\($0.value) \($0.key)" }.sorted())")
    #expect(verdicts.keys.contains(.harmless) && verdicts.count > 2)
  }
}
