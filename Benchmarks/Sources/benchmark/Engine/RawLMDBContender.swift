import CLMDBRaw

/// LMDB with nothing above it: what the storage costs without log, history, names or checksums.
///
///     key u64 native → item; see `ItemBytes`
@safe final class RawLMDBContender: Contender {
  static let name = "raw LMDB"

  private let environment: RawEnvironment
  private let table: MDB_dbi
  private let key: UnsafeMutableRawBufferPointer
  private let item = ItemBytes()

  /// Later means never here: LMDB leaves flushing to whoever uses it.
  init(directory: String, isSoon: Bool) throws {
    environment = try RawEnvironment(at: directory, flags: isSoon ? MDB_NOSYNC : 0)
    let transaction = try environment.begin()
    table = try transaction.table("items", flags: MDB_INTEGERKEY)
    try transaction.commit()
    unsafe key = .allocate(byteCount: 8, alignment: 8)
  }

  deinit { unsafe key.deallocate() }

  func store(_ items: ArraySlice<Item>, from first: Int, perTransaction: Int) throws {
    try pieces(of: items.count, perTransaction) { piece in
      try write { cursor in
        for offset in piece {
          let bytes = unsafe item.encode(items[items.startIndex + offset])
          unsafe try cursor.put(keyValue(first + offset), bytes, flags: MDB_APPEND)
        }
      }
    }
  }

  func readName(_ keys: [Int]) throws -> Digest {
    var digest = Digest()
    try read { cursor in
      for key in keys {
        let bytes = unsafe try find(key, cursor)
        unsafe digest.add(ItemBytes.name(bytes))
      }
    }
    return digest
  }

  func readItem(_ keys: [Int]) throws -> Digest {
    var digest = Digest()
    try read { cursor in
      for key in keys {
        let bytes = unsafe try find(key, cursor)
        unsafe digest.add(ItemBytes.decode(bytes))
      }
    }
    return digest
  }

  func sumScores() throws -> Int64 {
    var sum: Int64 = 0
    try read { cursor in
      var key = unsafe MDB_val()
      var item = unsafe try cursor.move(MDB_FIRST, &key)
      while let bytes = unsafe item {
        unsafe sum += ItemBytes.score(bytes)
        unsafe item = try cursor.move(MDB_NEXT, &key)
      }
    }
    return sum
  }

  func update(_ changes: [ItemChange], perTransaction: Int) throws {
    try pieces(of: changes.count, perTransaction) { piece in
      try write { cursor in
        for change in changes[piece] {
          let bytes = unsafe item.copy(try find(change.key, cursor), count: change.count)
          unsafe try cursor.put(keyValue(change.key), bytes, flags: MDB_CURRENT)
        }
      }
    }
  }

  func remove(_ keys: [Int], perTransaction: Int) throws {
    try pieces(of: keys.count, perTransaction) { piece in
      try write { cursor in
        for key in keys[piece] {
          unsafe _ = try find(key, cursor)
          try cursor.delete()
        }
      }
    }
  }
}

// MARK: Transactions and bytes

extension RawLMDBContender {
  private func write(_ body: (RawCursor) throws -> Void) throws {
    let transaction = try environment.begin()
    do { try body(transaction.cursor(table)) } catch {
      transaction.abort()
      throw error
    }
    try transaction.commit()
  }

  private func read(_ body: (RawCursor) throws -> Void) throws {
    let transaction = try environment.begin(readOnly: true)
    defer { transaction.abort() }
    let cursor = try transaction.cursor(table)
    defer { cursor.close() }
    try body(cursor)
  }

  private func keyValue(_ number: Int) -> MDB_val {
    unsafe key.storeBytes(of: UInt64(number), as: UInt64.self)
    return unsafe MDB_val(mv_size: 8, mv_data: key.baseAddress)
  }

  @inline(__always)
  private func find(_ number: Int, _ cursor: RawCursor) throws -> UnsafeRawBufferPointer {
    var key = unsafe keyValue(number)
    guard let bytes = unsafe try cursor.move(MDB_SET, &key) else {
      throw BenchmarkError("LMDB has no \(number)")
    }
    return unsafe bytes
  }
}
