/// A store of keys and values in order, whose commits are batches: a log-structured merge tree.
protocol KeyValueStore: AnyObject {
  static var name: String { get }

  /// Creates the store at a path where nothing is; each commit is flushed unless `isSoon` is true.
  init(path: String, isSoon: Bool) throws

  /// Adds an entry to the batch.
  func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer)

  /// Adds the removal of a key to the batch.
  func remove(_ key: UnsafeRawBufferPointer)

  /// Commits the batch and empties it.
  func commit() throws

  /// Lends the value of a key; nil if there is none.
  func get<R>(
    _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R?

  /// Visits all values in the order of their keys.
  func forEach(_ body: (UnsafeRawBufferPointer) -> Void) throws
}

/// Items in a store that knows only bytes, without history, names or checksums of its own.
///
///     key u64 big-endian → item; see `ItemBytes`
@safe final class KeyValueContender<Store: KeyValueStore>: Contender {
  static var name: String { Store.name }

  private let store: Store
  private let item = ItemBytes()
  private let key: UnsafeMutableRawBufferPointer

  init(directory: String, isSoon: Bool) throws {
    store = try Store(path: directory + "/items", isSoon: isSoon)
    unsafe key = .allocate(byteCount: 8, alignment: 8)
  }

  deinit { unsafe key.deallocate() }

  func store(_ items: ArraySlice<Item>, from first: Int, perTransaction: Int) throws {
    try pieces(of: items.count, perTransaction) { piece in
      for offset in piece {
        let bytes = unsafe item.encode(items[items.startIndex + offset])
        unsafe store.put(keyBytes(first + offset), bytes)
      }
      try store.commit()
    }
  }

  func readName(_ keys: [Int]) throws -> Digest {
    var digest = Digest()
    for key in keys { unsafe digest.add(try find(key) { unsafe ItemBytes.name($0) }) }
    return digest
  }

  func readItem(_ keys: [Int]) throws -> Digest {
    var digest = Digest()
    for key in keys { unsafe digest.add(try find(key) { unsafe ItemBytes.decode($0) }) }
    return digest
  }

  func sumScores() throws -> Int64 {
    var sum: Int64 = 0
    unsafe try store.forEach { unsafe sum += ItemBytes.score($0) }
    return sum
  }

  func update(_ changes: [ItemChange], perTransaction: Int) throws {
    try pieces(of: changes.count, perTransaction) { piece in
      for change in changes[piece] {
        unsafe try find(change.key) {
          unsafe store.put(keyBytes(change.key), item.copy($0, count: change.count))
        }
      }
      try store.commit()
    }
  }

  func remove(_ keys: [Int], perTransaction: Int) throws {
    try pieces(of: keys.count, perTransaction) { piece in
      for key in keys[piece] { unsafe store.remove(keyBytes(key)) }
      try store.commit()
    }
  }

  @inline(__always)
  private func find<R>(_ number: Int, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
    guard let result = unsafe try store.get(keyBytes(number), body) else {
      throw BenchmarkError("\(Store.name) has no \(number)")
    }
    return result
  }

  private func keyBytes(_ number: Int) -> UnsafeRawBufferPointer {
    unsafe key.storeBytes(of: UInt64(number).bigEndian, as: UInt64.self)
    return unsafe UnsafeRawBufferPointer(key)
  }
}
