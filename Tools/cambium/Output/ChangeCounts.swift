import Cambium

/// Counts changes by the node below a path. Changes come in path order, so only one node's counts
/// are kept.
struct ChangeCounts {
  /// The number of changes of each kind.
  struct Counts {
    private(set) var inserted = 0
    private(set) var updated = 0
    private(set) var deleted = 0

    mutating func add(_ change: Change) {
      if change.old == nil {
        inserted += 1
      } else if change.new == nil {
        deleted += 1
      } else {
        updated += 1
      }
    }

    mutating func add(_ other: Counts) {
      inserted += other.inserted
      updated += other.updated
      deleted += other.deleted
    }

    func json(_ path: NodePath) -> JSONLine {
      [
        "path": path.description, "inserted": inserted, "updated": updated, "deleted": deleted,
      ]
    }

    /// The counts in columns, each as `cell` writes it after its mark.
    func line(_ cell: (_ mark: String, _ count: String) -> String) -> StyledLine {
      let kinds: [(mark: String, count: Int, role: Role)] = [
        ("+", inserted, .inserted), ("~", updated, .updated), ("-", deleted, .deleted),
      ]
      var line = StyledLine()
      for kind in kinds {
        line.add(cell(kind.mark, Quantity.count(kind.count)), kind.count > 0 ? kind.role : nil)
      }
      return line
    }
  }

  private let depth: Int
  private var path: NodePath?
  private var counts = Counts()

  init(below path: NodePath) { depth = path.depth + 1 }

  /// Passes each node with its counts, once the last of its changes has come.
  mutating func forEach(
    of walk: @escaping ((Change) throws -> Void) throws -> Void,
    _ body: (NodePath, Counts) throws -> Void
  ) throws {
    try walk { change in
      let place = NodePath(keys: change.path.keys.prefix(depth))
      if place != path {
        if let path { try body(path, counts) }
        path = place
        counts = Counts()
      }
      counts.add(change)
    }
    if let path { try body(path, counts) }
  }
}
