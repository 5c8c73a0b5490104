import CLMDBRaw

/// Where a superseded version goes.
enum HistoryLayout: String, CaseIterable {
  /// Appended in sequence order, links with the lowest set bit cleared.
  case appended = "skip: cleared bit"
  /// Appended in sequence order, skew-binary skip links.
  case jump = "skip: skew binary"
  /// The same; a node has room for links only from its first update.
  case growing = "same, from first update"
  /// Appended in sequence order; the present version holds a directory of the older ones.
  case directory8 = "directory of 8"
  case directory16 = "directory of 16"
  /// Under the node's key and the version's sequence number.
  case byKey = "by key"

  var skipRule: SkipRule { self == .appended ? .clearedBit : .skewBinary }
  var isAppended: Bool { self != .byKey }
  var linksFromTheStart: Bool { self == .appended || self == .jump }

  /// The largest number of links in a level of the directory; zero without one.
  var fanOut: Int {
    switch self {
    case .directory8: 8
    case .directory16: 16
    default: 0
    }
  }
}

/// A tree of nodes with its history, on raw LMDB, in one of the layouts under test.
///
/// Table `tree`: parent u64 big-endian, tag, key i64 big-endian → header, record.
/// Table `history`, appended: sequence u64 big-endian, index u32 big-endian → node's key, header,
/// record.
/// Table `history`, by key: the node's key, the version's sequence number → header, record.
@safe final class HistoryStore {
  static let keyBytes = 17
  static let recordBytes = 90
  private static let parent: UInt64 = 7

  let layout: HistoryLayout
  private let environment: RawEnvironment
  private let treeTable: MDB_dbi
  private let historyTable: MDB_dbi
  private(set) var sequence: UInt64 = 0
  /// The number of entries of `history` that were read, for links and for moments.
  private(set) var historyReads = 0
  var historyCount: UInt32 = 0
  /// The open transaction and its cursors.
  private var transaction: RawTransaction?
  private var tree: RawCursor?
  private var history: RawCursor?
  /// Room for a node's key and value, side by side as an appended entry holds them.
  let node: UnsafeMutableRawBufferPointer
  let entryKey: UnsafeMutableRawBufferPointer
  private let older: UnsafeMutableRawBufferPointer

  init(layout: HistoryLayout, directory: String) throws {
    self.layout = layout
    environment = try RawEnvironment(at: directory, flags: MDB_NOSYNC)
    let transaction = try environment.begin()
    treeTable = try transaction.table("tree")
    historyTable = try transaction.table("history")
    try transaction.commit()
    unsafe node = .allocate(byteCount: 2_048, alignment: 8)
    unsafe entryKey = .allocate(byteCount: 32, alignment: 8)
    unsafe older = .allocate(byteCount: 2_048, alignment: 8)
  }

  deinit {
    unsafe node.deallocate()
    unsafe entryKey.deallocate()
    unsafe older.deallocate()
  }
}

// MARK: Transactions

extension HistoryStore {
  /// Runs the body in a transaction of its own, with the next sequence number.
  func write(_ body: () throws -> Void) throws {
    sequence += 1
    historyCount = 0
    try run(readOnly: false, body)
  }

  /// Runs the body on a snapshot of the present.
  func read(_ body: () throws -> Void) throws { try run(readOnly: true, body) }

  private func run(readOnly: Bool, _ body: () throws -> Void) throws {
    let transaction = try environment.begin(readOnly: readOnly)
    let tree = try transaction.cursor(treeTable)
    let history = try transaction.cursor(historyTable)
    (self.transaction, self.tree, self.history) = (transaction, tree, history)
    do { try body() } catch {
      transaction.abort()
      throw error
    }
    if readOnly {
      tree.close()
      history.close()
      transaction.abort()
    } else {
      try transaction.commit()
    }
  }

  /// Bytes of the whole environment, and of the history in it.
  func sizes() throws -> (file: Int, history: Int) {
    let transaction = try environment.begin(readOnly: true)
    defer { transaction.abort() }
    return (environment.usedBytes, transaction.bytes(of: historyTable))
  }

  fileprivate func cursors() throws -> (tree: RawCursor, history: RawCursor) {
    guard let tree, let history else { throw BenchmarkError("no open transaction") }
    return (tree, history)
  }
}

// MARK: Writing

