import CLMDB

/// An error of LMDB or the operating system, or damage that was found in a file.
package struct StorageError: Error, Equatable, CustomStringConvertible {
  /// The kinds of errors, by what a caller can do about them.
  package enum Kind: Sendable {
    /// No space on the disk. The transaction is rolled back, the environment stays usable.
    case diskFull
    /// The map is full; the transaction must be aborted, the map grown, the work repeated.
    case mapFull
    /// The transaction became unusable through an earlier error.
    case badTransaction
    /// Reading or writing failed; the environment is poisoned until it is opened again.
    case inputOutput
    /// The page that makes a commit valid could not be written: only opening again can determine
    /// whether the commit is stored.
    case uncertain
    /// The file's structure is damaged, or an entry to be appended already exists; the environment
    /// is poisoned.
    case corrupt
    /// There is no file, or it is not one of LMDB's.
    case missing
    /// Another process or thread holds the lock or slot that is needed.
    case busy
    /// The directory is open in this process already.
    case alreadyOpen
    /// The environment was closed, poisoned, forked or its files were replaced.
    case closed
    /// The directory or file does not allow writing.
    case readOnly
    /// A link, a pipe, a directory or the like is in a file's place; it was not touched.
    case notRegular
    /// The library or the file is of a version that is not supported.
    case unsupported
    /// The address space has no room for the map; a smaller one may fit.
    case noAddressSpace
    /// A key, value or call that LMDB does not accept: a mistake in the program.
    case invalid
  }

  /// The kind of error, by which a caller decides what to do.
  package let kind: Kind
  /// The sentence for people: the action that failed, and the reason.
  package let description: String
  /// The number that LMDB or the operating system gave; 0 where neither did.
  package let code: Int32

  package init(_ kind: Kind, _ description: String, code: Int32 = 0) {
    self.kind = kind
    self.description = description
    self.code = code
  }

  /// Wraps a result code of LMDB or errno.
  package init(code: Int32, while doing: String) {
    let text = unsafe mdb_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    self.init(Self.kind(of: code), "\(doing): \(text)", code: code)
  }

  private static func kind(of code: Int32) -> Kind {
    switch code {
    case ENOSPC, EFBIG, EDQUOT: .diskFull
    case MDB_MAP_FULL: .mapFull
    case MDB_BAD_TXN, MDB_TXN_FULL: .badTransaction
    case EIO, MDB_PANIC: .inputOutput
    case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_CURSOR_FULL, MDB_PAGE_FULL, MDB_BAD_DBI,
      MDB_INVALID, MDB_KEYEXIST:
      .corrupt
    case ENOENT, ENOTDIR: .missing
    case MDB_READERS_FULL, EAGAIN, EBUSY: .busy
    case EROFS, EACCES, EPERM: .readOnly
    case ENOMEM, EINVAL: .noAddressSpace
    case MDB_VERSION_MISMATCH, MDB_INCOMPATIBLE: .unsupported
    default: .invalid
    }
  }
}

/// Throws unless the code means success.
@inline(__always)
func check(_ code: Int32, _ doing: @autoclosure () -> String) throws(StorageError) {
  if code != MDB_SUCCESS { throw StorageError(code: code, while: doing()) }
}
