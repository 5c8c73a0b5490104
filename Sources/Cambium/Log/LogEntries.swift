// The entries of the log's `meta` table: small, checksummed, rewritten as a whole.
//
//     format      "CAMBIUM" 00 | format version u32 | origin 16 bytes | created i64 (microseconds)
//     head        sequence u64 | clock u64 | time i64 | LMDB transaction u64 | link 32 bytes
//     state       generation u64 | clean u8 | length, boot identity | length, mount identity
//                 | fold u32
//     checkpoint  sequence u64 | bytes of the log u64 | fold u32
//     tail        seed u64 | size of the file u64
//     consumer/…  position u64
//     cursor/…    number u64
//     tag/…       sequence u64
//     note/…      bytes of whoever wrote them
//
// Each value ends with its XXH3, seeded with that of its name. Numbers are little-endian. Format 1
// had no fold number, which means 1. Format 3 says that there is or was a tail: its file continues
// the records, and a program that does not know it would miss them. Format 4 says that there are or
// were compressed records; see RecordEntry.swift.

import FoundationEssentials
import LMDB

/// The format, origin and creation time of a database, as stored in its log.
struct FormatEntry: Equatable, Sendable {
  /// The format of everything written by this version, but for what the later ones say.
  static let version: UInt32 = 2
  /// The format of a log with a tail.
  static let versionWithTail: UInt32 = 3
  /// The format of a log with compressed records.
  static let versionWithCompression: UInt32 = 4
  /// The formats that can be read.
  static let versions: ClosedRange<UInt32> = 1...4
  static let magic = Array("CAMBIUM\0".utf8)

  var version = FormatEntry.version
  /// The id of the database that writes here; it is part of every record.
  var origin: UUID
  /// Microseconds since 1970.
  var created: Int64

  init(origin: UUID, created: Int64) {
    self.origin = origin
    self.created = created
  }

  /// True if both belong to one database, even if its format has changed.
  func isOfSameDatabase(as other: FormatEntry) -> Bool {
    origin == other.origin && created == other.created
  }

  /// Refuses a format that this version does not know.
  ///
  /// - Throws: ``DatabaseError/unsupported(path:reason:)``.
  func checkKnown(_ path: String) throws {
    if FormatEntry.versions.contains(version) { return }
    throw DatabaseError.unsupported(
      path: path,
      reason: "its format is \(version), and this version of Cambium knows formats up to "
        + "\(FormatEntry.versions.upperBound); open it with the version that wrote it")
  }

  init(_ bytes: RawSpan) throws {
    guard try bytes.array(0, 8) == FormatEntry.magic else {
      throw DatabaseError.corrupt(reason: "the log's format entry is not one of Cambium's")
    }
    version = try bytes.load(UInt32.self, at: 8)
    origin = try bytes.uuid(at: 12)
    created = try bytes.load(Int64.self, at: 28)
  }

  func stored() -> [UInt8] {
    var bytes = FormatEntry.magic
    bytes.append(littleEndian: version)
    bytes.append(uuid: origin)
    bytes.append(littleEndian: created)
    return bytes
  }
}

/// The newest record, and LMDB's number of the transaction that wrote this entry. Every write to
/// the log's environment rewrites it, so a number that differs from LMDB's own betrays a torn meta
/// page (H6).
struct LogHead: Equatable, Sendable {
  var sequence = SequenceNumber.zero
  var clock = HybridClock(rawValue: 0)
  var time: Int64 = 0
  var transaction: UInt64 = 0
  var link = TransactionRecord.firstLink

  init() {}

  init(_ bytes: RawSpan) throws {
    sequence = SequenceNumber(try bytes.load(UInt64.self, at: 0))
    clock = HybridClock(rawValue: try bytes.load(UInt64.self, at: 8))
    time = try bytes.load(Int64.self, at: 16)
    transaction = try bytes.load(UInt64.self, at: 24)
    link = try bytes.array(32, Digest.bytesCount)
  }

  /// The head of a log that continues after a baseline.
  init(_ baseline: BaselineMark) {
    sequence = baseline.sequence
    clock = HybridClock(rawValue: baseline.clock)
    time = baseline.time
    link = baseline.link
  }