extension HistoryStore {
  /// Creates a node behind all others.
  func append(_ number: Int) throws {
    let linked = layout.linksFromTheStart
    writeKey(of: number)
    let size = linked ? VersionHeader.linkedBytes : VersionHeader.plainBytes
    unsafe VersionHeader(modified: sequence).write(to: value, linked: linked)
    var content = SeededGenerator(seed: UInt64(number))
    for offset in 0..<HistoryStore.recordBytes {
      unsafe value[size + offset] = UInt8(truncatingIfNeeded: content.next())
    }
    let stored = unsafe UnsafeRawBufferPointer(rebasing: value[..<(size + Self.recordBytes)])
    unsafe try cursors().tree.put(nodeKey, stored, flags: MDB_APPEND)
  }

  /// Changes eight bytes of a node's record; its version so far becomes history.
  func update(_ number: Int, to property: UInt64) throws {
    let (tree, history) = try cursors()
    writeKey(of: number)
    var key = unsafe nodeKey
    guard let old = unsafe try tree.move(MDB_SET, &key) else { throw missing(number) }
    if layout.fanOut > 0 {
      return unsafe try updateInDirectory(old, to: property, tree, history)
    }
    unsafe value.copyMemory(from: old)
    var header = unsafe VersionHeader(old)
    let oldSize = unsafe VersionHeader.size(in: UnsafeRawBufferPointer(value))
    var linked = oldSize == VersionHeader.linkedBytes
    let count = old.count
    if header.modified != sequence {
      try supersede(&header, valueBytes: count, in: history)
      if layout.isAppended && !linked { makeRoomForLinks(valueBytes: count) }
      linked = layout.isAppended
    }
    unsafe header.write(to: value, linked: linked)
    let size = linked ? VersionHeader.linkedBytes : VersionHeader.plainBytes
    unsafe value.storeBytes(of: property, toByteOffset: size + 8, as: UInt64.self)
    let stored = unsafe UnsafeRawBufferPointer(rebasing: value[..<(size + Self.recordBytes)])
    unsafe try tree.put(nodeKey, stored, flags: MDB_CURRENT)
  }

  private func updateInDirectory(
    _ old: UnsafeRawBufferPointer, to property: UInt64, _ tree: RawCursor, _ history: RawCursor
  ) throws {
    var size = old.count - Self.recordBytes
    if unsafe VersionHeader(old).modified == sequence {
      unsafe value.copyMemory(from: old)
    } else {
      unsafe older.copyMemory(from: old)
      let copy = unsafe UnsafeRawBufferPointer(rebasing: older[..<old.count])
      unsafe size = try supersedeInDirectory(copy, in: history)
    }
    unsafe value.storeBytes(of: property, toByteOffset: size + 8, as: UInt64.self)
    let stored = unsafe UnsafeRawBufferPointer(rebasing: value[..<(size + Self.recordBytes)])
    unsafe try tree.put(nodeKey, stored, flags: MDB_CURRENT)
  }

  /// Puts the version in `node` into the history, and makes `header` that of its successor.
  @inline(__always)
  private func supersede(
    _ header: inout VersionHeader, valueBytes: Int, in history: RawCursor
  ) throws {
    if layout.isAppended {
      let skip = try skipLink(after: header, in: history)
      writeEntryKey(.init(supersededAt: sequence, index: historyCount))
      let entry = unsafe UnsafeRawBufferPointer(rebasing: node[..<(Self.keyBytes + valueBytes)])
      unsafe try history.put(MDB_val(entryKey, 12), entry, flags: MDB_APPEND)
      header.previous = .init(supersededAt: sequence, index: historyCount)
      header.skip = skip ?? header.previous
      header.version += 1
      historyCount += 1
    } else {
      writeEntryKey(at: header.modified)
      let version = unsafe UnsafeRawBufferPointer(rebasing: value[..<valueBytes])
      unsafe try history.put(MDB_val(entryKey, Self.keyBytes + 8), version)
    }
    header.modified = sequence
  }

  /// The skip link of the version after `header`'s; nil if it is the link to that version.
  private func skipLink(
    after header: VersionHeader, in history: RawCursor
  ) throws -> VersionHeader.Link? {
    let rule = layout.skipRule
    let target = rule.target(of: header.version + 1)
    if target == header.version { return nil }
    var reached = rule.target(of: header.version)
    var link = header.skip
    while reached != target {
      guard let entry = unsafe try entry(at: link, in: history) else { throw broken(link) }
      link = unsafe VersionHeader(entry).skip
      reached = rule.target(of: reached)
    }
    return link
  }

  private func makeRoomForLinks(valueBytes: Int) {
    let record = unsafe UnsafeRawBufferPointer(
      rebasing: value[VersionHeader.plainBytes..<valueBytes])
    unsafe UnsafeMutableRawBufferPointer(rebasing: value[VersionHeader.linkedBytes...])
      .copyMemory(from: record)
  }
}

// MARK: Reading

