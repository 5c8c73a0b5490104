// An unfinished upload, in a directory of its own beside the log:
//
//     upload-<id>/content   the bytes so far. Those behind the durable length may be anything after
//                           a crash, and are written again.
//     upload-<id>/upload    an entry like those of the log's meta table, with this name: a map
//
//         name, type, created, modified   as in a stored file
//         size      integer               the bytes that there are in all; absent if not known
//         length    integer               the durable bytes of `content`
//         digest    data, 32 bytes        BLAKE2b-256 of these
//         lease     integer               microseconds
//         touched   date                  when it was last made durable
//
// The content becomes durable first, then an entry that says so takes the place of the old one. Its
// address is known only at the end, so that is when it goes into the log. Whoever works on an
// upload has its directory locked; the others leave it alone until its lease has ended.

import FoundationEssentials
import LMDB

/// An unfinished upload: a file on its way into a database.
public struct UnfinishedUpload: Hashable, Sendable, Identifiable {
  /// The upload's own id.
  public let id: UUID
  /// The name of the file.
  public internal(set) var name: String
  /// Its media type; nil if it is not known.
  public internal(set) var type: String?
  /// The time at which the file was made; nil if it is not known.
  public internal(set) var created: Date?
  /// The time at which its content was last changed; nil if it is not known.
  public internal(set) var modified: Date?
  /// The bytes that there are in all; nil if that is not known.
  public internal(set) var size: UInt64?
  /// The bytes that are durable: the source goes on from here.
  public internal(set) var received: UInt64 = 0
  /// The time at which bytes were last made durable.
  public internal(set) var touched: Date
  /// The time that an interruption may take, and for which the file is kept once all is there.
  public internal(set) var lease: Duration

  /// The end of the time in which it can be resumed.
  public var expiry: Date { touched.addingTimeInterval(lease.seconds) }
}

/// The files of an unfinished upload, which are locked while it exists.
final class UploadPart: @unchecked Sendable {
  // It is Sendable because its one owner, an `Upload`, uses it behind a lock.

  static let prefix = "upload-"
  /// After so many bytes they are made durable.
  static let stepBytes: UInt64 = 16 << 20

  private let claim: ClaimedDirectory
  private let content: PartFile
  private let digest = Digest()
  private(set) var note: UnfinishedUpload
  /// The bytes that were written, durable or not.
  private(set) var received: UInt64 = 0
  /// The time of day, for the note.
  private let now: @Sendable () -> Int64

  private static func path(of id: UUID, in directory: OpenDirectory) -> String {
    "\(directory.path)/\(prefix)\(id.uuidString.lowercased())"
  }

  /// Begins an upload; where that fails nothing is left.
  init(creating note: UnfinishedUpload, in directory: OpenDirectory) throws {
    claim = try ClaimedDirectory(creating: UploadPart.path(of: note.id, in: directory))
    content = try PartFile("\(claim.path)/content")
    self.note = note
    now = { directory.options.now }
    do {
      try save()
      try Files.sync(directory.path)
    } catch {
      try? remove()
      throw error
    }
  }

  /// Goes on with one.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` if there is none, ``DatabaseError/busy(reason:)``
  ///   if somebody is at it, ``DatabaseError/corrupt(reason:)``.
  init(_ id: UUID, in directory: OpenDirectory) throws {
    let path = UploadPart.path(of: id, in: directory)
    guard Files.isDirectory(path) else {
      throw DatabaseError.misuse(
        reason: "there is no upload \(id.uuidString.lowercased()); its lease may have ended")
    }
    claim = try ClaimedDirectory(locking: path)
    content = try PartFile("\(path)/content")
    now = { directory.options.now }
    let (note, stored) = try UploadPart.note(id, at: path)
    self.note = note
    while received < note.received {
      let count = min(note.received - received, 1 << 20)
      let bytes = try content.read(at: received, count: Int(count))
      if bytes.isEmpty { break }
      digest.update(bytes)
      received += UInt64(bytes.count)
    }
    guard received == note.received, digest.soFar() == stored else {
      throw DatabaseError.corrupt(
        reason: "the part of \(note.name) that was received is not what was stored; remove the "
          + "upload, and begin again")
    }
  }

  /// Adds bytes; where that fails none are added.
  func append(_ bytes: [UInt8]) throws {
    if received - note.received >= UploadPart.stepBytes { try save() }
    try content.write(bytes, at: received)
    digest.update(bytes)
    received += UInt64(bytes.count)
  }

  /// True if a file begins with what was received.
  func isStart(of file: FileReader) throws -> Bool {
    let other = Digest()
    var rest = received
    while rest > 0 {
      let bytes = try file.read(Int(min(rest, 1 << 20)))
      if bytes.isEmpty { return false }
      other.update(bytes)
      rest -= UInt64(bytes.count)
    }
    return other.current() == digest.soFar()
  }

  /// A chunk of the content.
  func chunk(_ number: UInt32) throws -> [UInt8] {
    let chunkBytes = UInt64(BlobChunks.chunkBytes)
    let start = UInt64(number) * chunkBytes
    // Behind what was received there may be bytes of a run that was broken off.
    let count = min(chunkBytes, received - min(start, received))
    return try content.read(at: start, count: Int(count))
  }

