import Synchronization

/// Positions of consumers that are stored with the next commit, or within a second.
final class KeptPositions: Sendable {
  private struct Positions {
    /// The positions for the next commit, by the names of their entries.
    var kept: [String: UInt64] = [:]
    /// The positions of the commit under way.
    var taken: [String: UInt64] = [:]
  }

  private let positions = Mutex(Positions())

  var isEmpty: Bool { positions.withLock { $0.kept.isEmpty } }

  /// A consumer's position that is not stored yet.
  subscript(name: String) -> SequenceNumber? {
    let entry = KeptPositions.entry(name)
    return positions.withLock { $0.kept[entry] ?? $0.taken[entry] }.map { SequenceNumber($0) }
  }

  /// Keeps a consumer's position for the next commit.
  func keep(_ name: String, _ sequence: SequenceNumber) {
    positions.withLock { $0.kept[KeptPositions.entry(name)] = sequence.rawValue }
  }

  /// Discards a consumer's position that is not stored yet.
  func forget(_ name: String) {
    positions.withLock { $0.kept[KeptPositions.entry(name)] = nil }
  }

  private static func entry(_ name: String) -> String { "consumer/\(name)" }

  // MARK: Storing them

  /// Takes the kept positions, for a commit. They can still be read until it is done.
  func take() -> [String: UInt64] {
    positions.withLock { positions in
      (positions.kept, positions.taken) = ([:], positions.kept)
      return positions.taken
    }
  }

  /// Drops the positions that were taken: they are stored.
  func dropTaken() { positions.withLock { $0.taken.removeAll() } }

  /// Keeps positions again after their commit failed, unless they have advanced.
  func putBack() {
    positions.withLock { positions in
      positions.kept.merge(positions.taken) { newer, _ in newer }
      positions.taken = [:]
    }
  }
}
