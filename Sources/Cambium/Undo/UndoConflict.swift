import FoundationEssentials

/// A place that is no longer as the transactions left it that are to be undone.
public struct UndoConflict: Hashable, Sendable {
  /// The node.
  public let path: Path
  /// The property, or nil for the node itself.
  public let property: String?
  /// What the transactions left there; nil where nothing, or no value of its own.
  public let left: Value?
  /// What is there now; nil where nothing, or no value of its own.
  public let found: Value?
  /// The transaction that last changed the node's own value; nil where there is no node, or another
  /// one is in the way.
  public let changedBy: SequenceNumber?
  /// What is in the way.
  public let reason: String
}

/// What undoing does where somebody has changed the same since.
public enum ConflictResolution: Sendable {
  /// It throws ``DatabaseError/undoConflict(_:)``, and nothing is stored.
  case refuse
  /// What has changed since stays, and the rest is undone.
  case skipConflicts
  /// What has changed since is lost, though history keeps it.
  case overwrite
}

/// Which transactions are somebody's own.
///
///     try database.undoLast(of: .init(actor: "ada"))
public struct Authorship: Hashable, Sendable {
  /// The database that wrote them; nil for any.
  public var origin: UUID?
  /// Texts that their metadata must have.
  public var metadata: [String: String]

  /// Everybody's.
  public static let anyone = Authorship()

  /// Names an author; without arguments, anyone.
  ///
  /// - Parameters:
  ///   - origin: The database that wrote the transactions; nil for any.
  ///   - metadata: Texts that their metadata must have.
  ///   - actor: Who made them, as `write(actor:)` was told; nil for anybody.
  public init(origin: UUID? = nil, metadata: [String: String] = [:], actor: String? = nil) {
    self.origin = origin
    self.metadata = metadata.signed(by: actor)
  }

  func includes(_ record: TransactionRecord) -> Bool {
    (origin.map { $0 == record.origin } ?? true)
      && metadata.allSatisfy { record.metadata[$0.key] == $0.value }
  }
}

/// What an undo has done.
public struct Undone: Hashable, Sendable {
  /// The new transaction, which holds the inverse.
  public let sequence: SequenceNumber
  /// The transactions that it undoes, the newest first.
  public let undoes: [SequenceNumber]
  /// Where something had changed since, and was left or overwritten as asked; at most a hundred.
  public let conflicts: [UndoConflict]
}
