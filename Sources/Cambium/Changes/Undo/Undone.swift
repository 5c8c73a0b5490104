import FoundationEssentials

/// The way in which an undo resolves conflicts with changes made since, and a merge those between
/// two databases.
public enum ConflictResolution: Sendable {
  /// It throws ``DatabaseError/undoConflict(_:)`` or ``DatabaseError/mergeConflict(_:)``, and
  /// nothing is stored.
  case refuse
  /// Places in conflict stay as they are, and the rest is undone or taken over.
  case skipConflicts
  /// The present values there are lost, though history keeps them.
  case overwrite
}

/// The transactions that count as somebody's own.
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
  ///   - actor: Their author, as given to `write(actor:)`; nil for anybody.
  public init(origin: UUID? = nil, metadata: [String: String] = [:], actor: String? = nil) {
    self.origin = origin
    self.metadata = metadata.signed(by: actor)
  }

  func includes(_ record: TransactionRecord) -> Bool {
    (origin.map { $0 == record.origin } ?? true)
      && metadata.allSatisfy { record.metadata[$0.key] == $0.value }
  }
}

/// The result of an undo: its transaction, and the ones that it undoes.
public struct Undone: Hashable, Sendable {
  /// The new transaction, which holds the inverse.
  public let sequence: SequenceNumber
  /// The transactions that it undoes, the newest first.
  public let undoes: [SequenceNumber]
  /// Where something had changed since, and was left or overwritten as asked; at most a hundred.
  public let conflicts: [UndoConflict]
}
