// The map's size and how it grows, dead readers, and syncing.

import CLMDB
import Synchronization

extension Environment {
  /// Frees the slots of readers whose process died, so that their pages can be used again (H17).
  package func clearStaleReaders() {
    var dead: Int32 = 0
    _ = unsafe mdb_reader_check(handle, &dead)
  }

  /// Counts a commit; every thousandth commit checks for dead readers.
  func committed() {
    if commits.wrappingAdd(1, ordering: .relaxed).newValue % 1000 == 0 { clearStaleReaders() }
  }

  /// The map's size, the pages in use, the page size and the newest transaction's id.
  package func usage() throws(StorageError) -> (
    mapBytes: Int, usedBytes: Int, transaction: UInt64
  ) {
    try whileOpen {
      var info = unsafe MDB_envinfo()
      unsafe mdb_env_info(handle, &info)
      let used = unsafe (info.me_last_pgno + 1) * FileCheck.pageSize
      return unsafe (info.me_mapsize, used, UInt64(info.me_last_txnid))
    }
  }

  /// Doubles the map until `headroom` bytes are free in it (H12).
  ///
  /// - Throws: `.mapFull` at the configured maximum, `.busy` when transactions of this process that
  ///   read the map are still open after two seconds.
  package func growMap(headroom: Int) throws(StorageError) {
    let (size, used, _) = try usage()
    var wanted = size
    while wanted - used < headroom {
      guard wanted <= mapSizeMax / 2 else {
        throw StorageError(.mapFull, "\(path) has reached its maximum of \(mapSizeMax) bytes")
      }
      wanted *= 2
    }
    if wanted == size { return }
    try resize(to: wanted)
  }

  /// Doubles the map at least; its maximum ends this, as ``growMap(headroom:)`` says.
  package func enlargeMap() throws(StorageError) { try growMap(headroom: try usage().mapBytes) }

  /// True if `headroom` bytes of the map are free.
  package func hasRoom(for headroom: Int) throws(StorageError) -> Bool {
    let (size, used, _) = try usage()
    return size - used >= headroom
  }

  /// Takes over the size that another process has given the map (H14), or a new one.
  func resize(to size: Int) throws(StorageError) {
    let done: Void? = try gate.exclusively(of: .ofMap, timeout: .seconds(2)) {
      () throws(StorageError) in
      if isClosed.load(ordering: .relaxed) { return }
      readers.discardIdle()
      try check(unsafe mdb_env_set_mapsize(handle, size), "resizing the map of \(path)")
    }
    if done == nil {
      throw StorageError(.busy, "the map must grow, but a snapshot has been held for too long")
    }
  }

  /// Writes everything out, for an environment that is not synced by its commits.
  package func sync() throws(StorageError) {
    try whileOpen { () throws(StorageError) in
      try check(unsafe mdb_env_sync(handle, 1), "syncing \(path)")
    }
  }

  /// The disk blocks that `data.mdb` takes, in bytes.
  package var allocatedBytes: UInt64 {
    var info = stat()
    guard let descriptor = try? dataDescriptor(), unsafe fstat(descriptor, &info) == 0 else {
      return 0
    }
    return UInt64(info.st_blocks) * 512
  }

  /// The descriptor of `data.mdb`, for reading pages; never close it.
  package func dataDescriptor() throws(StorageError) -> Int32 {
    var descriptor: Int32 = -1
    try check(unsafe mdb_env_get_fd(handle, &descriptor), "reading \(path)")
    return descriptor
  }
}