  /// Advances to a record that was appended.
  mutating func advance(to record: TransactionRecord) {
    sequence = record.sequence
    clock = record.clock
    time = record.time
    link = record.link
  }

  func stored() -> [UInt8] {
    var bytes = [UInt8](littleEndian: sequence.rawValue)
    bytes.append(littleEndian: clock.rawValue)
    bytes.append(littleEndian: time)
    bytes.append(littleEndian: transaction)
    return bytes + link
  }
}

/// The state that belongs to the log, and the proof that it can be trusted (see
/// <doc:ErrorsAndRecovery>).
struct StateMark: Equatable, Sendable {
  /// The number of the fold: it is raised whenever folding the same log gives different tables than
  /// before. A state, a checkpoint and a baseline record the fold that made them, so that none is
  /// read by rules that it does not follow: a state is rebuilt, a checkpoint ignored, and a
  /// baseline's derived tables are folded again (``Baseline/makeState(from:of:in:_:)``).
  static let foldNumber: UInt32 = 4

  /// The number in the state directory's name.
  var generation: UInt64
  /// True if the state was synced after its last write.
  var isClean: Bool
  /// The system start during which the state is written.
  var boot: String
  /// The mount during which the state is written.
  var mount: String
  /// The number of the fold that made the state; see ``StateMark/foldNumber``.
  var fold = StateMark.foldNumber

  /// The system start that never matches, so that the state is not trusted.
  static let untrustedBoot = ""

  /// True if the mark proves that the state's pages are all on disk, or still in this system's
  /// memory. A mount of the same name proves nothing if the system reuses names.
  func isTrusted(boot: String, mount: String) -> Bool {
    isClean
      || self.boot == boot && self.mount == mount && mount.hasPrefix(Platform.uniqueMount)
  }

  /// Refuses a state that a later version of Cambium made: an app's older version that shares a
  /// directory with its newer one would misread it.
  ///
  /// - Throws: ``DatabaseError/unsupported(path:reason:)``.
  func checkKnown(_ path: String) throws {
    if fold > StateMark.foldNumber { throw StateMark.unknownFold(fold, path) }
  }

  static func unknownFold(_ fold: UInt32, _ path: String) -> DatabaseError {
    .unsupported(
      path: path,
      reason: "a later version of Cambium has used it: its state is of fold \(fold), and this "
        + "version knows folds up to \(StateMark.foldNumber); update this program")
  }

  init(generation: UInt64, isClean: Bool, boot: String, mount: String) {
    self.generation = generation
    self.isClean = isClean
    self.boot = boot
    self.mount = mount
  }

  init(_ bytes: RawSpan) throws {
    generation = try bytes.load(UInt64.self, at: 0)
    isClean = try bytes.load(UInt8.self, at: 8) == 1
    var offset = 9
    let bootCount = try bytes.length(at: &offset)
    boot = try bytes.string(offset, bootCount)
    offset += bootCount
    let mountCount = try bytes.length(at: &offset)
    mount = try bytes.string(offset, mountCount)
    fold = try bytes.foldNumber(at: offset + mountCount)
  }

  func stored() -> [UInt8] {
    var bytes = [UInt8](littleEndian: generation)
    bytes.append(isClean ? 1 : 0)
    bytes.append(varint: UInt64(boot.utf8.count))
    bytes.append(contentsOf: boot.utf8)
    bytes.append(varint: UInt64(mount.utf8.count))
    bytes.append(contentsOf: mount.utf8)
    bytes.append(littleEndian: fold)
    return bytes
  }
}

/// The file in front of the log; see ``Tail``.
struct TailMark: Equatable, Sendable {
  /// The seed of its frames' checksums, which no other file has.
  var seed: UInt64
  /// The size of the file.
  var bytes: Int

  init(seed: UInt64, bytes: Int) {
    self.seed = seed
    self.bytes = bytes
  }

  init(_ bytes: RawSpan) throws {
    seed = try bytes.load(UInt64.self, at: 0)
    self.bytes = Int(clamping: try bytes.load(UInt64.self, at: 8))
  }

