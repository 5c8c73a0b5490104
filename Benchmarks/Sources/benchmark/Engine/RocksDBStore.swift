import CRocksDB

/// RocksDB with its defaults.
@safe final class RocksDBStore: KeyValueStore {
  static let name = "RocksDB"

  private let handle: OpaquePointer
  private let batch: OpaquePointer
  private let reading: OpaquePointer
  private let writing: OpaquePointer

  init(path: String, isSoon: Bool) throws {
    let options = unsafe rocksdb_options_create()
    defer { unsafe rocksdb_options_destroy(options) }
    unsafe rocksdb_options_set_create_if_missing(options, 1)
    unsafe rocksdb_options_set_write_buffer_size(options, 64 << 20)
    var error: UnsafeMutablePointer<CChar>?
    let opened = unsafe rocksdb_open(options, path, &error)
    unsafe try Self.check(error)
    guard let handle = unsafe opened, let batch = unsafe rocksdb_writebatch_create(),
      let reading = unsafe rocksdb_readoptions_create(),
      let writing = unsafe rocksdb_writeoptions_create()
    else { throw BenchmarkError("RocksDB cannot be opened") }
    unsafe (self.handle, self.batch, self.reading, self.writing) = (handle, batch, reading, writing)
    unsafe rocksdb_writeoptions_set_sync(writing, isSoon ? 0 : 1)
  }

  deinit {
    unsafe rocksdb_writebatch_destroy(batch)
    unsafe rocksdb_readoptions_destroy(reading)
    unsafe rocksdb_writeoptions_destroy(writing)
    unsafe rocksdb_close(handle)
  }

  func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    let (keyBytes, bytes) = unsafe (
      key.bindMemory(to: CChar.self), value.bindMemory(to: CChar.self)
    )
    unsafe rocksdb_writebatch_put(
      batch, keyBytes.baseAddress, key.count, bytes.baseAddress, value.count)
  }

  func remove(_ key: UnsafeRawBufferPointer) {
    let bytes = unsafe key.bindMemory(to: CChar.self).baseAddress
    unsafe rocksdb_writebatch_delete(batch, bytes, key.count)
  }

  func commit() throws {
    var error: UnsafeMutablePointer<CChar>?
    unsafe rocksdb_write(handle, writing, batch, &error)
    unsafe rocksdb_writebatch_clear(batch)
    unsafe try Self.check(error)
  }

  func get<R>(
    _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R? {
    var error: UnsafeMutablePointer<CChar>?
    let keyBytes = unsafe key.bindMemory(to: CChar.self).baseAddress
    let found = unsafe rocksdb_get_pinned(handle, reading, keyBytes, key.count, &error)
    unsafe try Self.check(error)
    guard let found = unsafe found else { return nil }
    defer { unsafe rocksdb_pinnableslice_destroy(found) }
    var count = 0
    guard let value = unsafe rocksdb_pinnableslice_value(found, &count) else { return nil }
    return unsafe try body(UnsafeRawBufferPointer(start: value, count: count))
  }

  func forEach(_ body: (UnsafeRawBufferPointer) -> Void) throws {
    let iterator = unsafe rocksdb_create_iterator(handle, reading)
    defer { unsafe rocksdb_iter_destroy(iterator) }
    unsafe rocksdb_iter_seek_to_first(iterator)
    while unsafe rocksdb_iter_valid(iterator) != 0 {
      var count = 0
      let bytes = unsafe rocksdb_iter_value(iterator, &count)
      unsafe body(UnsafeRawBufferPointer(start: bytes, count: count))
      unsafe rocksdb_iter_next(iterator)
    }
    var error: UnsafeMutablePointer<CChar>?
    unsafe rocksdb_iter_get_error(iterator, &error)
    unsafe try Self.check(error)
  }

  private static func check(_ error: UnsafeMutablePointer<CChar>?) throws {
    guard let error = unsafe error else { return }
    defer { unsafe rocksdb_free(error) }
    throw unsafe BenchmarkError("RocksDB: \(String(cString: error))")
  }
}
