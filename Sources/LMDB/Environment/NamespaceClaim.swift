/// Keeps processes that count processes differently from having one file open together (H19).
///
/// LMDB identifies its readers by their process numbers. Each container has numbers of its own,
/// and so has each machine: one would take the readers of the other for dead, and overwrite the
/// pages that they read. So every process holds a shared lock on one byte of the data file, whose
/// offset follows from its namespace, and is refused while another byte is locked.
///
/// Nothing is written for it, so a reader of a read-only file takes part as well. The lock belongs
/// to the open file: it ends with the process, and closing other descriptors does not drop it.
/// LMDB's own locks are on `lock.mdb`.
package final class NamespaceClaim: Sendable {
  private let descriptor: Int32

  /// Takes the lock on a file.
  ///
  /// - Returns: nil if there is no file, or one that cannot be opened: LMDB reports that.
  /// - Throws: `.unsupported` while a process of another namespace has the file open.
  package init?(
    path: String, namespace: String = Platform.namespaceIdentity()
  ) throws(StorageError) {
    guard let opened = try? DirectoryEntry(path).open(O_RDONLY) else { return nil }
    descriptor = opened
    guard Platform.lockShared(descriptor, byte: NamespaceClaim.place(of: namespace)) else {
      throw StorageError(
        .unsupported,
        "a process of another container or machine has it open; close it there first, because only "
          + "processes that see each other's numbers may share a database")
    }
  }

  deinit { close(descriptor) }

  /// True unless it is certain that nobody else has the file open.
  var isShared: Bool { Platform.mayBeLocked(descriptor) }

  /// The byte that represents a namespace: FNV-1a of its name, from 1 up to 2^62.
  private static func place(of namespace: String) -> Int64 {
    let hash = namespace.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
      (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    return Int64(hash >> 2) + 1
  }
}
