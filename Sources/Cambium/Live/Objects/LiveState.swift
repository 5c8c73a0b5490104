/// The content of a ``Live`` object: what is stored, what was entered, and where they disagree.
///
///                    edit                     save
///     stored ─────▶ (stored, mine) ─────▶ stored
///       ▲                │ stored changes: parts that are not edited follow it;
///       └─── revert ─────┘ parts that are edited, and were changed, are in conflict
///
/// Invariants:
/// 1. A part is edited where `mine` and `stored` differ in it. Computed from them.
/// 2. Only edited parts are in conflict. ``settle()`` holds it after each change.
struct LiveState<M: Model>: Sendable {
  /// The initial model with the object's id, as which an absent one reads.
  let template: M
  /// The moment that is shown.
  private(set) var sequence: SequenceNumber
  /// The model at that moment; nil while there is none.
  private(set) var stored: M?
  /// The transaction that last wrote it.
  private(set) var modified: SequenceNumber?
  /// True once there was such an object.
  private(set) var hasExisted = false
  /// The model with the local values; nil where there are none.
  private(set) var mine: M?
  /// The edited parts that another writer has changed since.
  private(set) var conflicts: Set<Int> = []
  /// The problems that the last write was refused with, or that were reported.
  var problems: [ValidationError] = []
  /// Counts changes, so that one that was prepared on an older content is noticed.
  var version = 0

  private var parts: ModelParts<M> { ModelParts() }

  init(_ id: ModelID<M>) {
    var template = M.schema.template
    template.id = id
    self.template = template
    sequence = .zero
  }

  /// The model as it is shown.
  var shown: M { mine ?? stored ?? template }

  /// The parts whose local values are not stored.
  var edited: Set<Int> {
    guard let mine else { return [] }
    let base = stored ?? template
    return Set(parts.all.filter { !parts.areEqual($0, base, mine) })
  }

  /// The state of some parts, of all of them for the object.
  func loadState(of parts: Range<Int>?) -> LoadState {
    let parts = parts ?? self.parts.all
    if conflicts.contains(where: parts.contains) { return .conflicted }
    if let mine {
      let base = stored ?? template
      if parts.contains(where: { !self.parts.areEqual($0, base, mine) }) { return .pending }
      if stored == nil, !hasExisted { return .pending }
    }
    if let modified { return .committed(modified) }
    return hasExisted ? .deleted : .absent
  }

  /// The parts in which two states show other values.
  func differences(_ other: LiveState) -> [Int] {
    let (one, other) = (shown, other.shown)
    return parts.all.filter { !parts.areEqual($0, one, other) }
  }

  /// True if two states differ in anything but the moment.
  func isSame(_ other: LiveState) -> Bool {
    modified == other.modified && hasExisted == other.hasExisted && conflicts == other.conflicts
      && problems == other.problems && (mine == nil) == (other.mine == nil)
      && edited == other.edited && differences(other).isEmpty
  }

  // MARK: Changing

  /// Takes what is stored at a moment, unless a later one is known.
  mutating func take(_ model: M?, modified: SequenceNumber?, at moment: SequenceNumber) {
    guard moment >= sequence else { return }
    merge(model)
    (stored, self.modified, sequence) = (model, modified, moment)
    if model != nil { hasExisted = true }
    settle()
  }

  /// Lets the local values follow a stored model, except where they were edited.
  private mutating func merge(_ theirs: M?) {
    guard var merged = mine, let base = stored ?? (theirs == nil ? nil : template) else { return }
    let new = theirs ?? template
    for part in parts.all {
      // Deleting an object changes all of it.
      if theirs != nil, parts.areEqual(part, base, new) { continue }
      if parts.areEqual(part, base, merged) {
        parts.copy(part, from: new, to: &merged)
      } else {
        conflicts.insert(part)
      }
    }
    mine = merged
  }

  /// Takes local values, which resolve conflicts where they are new.
  mutating func enter(_ model: M) {
    let before = shown
    conflicts = conflicts.filter { parts.areEqual($0, before, model) }
    problems = []
    mine = model
    settle()
  }

  /// Drops the local values of some parts, or of all; only of those that still are as in `written`,
  /// where that is given.
  mutating func drop(_ dropped: Range<Int>?, unlessOtherThan written: M? = nil) {
    if written == nil { problems = [] }
    guard var kept = mine else { return }
    let base = stored ?? template
    for part in dropped ?? parts.all {
      if let written, !parts.areEqual(part, written, kept) { continue }
      parts.copy(part, from: base, to: &kept)
    }
    mine = kept
    settle()
  }

  /// Keeps the local values of some parts, or of all, whatever is stored now.
  mutating func keep(_ parts: Range<Int>?) {
    conflicts = parts.map { kept in conflicts.filter { !kept.contains($0) } } ?? []
  }

  private mutating func settle() {
    let edited = edited
    conflicts.formIntersection(edited)
    if edited.isEmpty, stored != nil || hasExisted { mine = nil }
  }

  // MARK: Writing

  /// Writes the local values in a transaction: the edited parts, on top of what is stored then.
  ///
  /// - Throws: ``DatabaseError/conflict(_:expected:found:)`` with the first property that another
  ///   writer has changed, unless they are to be overwritten.
  func write(_ transaction: borrowing Database.Transaction, overwrites: Bool) throws {
    let id = template.id
    let found = try transaction.find(id)
    var merged = self
    merged.merge(found)
    merged.stored = found
    merged.settle()
    if !overwrites, let part = merged.conflicts.min() {
      let key = try parts.name(part).map { try Key($0) }
      let path = try id.path
      throw DatabaseError.conflict(
        key.map { path.appending($0) } ?? path, expected: modified ?? .zero,
        found: try transaction.modified(id) ?? transaction.sequence)
    }
    guard let mine = merged.mine else { return }
    if found == nil {
      try transaction.insert(mine)
    } else {
      try transaction.update(id) { $0 = mine }
    }
  }
}
