// Entries of bytes in files that nobody else sees, in the order of their keys.
//
//     key of up to 479 bytes         key                              value
//     longer                         first 480 bytes │ digest (16)    length │ key │ value
//
// Nothing is flushed: the files have no name, so they go with the process, however it ends. Keys
// that begin with the same 480 bytes lie together, and are put in order as they are read.

import LMDB

/// Entries of bytes in files.
final class ScratchEntries {
  typealias Entry = OperatorEntries.Entry

  /// The bytes of a key by which entries are ordered in the files.
  private static let orderedBytes = 480
  /// A guess of the bytes that a change takes besides its value: it changes some pages.
  private static let changeBytes = 16 << 10
  private static let (tableName, prefix) = ("entries", "cambium-live")

  private let environment: Environment
  private let table: Table
  /// The bytes of changes after which they are written.
  private let pendingMax: Int
  /// The changes since the last commit; nil before the first.
  private var transaction: WriteTransaction?
  private var pendingBytes = 0

  /// Creates the files.
  ///
  /// - Parameters:
  ///   - directory: The directory for them.
  ///   - pendingMax: The bytes of changes that are kept in memory.
  /// - Throws: ``StorageError`` if that is not possible.
  init(in directory: String, pendingMax: Int) throws {
    // A process that was killed just when it made them has left an empty directory.
    for name in Files.names(in: directory, startingWith: ScratchEntries.prefix) {
      try? ClaimedDirectory.removeIfAbandoned("\(directory)/\(name)")
    }
    var options = Environment.Options(
      tables: [ScratchEntries.tableName], mapSize: 1 << 32, synced: false)
    options.isAnonymous = true
    // Nobody else can open them.
    options.acceptsNetworkFileSystem = true
    environment = try Database.withTemporaryDirectory(
      "\(directory)/\(ScratchEntries.prefix)", "-", .ownerOnly
    ) { [options] in try Environment(at: $0, options) }
    self.pendingMax = pendingMax
    table = try environment.table(ScratchEntries.tableName)
  }

  /// Ends a step.
  func commit() throws {
    pendingBytes = 0
    if let transaction = transaction.take() { try transaction.commit() }
  }

  /// Ends a step that has failed.
  func abandon() {
    pendingBytes = 0
    _ = transaction.take()
  }

  private func begin() throws {
    if transaction != nil { return }
    // The map cannot grow while a transaction is open.
    try environment.growMap(headroom: 2 * pendingMax + (64 << 20))
    transaction = try WriteTransaction(environment)
  }

  // MARK: Entries

  func value(of key: [UInt8]) throws -> [UInt8]? {
    try begin()
    let stored = ScratchEntries.stored(key)
    return try stored.lend { bytes in
      try transaction?.get(table, bytes) { try ScratchEntries.entry(bytes, $0).value }
    } ?? nil
  }

  func set(_ key: [UInt8], to value: [UInt8]?) throws {
    try begin()
    let stored = ScratchEntries.stored(key)
    if let value {
      let content = ScratchEntries.content(key, value)
      try stored.lend { key in try content.lend { try transaction?.put(table, key, $0) } }
      pendingBytes += content.count
    } else {
      _ = try stored.lend { try transaction?.delete(table, $0) }
    }
    pendingBytes += ScratchEntries.changeBytes
    if pendingBytes > pendingMax { try commit() }
  }

  func first(behind key: [UInt8]?, startingWith prefix: [UInt8]) throws -> Entry? {
    try begin()
    guard let access = transaction?.access else { return nil }
    let start = key.map { $0.precedes(prefix) ? prefix : $0 } ?? prefix
    let part = Array(prefix.prefix(ScratchEntries.orderedBytes))
    var cursor = try Cursor(access, table)
    var isThere = try Array(start.prefix(ScratchEntries.orderedBytes)).lend { try cursor.seek($0) }
    // The first of those that have their ordered bytes in common.
    var best: Entry?
    while isThere {
      let found = try cursor.withEntry { bytes, value -> Entry? in
        guard part.lend({ bytes.starts(with: $0) }) else { return nil }
        return try ScratchEntries.entry(bytes, value)
      }
      guard let found, best.map({ ScratchEntries.areTogether($0.key, found.key) }) ?? true else {
        return best
      }
      let isBehind = key.map { $0.precedes(found.key) } ?? true
      if isBehind, found.key.starts(with: prefix),
        best.map({ found.key.precedes($0.key) }) ?? true
      {
        best = found
        if found.key.count < ScratchEntries.orderedBytes { return found }
      }
      isThere = try cursor.next()
    }
    return best
  }

  // MARK: The stored form

  private static func stored(_ key: [UInt8]) -> [UInt8] {
    if key.count < orderedBytes { return key }
    return Array(key.prefix(orderedBytes)) + key.lend { Digest.of($0) }.prefix(16)
  }

  private static func content(_ key: [UInt8], _ value: [UInt8]) -> [UInt8] {
    if key.count < orderedBytes { return value }
    var content: [UInt8] = []
    content.append(varint: UInt64(key.count))
    return content + key + value
  }

  private static func entry(_ key: RawSpan, _ content: RawSpan) throws -> Entry {
    if key.byteCount < orderedBytes { return (key.array(), content.array()) }
    var offset = 0
    let whole = try content.part(at: &offset)
    return (content.extracting(whole).array(), content.extracting(offset...).array())
  }

  /// True if two keys lie together, and are not ordered in the files.
  private static func areTogether(_ key: [UInt8], _ other: [UInt8]) -> Bool {
    key.count >= orderedBytes && key.prefix(orderedBytes) == other.prefix(orderedBytes)
  }
}
