import CLMDB

/// The two ways in which a ``WriteTransaction`` writes, and the change from one to the other.
///
/// Invariant: until it ends it has a transaction of LMDB, with all its changes, or `marks`: then
/// the buffer has its changes from the first one on, and the others are its savepoints.
///
/// It lends nothing itself, since whoever is lent bytes may look up others.
@safe struct EntryWriter: ~Copyable {
  private let environment: Environment
  private let behind: WriteBehind?
  /// The buffer of `behind` that is filled, without counting a reference for each entry.
  private let front: UnsafeMutablePointer<EntryBuffer>?
  private let blindTables: BlindTables
  private var direct: DirectTransaction?
  /// The file, as of the beginning.
  private var view: ReadTransaction?
  /// Lookups near the last one, in the table that was asked first.
  private var near: NearLookup?
  private var nearTable: Table?
  private var gap = KeyGap()
  private var marks: [Int] = []

  init(_ environment: Environment, _ behind: WriteBehind?, isDirect: Bool) throws {
    self.environment = environment
    self.behind = behind
    unsafe front = behind?.front
    blindTables = environment.blindTables
    if let behind, !isDirect, !behind.startsDirectly() {
      // A replaced file is noticed by the first commit of a buffer, and when that is written.
      try environment.health.checkWritable(looksAtFiles: behind.isEmpty)
      let view = try behind.begin()
      // One without pages of its own would keep the map from growing.
      if view.access.pages != nil {
        marks = [unsafe behind.front.pointee.end]
        self.view = consume view
        return
      }
    }
    try behind?.write()
    direct = try DirectTransaction(environment)
  }

  deinit {
    if let first = marks.first { unsafe behind?.front.pointee.rewind(to: first) }
  }

  /// True if it has a transaction of LMDB.
  var isDirect: Bool { direct != nil }

  // MARK: Lookups

  /// The view of LMDB's transaction, if there is one.
  var access: Access? { mutating get { direct?.access } }

  /// The value of a key, without its seal.
  @inline(__always)
  mutating func find(_ table: Table, _ key: UnsafeRawBufferPointer) throws -> MDB_val? {
    if direct != nil { return unsafe try direct?.access.find(table, key) ?? nil }
    return unsafe try findBehind(table, key, isNear: false)
  }

  /// The value of a key that is near the last one, or is put next.
  @inline(__always)
  mutating func findNear(_ table: Table, _ key: UnsafeRawBufferPointer) throws -> MDB_val? {
    if direct != nil { return unsafe try direct?.find(table, key) ?? nil }
    return unsafe try findBehind(table, key, isNear: true)
  }

  private mutating func findBehind(
    _ table: Table, _ key: UnsafeRawBufferPointer, isNear: Bool
  ) throws -> MDB_val? {
    if blindTables.contains(table) {
      _ = unsafe try directHandle()
      return unsafe try direct?.access.find(table, key) ?? nil
    }
    guard let front = unsafe front, let access = view?.access else { return nil }
    try unsafe checkKey(key.bytes)
    switch unsafe WriteBehind.find(table, key, front) {
    case .deleted: return nil
    case .value(let bytes): return unsafe MDB_val(bytes)
    case .none: break
    }
    if near == nil, isNear {
      near = NearLookup(access, table)
      nearTable = table
    }
    if !isNear || nearTable != table { return unsafe try access.find(table, key) }
    if unsafe gap.contains(key) { return nil }
    if let found = unsafe try near?.value(of: key) ?? nil { return unsafe found }
    unsafe try gap.note(key, absentFrom: table, access)
    return nil
  }

  /// The keys of the file on both sides of a key; see ``WriteTransaction/neighbors(of:in:_:)``.
  mutating func neighbors(of key: RawSpan, in table: Table, _ prefix: Int) throws -> KeyNeighbors {
    guard let access = direct?.access ?? view?.access else { return KeyNeighbors() }
    return try KeyNeighbors(of: key, in: table, prefix, access)
  }

  // MARK: Changes

