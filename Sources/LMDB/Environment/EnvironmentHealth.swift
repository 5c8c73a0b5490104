import CLMDB
import Synchronization

/// The failures after which an environment must be opened again: an I/O error or a panic, a fork, a
/// file that was replaced (H10, H11, H22).
package struct EnvironmentHealth: ~Copyable, Sendable {
  let path: String
  let isReadOnly: Bool
  let files: OpenFiles
  private let forks = Platform.forks
  private let poison = Mutex<StorageError?>(nil)

  /// Throws the reason why no transaction can begin, if there is one.
  package func check() throws(StorageError) {
    guard Platform.forks == forks else {
      throw StorageError(
        .closed, "this process was forked from the one that opened \(path); open it again here")
    }
  }

  /// Throws the reason why nothing can be written, if there is one.
  ///
  /// - Parameter looksAtFiles: False for a caller that has this looked at before it writes; it is a
  ///   system call.
  /// - Throws: ``StorageError``: `.closed`, `.readOnly`.
  package func checkWritable(looksAtFiles: Bool = true) throws(StorageError) {
    try check()
    if isReadOnly { throw StorageError(.readOnly, "\(path) is open for reading only") }
    if let failure {
      throw StorageError(.closed, "an earlier call failed (\(failure)); close and open it again")
    }
    if looksAtFiles, let file = files.replaced() {
      let error = StorageError(.closed, "\(file) was replaced or removed while open")
      poison(error)
      throw error
    }
  }

  /// Refuses all further writing; reading continues.
  package func poison(_ error: StorageError) {
    poison.withLock { if $0 == nil { $0 = error } }
  }

  /// The reason why writing is refused until the environment is opened again; nil if it is not.
  package var failure: StorageError? { poison.withLock { $0 } }

  /// Records the consequence of a failed call for the environment, and reports a full disk if LMDB
  /// reports EIO for it (H23).
  func diagnosed(_ error: StorageError) -> StorageError {
    guard [.inputOutput, .uncertain, .corrupt].contains(error.kind) else { return error }
    let error = StorageError(error.kind, "\(path): \(error.description)")
    // LMDB reports a write that was cut short as EIO. Nothing of it is in the file's tree.
    if error.kind == .inputOutput, Files.isFull("\(path)/data.mdb") {
      return StorageError(.diskFull, error.description)
    }
    poison(error)
    return error
  }

  /// The error for a commit that failed. Nothing is stored until the meta page is written; when
  /// that write fails, LMDB refuses all that follows, and only the file shows the outcome (H22).
  func diagnosed(commit code: Int32, in environment: OpaquePointer) -> StorageError {
    let error = StorageError(code: code, while: "committing")
    guard [.inputOutput, .diskFull].contains(error.kind) else { return diagnosed(error) }
    var probe: OpaquePointer?
    if unsafe mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &probe) == MDB_PANIC {
      // LMDB has put the meta page before in its place again, in memory. The disk may have the one
      // of this commit, whose pages the next process writes over.
      var descriptor: Int32 = -1
      if unsafe mdb_env_get_fd(environment, &descriptor) == 0 {
        _ = Platform.flushContent(descriptor)
      }
      return diagnosed(
        StorageError(.uncertain, "the meta page could not be written: \(error.description)"))
    }
    unsafe mdb_txn_abort(probe)
    return diagnosed(error)
  }
}
