// A committed transaction, as the log stores it.
//
//      0  checksum u64          XXH3 of all that follows
//      8  format u8             1; 2 where it takes a newer operation, see Operation.swift
//      9  flags u8              0; 1 where an erasure has taken operations out
//     10  sequence number u64
//     18  clock u64             hybrid logical clock: 48 bits of milliseconds, 16 bits of counter
//     26  time i64              wall clock, microseconds since 1970; never less than before
//     34  origin 16 bytes       the database that wrote it
//     50  operation count u32
//     54  metadata length u32
//     58  operations length u32
//     62  metadata              per entry: length (varint), name, length (varint), text; by name
//         salt 16 bytes         random
//         operations            see Operation.swift
//         link 32 bytes         BLAKE2b-256(link before ‖ bytes 8 to the end of the metadata
//                                           ‖ BLAKE2b-256(salt ‖ operations))
//
// All numbers little-endian. The links make the log a chain: changing, removing or reordering a
// record shows in every later link. Because the link covers only a salted digest of the operations,
// operations and salt can be erased while the chain still verifies. In a record from which
// something was erased, count and length at 50 and 58 are those of the remaining operations, and
// the salt is replaced by the input of the link:
//
//         operation count u32, operations length u32   as they were
//         digest 32 bytes                              BLAKE2b-256(salt ‖ operations), as they were
//
// The record of the erasure vouches for the remaining operations; see ErasureNote.swift.

import FoundationEssentials

/// One committed transaction.
struct TransactionRecord: Sendable {
  /// The record format, which a program must support to read it.
  let format: UInt8
  var sequence: SequenceNumber { didSet { sealed = nil } }
  var clock: HybridClock { didSet { sealed = nil } }
  /// Microseconds since 1970.
  var time: Int64 { didSet { sealed = nil } }
  var origin: UUID { didSet { sealed = nil } }
  var metadata: [String: String] { didSet { sealed = nil } }
  var operationCount: UInt32 { didSet { sealed = nil } }
  var operations: [UInt8] { didSet { sealed = nil } }
  /// The salt; empty if something was erased.
  var salt: [UInt8] { didSet { sealed = nil } }
  /// The original operations as the link covers them; nil unless something was erased since.
  private(set) var original: Original?
  var link: [UInt8] { didSet { sealed = nil } }
  /// The stored form, which a transaction that is being committed needs several times; nil for a
  /// record that was read, or has changed since it was sealed.
  private var sealed: [UInt8]?

  /// The operations as the link covers them.
  struct Original: Equatable, Sendable {
    var count: UInt32
    var length: UInt32
    /// BLAKE2b-256 of salt and operations.
    var digest: [UInt8]

    fileprivate static let storedCount = 8 + Digest.bytesCount
  }

  /// The formats that this program supports.
  static let formats: ClosedRange<UInt8> = 1...2
  /// The bytes before the metadata.
  static let fixedCount = 62
  private static let saltCount = 16

  /// The link before the first record.
  static let firstLink = [UInt8](repeating: 0, count: Digest.bytesCount)

  /// Seals a transaction: adds it to the chain after `previous`. The salt is unpredictable unless
  /// it is given.
  init(
    sequence: SequenceNumber, clock: HybridClock, time: Int64, origin: UUID,
    metadata: [String: String], operations: borrowing OperationWriter,
    previous: [UInt8],
    salt: [UInt8]? = nil
  ) {
    format = operations.format
    self.sequence = sequence
    self.clock = clock
    self.time = time
    self.origin = origin
    self.metadata = metadata
    operationCount = operations.count
    self.operations = operations.bytes
    self.salt = salt ?? Randomness.bytes(TransactionRecord.saltCount)
    link = []
    let header = header(flags: 0, operationCount, UInt32(self.operations.count))
    link = link(after: previous, header, covered().digest)
    sealed = stored(after: header)
  }

  /// True if operations were erased.
  var isErased: Bool { original != nil }

  /// Replaces the operations permanently with the remaining ones.
  mutating func erase(leaving operations: borrowing OperationWriter) {
    if original == nil { original = covered() }
    operationCount = operations.count
    self.operations = operations.bytes
    salt = []
  }

  /// The link that this record has after a given one.
  func chained(to previous: [UInt8]) -> [UInt8] {
    let covered = original ?? covered()
    return link(after: previous, header(flags: 0, covered.count, covered.length), covered.digest)
  }

  private func link(after previous: [UInt8], _ header: [UInt8], _ covered: [UInt8]) -> [UInt8] {
    Digest.of(previous, header, covered)
  }

  private func covered() -> Original {
    Original(
      count: operationCount, length: UInt32(operations.count),
      digest: Digest.of(salt, operations))
  }

  /// Bytes 8 to the end of the metadata.
  private func header(flags: UInt8, _ count: UInt32, _ length: UInt32) -> [UInt8] {
    let metadata = storedMetadata()
    var bytes: [UInt8] = []
    bytes.reserveCapacity(TransactionRecord.fixedCount - 8 + metadata.count)
    bytes.append(format)
    bytes.append(flags)
    bytes.append(littleEndian: sequence.rawValue)
    bytes.append(littleEndian: clock.rawValue)
    bytes.append(littleEndian: time)
    bytes.append(uuid: origin)
    bytes.append(littleEndian: count)
    bytes.append(littleEndian: UInt32(metadata.count))
    bytes.append(littleEndian: length)
    bytes += metadata
    return bytes
  }