extension HistoryStore {
  /// Folds the node's record as of a moment into the digest.
  func read(_ number: Int, asOf moment: UInt64, into digest: inout Digest) throws {
    let (tree, history) = try cursors()
    writeKey(of: number)
    var key = unsafe nodeKey
    guard let present = unsafe try tree.move(MDB_SET, &key) else { throw missing(number) }
    var header = unsafe VersionHeader(present)
    if header.modified <= moment { return unsafe addRecord(of: present, to: &digest) }
    guard layout.isAppended else { return try readByKey(moment, history, into: &digest) }
    if layout.fanOut > 0 {
      guard let version = unsafe try versionInDirectory(present, asOf: moment, in: history)
      else { return digest.add(UInt64(0)) }
      return unsafe addRecord(of: version, to: &digest)
    }
    while header.version > 0 {
      let link = header.skip.supersededAt > moment ? header.skip : header.previous
      guard let version = unsafe try entry(at: link, in: history) else { throw broken(link) }
      header = unsafe VersionHeader(version)
      if header.modified <= moment { return unsafe addRecord(of: version, to: &digest) }
    }
    digest.add(UInt64(0))
  }

  private func readByKey(
    _ moment: UInt64, _ history: RawCursor, into digest: inout Digest
  ) throws {
    writeEntryKey(at: moment + 1)
    historyReads += 1
    var key = unsafe MDB_val(entryKey, Self.keyBytes + 8)
    let isInside = unsafe try history.move(MDB_SET_RANGE, &key) != nil
    let found = unsafe try history.move(isInside ? MDB_PREV : MDB_LAST, &key)
    guard let version = unsafe found, unsafe isOfNode(key)
    else { return digest.add(UInt64(0)) }
    unsafe addRecord(of: version, to: &digest)
  }

  @inline(__always)
  private func addRecord(of version: UnsafeRawBufferPointer, to digest: inout Digest) {
    unsafe digest.add(
      UnsafeRawBufferPointer(rebasing: version[(version.count - Self.recordBytes)...]))
  }

  /// The header and record of an appended entry.
  func entry(
    at link: VersionHeader.Link, in history: RawCursor
  ) throws -> UnsafeRawBufferPointer? {
    historyReads += 1
    writeEntryKey(link)
    var key = unsafe MDB_val(entryKey, 12)
    guard let entry = unsafe try history.move(MDB_SET, &key) else { return nil }
    return unsafe UnsafeRawBufferPointer(rebasing: entry[Self.keyBytes...])
  }
}

// MARK: Keys

extension HistoryStore {
  private var nodeKey: MDB_val { unsafe MDB_val(node, Self.keyBytes) }

  var value: UnsafeMutableRawBufferPointer {
    unsafe UnsafeMutableRawBufferPointer(rebasing: node[Self.keyBytes...])
  }

  private func writeKey(of number: Int) {
    let sortable = UInt64(bitPattern: Int64(number)) ^ (1 << 63)
    unsafe node.storeBytes(of: Self.parent.bigEndian, as: UInt64.self)
    unsafe node[8] = 1
    unsafe node.storeBytes(of: sortable.bigEndian, toByteOffset: 9, as: UInt64.self)
  }

  func writeEntryKey(_ link: VersionHeader.Link) {
    unsafe entryKey.storeBytes(of: link.supersededAt.bigEndian, as: UInt64.self)
    unsafe entryKey.storeBytes(of: link.index.bigEndian, toByteOffset: 8, as: UInt32.self)
  }

  private func writeEntryKey(at moment: UInt64) {
    unsafe entryKey.copyMemory(from: UnsafeRawBufferPointer(rebasing: node[..<Self.keyBytes]))
    unsafe entryKey.storeBytes(
      of: moment.bigEndian, toByteOffset: Self.keyBytes, as: UInt64.self)
  }

  /// True if the history entry with this key belongs to the node in `node`.
  @inline(__always)
  private func isOfNode(_ key: MDB_val) -> Bool {
    let key = unsafe UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size)
    return unsafe key[16] == node[16]
      && key.loadUnaligned(as: UInt128.self)
        == node.loadUnaligned(as: UInt128.self)
  }

  private func missing(_ number: Int) -> BenchmarkError {
    BenchmarkError("node \(number) is missing")
  }

  func broken(_ link: VersionHeader.Link) -> BenchmarkError {
    BenchmarkError("no history entry \(link.supersededAt).\(link.index)")
  }
}

extension MDB_val {
  @inline(__always)
  init(_ bytes: UnsafeMutableRawBufferPointer, _ count: Int) {
    unsafe self.init(mv_size: count, mv_data: bytes.baseAddress)
  }
}
