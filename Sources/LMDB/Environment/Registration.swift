import Synchronization

/// The claim of an open environment to its directory, until it is released.
///
/// Within this process the directory is open once, since opening it twice would drop its locks
/// (H9); ``OpenFiles`` keeps it open, so that its identity is not given to a new directory when it
/// is removed. Processes of another namespace are kept out by the ``NamespaceClaim``.
struct Registration: ~Copyable {
  private static let open = Mutex<Set<Files.Identity>>([])

  private let identity: Files.Identity
  /// Nil for a new file: it is created where no other process looks.
  private let claim: NamespaceClaim?

  /// - Throws: ``StorageError``: `.missing`, `.alreadyOpen`, `.unsupported`.
  init(_ directory: Directory) throws(StorageError) {
    guard let identity = directory.identity else {
      throw StorageError(.missing, "there is no directory \(directory.path)")
    }
    // First, so that no file of a directory that is open in this process is opened again.
    guard Registration.open.withLock({ $0.insert(identity).inserted }) else {
      throw StorageError(.alreadyOpen, "\(directory.path) is open in this process already")
    }
    let claim: NamespaceClaim?
    do {
      claim = try NamespaceClaim(path: "\(directory.path)/data.mdb")
    } catch {
      _ = Registration.open.withLock { $0.remove(identity) }
      throw error
    }
    self.identity = identity
    self.claim = claim
  }

  /// True unless it is certain that no other process has the environment open.
  var isShared: Bool { claim?.isShared ?? true }

  deinit { _ = Registration.open.withLock { $0.remove(identity) } }
}