  func stored() -> [UInt8] {
    var bytes = [UInt8](littleEndian: seed)
    bytes.append(littleEndian: UInt64(self.bytes))
    return bytes
  }
}

/// The copy of the state from which a recovery can start.
struct CheckpointMark: Equatable, Sendable {
  /// The newest record that the copy has folded; it is part of the directory's name.
  var sequence: SequenceNumber
  /// The size of the log at that time, in bytes.
  var logBytes: UInt64
  /// The number of the fold that made the copied state.
  var fold = StateMark.foldNumber

  init(sequence: SequenceNumber, logBytes: UInt64) {
    self.sequence = sequence
    self.logBytes = logBytes
  }

  init(_ bytes: RawSpan) throws {
    sequence = SequenceNumber(try bytes.load(UInt64.self, at: 0))
    logBytes = try bytes.load(UInt64.self, at: 8)
    fold = try bytes.foldNumber(at: 16)
  }

  func stored() -> [UInt8] {
    var bytes = [UInt8](littleEndian: sequence.rawValue)
    bytes.append(littleEndian: logBytes)
    bytes.append(littleEndian: fold)
    return bytes
  }
}

extension RawSpan {
  /// The fold number that ends an entry; 1 if the entry was written before there were any.
  func foldNumber(at offset: Int) throws -> UInt32 {
    offset < byteCount ? try load(UInt32.self, at: offset) : 1
  }
}

extension LogReader {
  func format() throws -> FormatEntry {
    guard let format = try entry("format", { try FormatEntry($0) }) else {
      throw DatabaseError.corrupt(reason: "the log has no format entry")
    }
    return format
  }

  /// The newest record, in LMDB or in the tail.
  func head() throws -> LogHead { try tail?.head ?? storedHead() }

  /// The newest record that LMDB holds.
  func storedHead() throws -> LogHead { try entry("head") { try LogHead($0) } ?? LogHead() }

  func tailMark() throws -> TailMark? { try entry("tail") { try TailMark($0) } }

  func stateMark() throws -> StateMark? { try entry("state") { try StateMark($0) } }

  func checkpoint() throws -> CheckpointMark? {
    try entry("checkpoint") { try CheckpointMark($0) }
  }

  /// A number stored under a name: a consumer's position or a cursor.
  func number(_ name: String) throws -> UInt64? {
    try entry(name) { try $0.load(UInt64.self, at: 0) }
  }

  /// The names of the entries that start with a prefix.
  func entryNames(startingWith prefix: String = "") throws -> [String] {
    var names: [String] = []
    try forEachEntry(startingWith: Array(prefix.utf8)) { name, _ in
      names.append(String(decoding: name, as: UTF8.self))
    }
    return names
  }

  /// Checks every entry.
  func checkEntries() throws {
    try forEachEntry(startingWith: []) { _, _ in }
    _ = try tags()
  }
}

/// Adds and checks the checksum that ends an entry of a `meta` table.
enum MetaEntry {
  /// An entry's stored form.
  static func seal(_ value: [UInt8], name: [UInt8]) -> [UInt8] {
    var sealed = value
    sealed.append(littleEndian: checksum(value, name))
    return sealed
  }

  /// Lends an entry's value after checking it.
  static func open<R>(
    _ sealed: RawSpan, name: [UInt8], _ body: (RawSpan) throws -> R
  ) throws -> R {
    let count = sealed.byteCount - 8
    try sealed.check(0, max(count, 0))
    let value = sealed.extracting(0..<max(count, 0))
    let stored = try sealed.load(UInt64.self, at: count)
    guard stored == Checksum.of(value, seed: name.lend { Checksum.of($0) }) else {
      let text = String(decoding: name, as: UTF8.self)
      throw DatabaseError.corrupt(reason: "the entry '\(text)' is not what was stored")
    }
    return try body(value)
  }

  private static func checksum(_ value: [UInt8], _ name: [UInt8]) -> UInt64 {
    value.lend { Checksum.of($0, seed: name.lend { Checksum.of($0) }) }
  }
}
