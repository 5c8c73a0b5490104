import CLMDBRaw

/// LMDB with nothing above it: what the storage costs without log, history, names or checksums.
///
///     key u64 native → count i64 | score i64 | weight f64 | active u8 | three lengths u16 | texts
@safe final class RawLMDBContender: Contender {
  static let name = "raw LMDB"
  private static let headerBytes = 31

  private let environment: RawEnvironment
  private let table: MDB_dbi
  private let key: UnsafeMutableRawBufferPointer
  private let value: UnsafeMutableRawBufferPointer

  /// Later means never here: LMDB leaves flushing to whoever uses it.
  init(directory: String, isSoon: Bool) throws {
    environment = try RawEnvironment(at: directory, flags: isSoon ? MDB_NOSYNC : 0)
    let transaction = try environment.begin()
    table = try transaction.table("items", flags: MDB_INTEGERKEY)
    try transaction.commit()
    unsafe key = .allocate(byteCount: 8, alignment: 8)
    unsafe value = .allocate(byteCount: 1_024, alignment: 8)
  }

  deinit {
    unsafe key.deallocate()
    unsafe value.deallocate()
  }

  func store(_ items: ArraySlice<Item>, from first: Int, perTransaction: Int) throws {
    try pieces(of: items.count, perTransaction) { piece in
      try write { cursor in
        for offset in piece {
          let size = encode(items[items.startIndex + offset])
          let bytes = unsafe UnsafeRawBufferPointer(rebasing: value[..<size])
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
        unsafe digest.add(text(0, of: bytes))
      }
    }
    return digest
  }

  func readItem(_ keys: [Int]) throws -> Digest {
    var digest = Digest()
    try read { cursor in
      for key in keys {
        let bytes = unsafe try find(key, cursor)
        unsafe digest.add(decode(bytes))
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
        unsafe sum += bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self)
        unsafe item = try cursor.move(MDB_NEXT, &key)
      }
    }
    return sum
  }

  func update(_ changes: [ItemChange], perTransaction: Int) throws {
    try pieces(of: changes.count, perTransaction) { piece in
      try write { cursor in
        for change in changes[piece] {
          let old = unsafe try find(change.key, cursor)
          unsafe value.copyMemory(from: old)
          unsafe value.storeBytes(of: change.count, as: Int64.self)
          let bytes = unsafe UnsafeRawBufferPointer(rebasing: value[..<old.count])
          unsafe try cursor.put(keyValue(change.key), bytes, flags: MDB_CURRENT)
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

  /// Writes the item to `value` and returns its size.
  private func encode(_ item: Item) -> Int {
    unsafe value.storeBytes(of: item.count, as: Int64.self)
    unsafe value.storeBytes(of: item.score, toByteOffset: 8, as: Int64.self)
    unsafe value.storeBytes(of: item.weight, toByteOffset: 16, as: Double.self)
    unsafe value[24] = item.active ? 1 : 0
    var end = Self.headerBytes
    append(item.name, 0, &end)
    append(item.city, 1, &end)
    append(item.note, 2, &end)
    return end
  }

  @inline(__always)
  private func append(_ text: String, _ index: Int, _ end: inout Int) {
    var text = text
    text.withUTF8 { bytes in
      let count = UInt16(bytes.count)
      unsafe value.storeBytes(of: count, toByteOffset: 25 + 2 * index, as: UInt16.self)
      unsafe UnsafeMutableRawBufferPointer(rebasing: value[end...])
        .copyMemory(from: UnsafeRawBufferPointer(bytes))
      end += bytes.count
    }
  }

  @inline(__always)
  private func text(_ index: Int, of bytes: UnsafeRawBufferPointer) -> String {
    var start = Self.headerBytes
    for before in 0..<index { unsafe start += count(before, of: bytes) }
    let end = unsafe start + count(index, of: bytes)
    return unsafe String(decoding: bytes[start..<end], as: UTF8.self)
  }

  @inline(__always)
  private func count(_ index: Int, of bytes: UnsafeRawBufferPointer) -> Int {
    unsafe Int(bytes.loadUnaligned(fromByteOffset: 25 + 2 * index, as: UInt16.self))
  }

  @inline(__always)
  private func decode(_ bytes: UnsafeRawBufferPointer) -> Item {
    unsafe Item(
      name: text(0, of: bytes), city: text(1, of: bytes), note: text(2, of: bytes),
      count: bytes.loadUnaligned(as: Int64.self),
      score: bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self),
      weight: bytes.loadUnaligned(fromByteOffset: 16, as: Double.self), active: bytes[24] != 0)
  }
}