  @inline(__always)
  mutating func put(_ table: Table, _ key: RawSpan, _ value: RawSpan, _ mode: PutMode) throws {
    if direct == nil {
      try checkKey(key)
      if add(mode == .append ? .append : .put, table, key, value) { return }
      try goDirect()
    }
    try direct?.put(table, key, value, mode)
  }

  mutating func delete(_ table: Table, _ key: RawSpan, isKnown: Bool) throws -> Bool {
    if direct == nil {
      try checkKey(key)
      if blindTables.contains(table) {
        if add(.delete, table, key, key.extracting(first: 0)) { return true }
        try goDirect()
        return try direct?.delete(table, key) ?? false
      }
      let isThere =
        unsafe try isKnown
        || key.withUnsafeBytes {
          unsafe try findBehind(table, $0, isNear: nearTable == table) != nil
        }
      if !isThere || add(.delete, table, key, key.extracting(first: 0)) { return isThere }
      try goDirect()
    }
    return try direct?.delete(table, key) ?? false
  }

  @inline(__always)
  private func add(
    _ kind: EntryBuffer.Kind, _ table: Table, _ key: RawSpan, _ value: RawSpan
  ) -> Bool {
    guard let front = unsafe front else { return false }
    let isBlind = blindTables.contains(table)
    return unsafe key.withUnsafeBytes { key in
      unsafe value.withUnsafeBytes { value in
        unsafe front.pointee.add(kind, table, key, value, isBlind: isBlind)
      }
    }
  }

  @inline(__always)
  private func checkKey(_ key: RawSpan) throws {
    guard key.byteCount > 0, key.byteCount <= keyBytesMax else { throw StorageError(key) }
  }

  // MARK: Savepoints

  mutating func savepoint() throws {
    if direct != nil {
      try direct?.savepoint()
    } else if let behind {
      marks.append(unsafe behind.front.pointee.end)
    }
  }

  mutating func release() throws {
    precondition(savepoints > 0, "release without a savepoint")
    if direct != nil { try direct?.release() } else { marks.removeLast() }
  }

  mutating func rollBack() {
    precondition(savepoints > 0, "rollBack without a savepoint")
    if direct != nil {
      direct?.rollBack()
    } else {
      unsafe behind?.front.pointee.rewind(to: marks.removeLast())
    }
  }

  /// The number of open savepoints.
  var savepoints: Int { mutating get { direct?.savepoints ?? (marks.count - 1) } }

  // MARK: Going on directly

  /// LMDB's transaction, in which cursors see what was written so far.
  mutating func directHandle() throws -> OpaquePointer? {
    if direct == nil {
      behind?.preferDirect()
      try goDirect()
    }
    return unsafe try direct?.access.handle
  }

  mutating func writeDirectly() throws { if direct == nil { try goDirect() } }

  /// Makes the changes again in a transaction of LMDB, and goes on there.
  private mutating func goDirect() throws {
    guard let behind, let first = marks.first else {
      throw StorageError(.badTransaction, "the transaction has ended")
    }
    // Bytes lent from the view and the buffer may still be in use, so both stay as they are.
    direct = try replayed(behind)
    unsafe behind.front.pointee.rewind(to: first)
    marks = []
  }

  private func replayed(_ behind: WriteBehind) throws -> DirectTransaction {
    while true {
      do {
        return try replay(behind)
      } catch let error as StorageError where error.kind == .mapFull {
        // The map's maximum ends this.
        try environment.enlargeMap()
      }
    }
  }

  private func replay(_ behind: WriteBehind) throws -> DirectTransaction {
    var transaction = try behind.beginDirectly()
    let ends = marks.dropFirst() + [unsafe behind.front.pointee.end]
    for (index, (mark, end)) in zip(marks, ends).enumerated() {
      if index > 0 { try transaction.savepoint() }
      var place = mark
      while place < end {
        let record = unsafe behind.front.pointee.records.record(at: place)
        try transaction.apply(record)
        place = record.end
      }
    }
    return transaction
  }

  // MARK: The end

  mutating func commit() throws {
    precondition(savepoints == 0, "commit inside a savepoint")
    if let direct = direct.take() { return try direct.commit() }
    marks = []
    near = nil
    view = nil
    behind?.commit()
  }
}