  private func storedMetadata() -> [UInt8] {
    if metadata.isEmpty { return [] }
    var bytes: [UInt8] = []
    let entries = metadata.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    for text in entries.flatMap({ [$0.key, $0.value] }) {
      bytes.append(varint: UInt64(text.utf8.count))
      bytes.append(contentsOf: text.utf8)
    }
    return bytes
  }

  /// The length of the stored form.
  var storedCount: Int {
    if let sealed { return sealed.count }
    let salt = isErased ? Original.storedCount : TransactionRecord.saltCount
    let count = TransactionRecord.fixedCount + salt + Digest.bytesCount
    return count + storedMetadata().count + operations.count
  }

  /// The stored form.
  func stored() -> [UInt8] {
    if let sealed { return sealed }
    let length = UInt32(operations.count)
    return stored(after: header(flags: isErased ? 1 : 0, operationCount, length))
  }

  private func stored(after header: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(8 + header.count + 64 + operations.count)
    bytes.append(littleEndian: 0 as UInt64)
    bytes += header
    if let original {
      bytes.append(littleEndian: original.count)
      bytes.append(littleEndian: original.length)
      bytes += original.digest
    } else {
      bytes += salt
    }
    bytes += operations
    bytes += link
    let sum = bytes.lend { Checksum.of($0.extracting(droppingFirst: 8)) }
    bytes.store(sum, at: 0)
    return bytes
  }
}

extension TransactionRecord {
  /// The length of the record that starts with these bytes.
  static func count(startingWith bytes: RawSpan) throws -> Int {
    let metadata = Int(try bytes.load(UInt32.self, at: 54))
    let operations = Int(try bytes.load(UInt32.self, at: 58))
    let salt = try bytes.load(UInt8.self, at: 9) & 1 == 0 ? saltCount : Original.storedCount
    return fixedCount + metadata + salt + operations + Digest.bytesCount
  }

  /// The number of operations of the record that starts with these bytes.
  static func operationCount(startingWith bytes: RawSpan) throws -> Int {
    Int(try bytes.load(UInt32.self, at: 50))
  }

  /// Reads a stored record after checking its checksum, but not its place in the chain.
  init(_ bytes: RawSpan) throws {
    let count = try TransactionRecord.count(startingWith: bytes)
    guard count == bytes.byteCount,
      try bytes.load(UInt64.self, at: 0) == Checksum.of(bytes.extracting(droppingFirst: 8))
    else { throw DatabaseError.corrupt(reason: "a record of the log is not what was stored") }
    format = try bytes.load(UInt8.self, at: 8)
    let flags = try bytes.load(UInt8.self, at: 9)
    guard TransactionRecord.formats.contains(format), flags <= 1 else {
      throw DatabaseError.unsupported(path: "", reason: "a record of the log is of a newer format")
    }
    sequence = SequenceNumber(try bytes.load(UInt64.self, at: 10))
    clock = HybridClock(rawValue: try bytes.load(UInt64.self, at: 18))
    time = try bytes.load(Int64.self, at: 26)
    origin = try bytes.uuid(at: 34)
    operationCount = try bytes.load(UInt32.self, at: 50)
    let metadataCount = Int(try bytes.load(UInt32.self, at: 54))
    let operationsCount = Int(try bytes.load(UInt32.self, at: 58))
    var offset = TransactionRecord.fixedCount
    metadata = try TransactionRecord.metadata(bytes.extracting(offset..<(offset + metadataCount)))
    offset += metadataCount
    if flags == 1 {
      original = Original(
        count: try bytes.load(UInt32.self, at: offset),
        length: try bytes.load(UInt32.self, at: offset + 4),
        digest: try bytes.array(offset + 8, Digest.bytesCount))
      salt = []
      offset += Original.storedCount
    } else {
      salt = try bytes.array(offset, TransactionRecord.saltCount)
      offset += TransactionRecord.saltCount
    }
    operations = try bytes.array(offset, operationsCount)
    link = try bytes.array(offset + operationsCount, Digest.bytesCount)
  }

  private static func metadata(_ bytes: RawSpan) throws -> [String: String] {
    var metadata: [String: String] = [:]
    var offset = 0
    func text() throws -> String {
      let place = try bytes.part(at: &offset)
      return try bytes.string(place.lowerBound, place.count)
    }
    while offset < bytes.byteCount {
      let name = try text()
      metadata[name] = try text()
    }
    return metadata
  }
}

extension TransactionRecord: Equatable {
  /// True if both are stored as the same bytes.
  static func == (a: TransactionRecord, b: TransactionRecord) -> Bool { a.stored() == b.stored() }
}

/// A clock that never goes back and stays close to the time of day: milliseconds since 1970 above
/// 16 bits of counter. (Kulkarni et al., "Logical physical clocks", 2014.)
struct HybridClock: RawRepresentable, Equatable, Sendable {
  var rawValue: UInt64

  /// The reading after this one at a given time of day. If the time of day has not passed this
  /// reading's, only the counter advances, so a clock that was set back does no harm.
  func next(microseconds: Int64) -> HybridClock {
    // Some hours less than the bits can hold, so that the counter can still advance.
    let milliseconds = min(UInt64(clamping: microseconds / 1000), 1 << 48 - 1 << 24)
    return HybridClock(rawValue: max(milliseconds << 16, rawValue &+ 1))
  }
}
