import LMDB

@testable import Cambium

/// The small entries of log and state, as if the checksum had been made after the damage: which
/// entry, then its bytes.
enum EntryTarget {
  static let target = FuzzTarget(name: "entry", seeds: seeds, run: run)

  private static func seeds() throws -> [[UInt8]] {
    try Fixtures.withDatabase { database in
      try database.directory.log.read { reader in
        [
          [0] + (try reader.format().stored()), [1] + (try reader.head().stored()),
          [2] + (try reader.stateMark()?.stored() ?? []),
          [3] + CheckpointMark(sequence: 7, logBytes: 1 << 20).stored(),
          [4] + StateHead().stored(), [5, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        ]
      }
    }
  }

  private static func run(_ input: inout FuzzInput) {
    let kind = input.byte()
    let bytes = Array(input.rest)
    switch kind % 6 {
    case 0: check(bytes, { try FormatEntry($0) }) { $0.stored() }
    case 1: check(bytes, { try LogHead($0) }) { $0.stored() }
    case 2: check(bytes, hadLess: 4, { try StateMark($0) }) { $0.stored() }
    case 3: check(bytes, hadLess: 4, { try CheckpointMark($0) }) { $0.stored() }
    case 4: check(bytes, hadLess: 8, { try StateHead($0) }) { $0.stored() }
    default: checkSeal(bytes)
    }
  }

  /// `hadLess` is by how many bytes an older form was shorter.
  private static func check<Entry: Equatable>(
    _ bytes: [UInt8], hadLess: Int = 0, _ decode: (RawSpan) throws -> Entry,
    _ encode: (Entry) -> [UInt8]
  ) {
    guard let entry = unlessRefused("entry", { try bytes.lend(decode) }) else { return }
    let again = encode(entry)
    require(mustSucceed("entry again") { try again.lend(decode) } == entry, "\(entry) comes back")
    require(again.count <= bytes.count + hadLess, "\(entry) is not longer than it was")
  }

  /// Bytes are opened under the name that they were sealed under, and no other.
  private static func checkSeal(_ bytes: [UInt8]) {
    let name = Array("name".utf8)
    unlessRefused("foreign entry") {
      try bytes.lend { try MetaEntry.open($0, name: name) { $0.byteCount } }
    }
    let sealed = MetaEntry.seal(bytes, name: name)
    let same = mustSucceed("seal") {
      try sealed.lend { try MetaEntry.open($0, name: name) { $0.array() } }
    }
    require(same == bytes, "an entry comes back")
    let other = unlessRefused("other name") {
      try sealed.lend { try MetaEntry.open($0, name: [1]) { $0.byteCount } }
    }
    require(other == nil, "an entry is refused under another name")
  }
}
