// The place that the scrub has come to, kept in the file `scrub` of the database's directory across
// openings. Nothing depends on it: one that is missing or damaged begins a new round.
//
//      0  form u32            1
//      4  generation u64      of the state; a newer one begins its tables anew
//     12  table u32           its place among those of the state, then of the log
//     16  bytes u64           that this round has read
//     24  ended i64           when the last round was over, microseconds since 1970; 0 for never
//     32  read u64            the bytes that it read
//     40  key                 length u16, and the key that was read last; 0 for none
//         damages             of the state, then of the log, of this round, then of the last:
//                             count u32, each a length u16 and a text
//         checksum u64        of all that is before, seeded with that of `scrub`
//
// All numbers little-endian.

import FoundationEssentials
import LMDB

/// The place that the scrub has come to.
struct ScrubPlace: Equatable, Sendable {
  var generation: UInt64 = 0
  var table = 0
  var key: [UInt8] = []
  var bytes: UInt64 = 0
  var damage = ScrubDamage()
  var last: ScrubReport?

  private static let form: UInt32 = 1
  private static let name = Array("scrub".utf8)
  private static let textBytesMax = 1000

  /// Reads the file of a database; a fresh place where there is none to trust.
  static func read(_ directory: OpenDirectory) -> ScrubPlace {
    guard let bytes = try? FileReader(path(directory)).read(1 << 20),
      let place = try? bytes.lend({ bytes in
        try MetaEntry.open(bytes, name: name) { try ScrubPlace($0) }
      })
    else { return ScrubPlace() }
    return place
  }

  private static func path(_ directory: OpenDirectory) -> String { "\(directory.path)/scrub" }

  /// Replaces the file.
  func write(_ directory: OpenDirectory) throws {
    let path = ScrubPlace.path(directory)
    let temporary = Database.temporaryPath(path, "-")
    let writer = try FileWriter(creating: temporary)
    do {
      try writer.append(MetaEntry.seal(stored(), name: ScrubPlace.name))
      try Files.replace(path, with: temporary)
    } catch {
      try? Files.remove(temporary)
      throw error
    }
  }

  init() {}

  private init(_ bytes: RawSpan) throws {
    guard try bytes.load(UInt32.self, at: 0) == ScrubPlace.form else {
      throw DatabaseError.corrupt(reason: "the scrub's place has an unknown form")
    }
    generation = try bytes.load(UInt64.self, at: 4)
    table = Int(try bytes.load(UInt32.self, at: 12))
    self.bytes = try bytes.load(UInt64.self, at: 16)
    let ended = Int64(bitPattern: try bytes.load(UInt64.self, at: 24))
    let read = try bytes.load(UInt64.self, at: 32)
    var offset = 40
    func take() throws -> [UInt8] {
      let count = Int(try bytes.load(UInt16.self, at: offset))
      defer { offset += 2 + count }
      return try bytes.array(offset + 2, count)
    }
    func takeTexts() throws -> [String] {
      let count = try bytes.load(UInt32.self, at: offset)
      offset += 4
      return try (0..<count).map { _ in String(decoding: try take(), as: UTF8.self) }
    }
    key = try take()
    damage = ScrubDamage(state: try takeTexts(), log: try takeTexts())
    let old = ScrubDamage(state: try takeTexts(), log: try takeTexts())
    if ended == 0 { return }
    last = ScrubReport(
      ended: Date(microseconds: ended), bytes: read, stateDamage: old.state, logDamage: old.log)
  }

  private func stored() -> [UInt8] {
    var bytes: [UInt8] = []
    func add(_ texts: [String]) {
      bytes.append(littleEndian: UInt32(texts.count))
      for text in texts { add(Array(text.utf8.prefix(ScrubPlace.textBytesMax))) }
    }
    func add(_ part: [UInt8]) {
      bytes.append(littleEndian: UInt16(part.count))
      bytes += part
    }
    bytes.append(littleEndian: ScrubPlace.form)
    bytes.append(littleEndian: generation)
    bytes.append(littleEndian: UInt32(table))
    bytes.append(littleEndian: self.bytes)
    bytes.append(littleEndian: UInt64(bitPattern: last?.ended.microseconds ?? 0))
    bytes.append(littleEndian: last?.bytes ?? 0)
    add(key)
    for texts in [damage.state, damage.log, last?.stateDamage ?? [], last?.logDamage ?? []] {
      add(texts)
    }
    return bytes
  }
}

/// The damage that a round has found so far.
struct ScrubDamage: Equatable, Sendable {
  var state: [String] = []
  var log: [String] = []

  /// The largest number of findings that are listed of each.
  static let countMax = 100
}
