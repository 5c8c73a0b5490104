/// The difference of a step whose elements are in boxes, as the live query makes it and as diffs
/// are joined; ``LiveDiff`` opens the boxes.
struct BoxedDiff: Sendable {
  struct Deletion: Sendable {
    var position: Int
    var element: ElementBox
    var cause: LiveCause
  }

  struct Insertion: Sendable {
    var position: Int
    var element: ElementBox
    var cause: LiveCause
  }

  struct Move: Sendable {
    var from: Int
    var to: Int
    var element: ElementBox
  }

  struct Update: Sendable {
    var before: Int
    var after: Int
    var old: ElementBox
    var new: ElementBox
    var properties: ChangedProperties
    var cause: LiveCause
  }

  var sequence: SequenceNumber
  /// The elements after the step; none before it is applied.
  var elements = ChunkedList<ElementBox>()
  /// Ascending by the position before.
  var deletions: [Deletion] = []
  /// Ascending by the position after.
  var insertions: [Insertion] = []
  /// Ascending by the target.
  var moves: [Move] = []
  /// Ascending by the position after.
  var updates: [Update] = []

  var isEmpty: Bool {
    deletions.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty
  }

  /// The number of elements before the step.
  var countBefore: Int { elements.count - insertions.count + deletions.count }

  /// The removals and insertions that make the result's order.
  var edit: ListEdit<ElementBox> {
    if moves.isEmpty {
      return ListEdit(
        removals: deletions.map { $0.position },
        insertions: insertions.map { ($0.position, $0.element) })
    }
    let inserted = insertions.map { ($0.position, $0.element) } + moves.map { ($0.to, $0.element) }
    return ListEdit(
      removals: (deletions.map(\.position) + moves.map(\.from)).sorted(),
      insertions: inserted.sorted { $0.0 < $1.0 })
  }

  /// Follows elements through the step.
  var positions: ListPositions {
    ListPositions(
      removed: deletions.map(\.position), inserted: insertions.map(\.position),
      moves: moves.map { ListMove(before: $0.from, after: $0.to) })
  }

  /// Makes the elements after the step of those before it: in place where nobody else has these.
  mutating func apply(to before: inout ChunkedList<ElementBox>) {
    swap(&elements, &before)
    if !deletions.isEmpty || !insertions.isEmpty || !moves.isEmpty { elements.apply(edit) }
    for update in updates { elements.replace(at: update.after, with: update.new) }
    before = elements
  }
}

/// The properties of an element that a step has changed: as they are told, or as the records that
/// tell them, which are compared when somebody asks.
enum ChangedProperties: Sendable {
  case told([PropertyUpdate])
  case records(old: StoredRecord, new: StoredRecord, Catalog)

  /// All of them.
  ///
  /// - Complexity: O(*p*) for *p* properties of the record, at each call.
  var all: [PropertyUpdate] {
    switch self {
    case .told(let properties): return properties
    case .records(let old, let new, let catalog):
      // Both records were read before, so that neither is damaged.
      return
        (try? old.lend { old in
          try new.lend { new in try PropertyUpdate.between(old, new, catalog) }
        }) ?? []
    }
  }
}

extension PropertyUpdate {
  /// The properties that differ in two stored records, by their names.
  static func between(
    _ old: RawSpan, _ new: RawSpan, _ catalog: Catalog
  ) throws -> [PropertyUpdate] {
    let (before, after) = (try RecordTable(old), try RecordTable(new))
    var names: Set<NameID> = []
    for index in 0..<before.count { names.insert(try before.name(old, index)) }
    for index in 0..<after.count { names.insert(try after.name(new, index)) }
    return try names.sorted().compactMap { name in
      let (one, other) = (try before.find(old, name), try after.find(new, name))
      if let one, let other, old.extracting(one).equals(new.extracting(other)) { return nil }
      return PropertyUpdate(
        name: try catalog.name(of: name),
        old: try one.map { try Value(old.extracting($0)) },
        new: try other.map { try Value(new.extracting($0)) })
    }
  }
}
