import CLevelDB

/// LevelDB with its defaults, and the memory for new entries that RocksDB has.
@safe final class LevelDBStore: KeyValueStore {
  static let name = "LevelDB"

  private let handle: OpaquePointer
  private let batch: OpaquePointer
  private let reading: OpaquePointer
  private let writing: OpaquePointer

  init(path: String, isSoon: Bool) throws {
    let options = unsafe leveldb_options_create()
    defer { unsafe leveldb_options_destroy(options) }
    unsafe leveldb_options_set_create_if_missing(options, 1)
    unsafe leveldb_options_set_write_buffer_size(options, 64 << 20)
    var error: UnsafeMutablePointer<CChar>?
    let opened = unsafe leveldb_open(options, path, &error)
    unsafe try Self.check(error)
    guard let handle = unsafe opened, let batch = unsafe leveldb_writebatch_create(),
      let reading = unsafe leveldb_readoptions_create(),
      let writing = unsafe leveldb_writeoptions_create()
    else { throw BenchmarkError("LevelDB cannot be opened") }
    unsafe (self.handle, self.batch, self.reading, self.writing) = (handle, batch, reading, writing)
    unsafe leveldb_writeoptions_set_sync(writing, isSoon ? 0 : 1)
  }

  deinit {
    unsafe leveldb_writebatch_destroy(batch)
    unsafe leveldb_readoptions_destroy(reading)
    unsafe leveldb_writeoptions_destroy(writing)
    unsafe leveldb_close(handle)
  }

  func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    let (keyBytes, bytes) = unsafe (
      key.bindMemory(to: CChar.self), value.bindMemory(to: CChar.self)
    )
    unsafe leveldb_writebatch_put(
      batch, keyBytes.baseAddress, key.count, bytes.baseAddress, value.count)
  }

  func remove(_ key: UnsafeRawBufferPointer) {
    let bytes = unsafe key.bindMemory(to: CChar.self).baseAddress
    unsafe leveldb_writebatch_delete(batch, bytes, key.count)
  }

  func commit() throws {
    var error: UnsafeMutablePointer<CChar>?
    unsafe leveldb_write(handle, writing, batch, &error)
    unsafe leveldb_writebatch_clear(batch)
    unsafe try Self.check(error)
  }

  func get<R>(
    _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R? {
    var error: UnsafeMutablePointer<CChar>?
    var count = 0
    let keyBytes = unsafe key.bindMemory(to: CChar.self).baseAddress
    let value = unsafe leveldb_get(handle, reading, keyBytes, key.count, &count, &error)
    unsafe try Self.check(error)
    guard let value = unsafe value else { return nil }
    defer { unsafe leveldb_free(value) }
    return unsafe try body(UnsafeRawBufferPointer(start: value, count: count))
  }

  func forEach(_ body: (UnsafeRawBufferPointer) -> Void) throws {
    let iterator = unsafe leveldb_create_iterator(handle, reading)
    defer { unsafe leveldb_iter_destroy(iterator) }
    unsafe leveldb_iter_seek_to_first(iterator)
    while unsafe leveldb_iter_valid(iterator) != 0 {
      var count = 0
      let bytes = unsafe leveldb_iter_value(iterator, &count)
      unsafe body(UnsafeRawBufferPointer(start: bytes, count: count))
      unsafe leveldb_iter_next(iterator)
    }
    var error: UnsafeMutablePointer<CChar>?
    unsafe leveldb_iter_get_error(iterator, &error)
    unsafe try Self.check(error)
  }

  private static func check(_ error: UnsafeMutablePointer<CChar>?) throws {
    guard let error = unsafe error else { return }
    defer { unsafe leveldb_free(error) }
    throw unsafe BenchmarkError("LevelDB: \(String(cString: error))")
  }
}