  /// The file, of which all was received.
  func file() throws -> StoredFile {
    if let size = note.size, size != received {
      throw DatabaseError.misuse(
        reason: "\(received) bytes of \(note.name) have come, and \(size) were announced")
    }
    return StoredFile(
      Blob(hash: digest.soFar(), size: received), name: note.name, type: note.type,
      created: note.created, modified: note.modified)
  }

  /// Makes durable what was received.
  func save() throws {
    try content.sync()
    var saved = note
    (saved.received, saved.touched) = (received, Date(microseconds: now()))
    let (name, new) = ("\(claim.path)/upload", "\(claim.path)/upload.tmp")
    if Files.exists(new) { try Files.remove(new) }
    let writer = try FileWriter(creating: new)
    try writer.append(MetaEntry.seal(try saved.stored(digest.soFar()), name: UploadPart.entryName))
    try writer.sync()
    try Files.replace(name, with: new)
    try Files.sync(claim.path)
    note = saved
  }

  /// Removes the upload.
  func remove() throws { try UploadPart.remove(claim) }

  /// Removes the entry first: what a crash leaves after that was never begun, and is swept.
  private static func remove(_ claim: ClaimedDirectory) throws {
    if Files.exists("\(claim.path)/upload") { try Files.remove("\(claim.path)/upload") }
    try Files.removeDirectory(claim.path)
  }

  // MARK: All uploads

  private static let entryName = Array("upload".utf8)

  /// The ids of the uploads in a directory.
  static func ids(in directory: OpenDirectory) -> [UUID] {
    Files.names(in: directory.path, startingWith: prefix).compactMap {
      UUID(uuidString: String($0.dropFirst(prefix.count)))
    }
  }

  /// The unfinished uploads that can be read, in the order of their ids.
  static func all(in directory: OpenDirectory) -> [UnfinishedUpload] {
    ids(in: directory).compactMap { try? note($0, at: path(of: $0, in: directory)).note }
      .sorted { $0.id.uuidString < $1.id.uuidString }
  }

  /// Removes an upload at which nobody is, whatever its state.
  ///
  /// - Returns: False if there is none.
  static func remove(_ id: UUID, in directory: OpenDirectory) throws -> Bool {
    let path = path(of: id, in: directory)
    guard Files.exists(path) else { return false }
    try remove(try ClaimedDirectory(locking: path))
    return true
  }

  /// Removes the uploads whose lease has ended, and those that were never begun; what cannot be
  /// removed now is removed another time.
  static func removeLapsed(in directory: OpenDirectory) {
    let ids = ids(in: directory)
    if ids.isEmpty { return }
    let now = LeaseTime(directory).present
    for id in ids {
      let path = path(of: id, in: directory)
      // One that lives on is not locked, since somebody may be about to go on with it.
      guard isOver(id, at: path, now), let claim = try? ClaimedDirectory(locking: path),
        isOver(id, at: path, now)
      else { continue }
      try? remove(claim)
    }
  }

  /// True if an upload's lease has ended, or one was never begun.
  static func hasLapsed(in directory: OpenDirectory) -> Bool {
    let now = LeaseTime(directory).present
    return ids(in: directory).contains { isOver($0, at: path(of: $0, in: directory), now) }
  }

  private static func isOver(_ id: UUID, at path: String, _ now: Int64) -> Bool {
    let expiry = try? note(id, at: path).note.expiry
    // One without an entry was broken off before it had one; a damaged one is its owner's affair.
    return expiry.map { $0.microseconds <= now } ?? !Files.exists("\(path)/upload")
  }

  private static func note(
    _ id: UUID, at path: String
  ) throws -> (note: UnfinishedUpload, digest: [UInt8]) {
    let stored = try FileReader("\(path)/upload").read(1 << 20)
    return try stored.lend { sealed in
      try MetaEntry.open(sealed, name: entryName) { try UnfinishedUpload.read(id, try Value($0)) }
    }
  }
}

extension UnfinishedUpload {
  fileprivate func stored(_ digest: [UInt8]) throws -> [UInt8] {
    var members = ValueMap()
    members["name"] = .string(name)
    members["type"] = type.map { .string($0) }
    members["created"] = created.map { .date($0) }
    members["modified"] = modified.map { .date($0) }
    members["size"] = size.map { .integer(Int64(clamping: $0)) }
    members["length"] = .integer(Int64(clamping: received))
    members["digest"] = .data(Data(digest))
    members["lease"] = .integer(lease.microseconds)
    members["touched"] = .date(touched)
    return try Value.map(members).stored()
  }

  fileprivate static func read(
    _ id: UUID, _ value: Value
  ) throws -> (note: UnfinishedUpload, digest: [UInt8]) {
    guard case .map(let members) = value, case .string(let name)? = members["name"],
      case .integer(let length)? = members["length"], length >= 0,
      case .data(let digest)? = members["digest"], case .integer(let lease)? = members["lease"],
      case .date(let touched)? = members["touched"]
    else { throw DatabaseError.corrupt(reason: "the entry of an upload has other members") }
    var note = UnfinishedUpload(
      id: id, name: name, received: UInt64(length), touched: touched,
      lease: .microseconds(lease))
    if case .string(let type)? = members["type"] { note.type = type }
    if case .date(let created)? = members["created"] { note.created = created }
    if case .date(let modified)? = members["modified"] { note.modified = modified }
    if case .integer(let size)? = members["size"] { note.size = UInt64(clamping: size) }
    return (note, Array(digest))
  }
}
