import Cambium

/// A list that is watched, as it is at one moment: rows in sections, to which the differences of a
/// live query lead. A list without sections has a single one, or none while it is empty.
struct WatchedList: Sendable {
  struct Row: Sendable {
    /// A number that the row has as long as it is in the list.
    let id: Int
    /// The part of the values that distinguishes it from other rows.
    let identity: Value
    var values: ValueMap
  }

  struct Section: Sendable {
    /// A number that the section has as long as it is in the list.
    let id: Int
    /// The value that its rows share.
    let value: Value
    var rows: [Row] = []
  }

  private let query: DynamicQuery
  /// The names of the values that rows have, in the order in which they are shown: of whole
  /// records those that are declared, and then each that a row has had.
  private(set) var columns: [String]
  private(set) var sequence = SequenceNumber(0)
  private(set) var sections: [Section] = []
  private var lastID = 0

  /// An empty list.
  init(of query: DynamicQuery, columns: [String]) { (self.query, self.columns) = (query, columns) }

  /// True if the sections have headings.
  var isSectioned: Bool { query.isSectioned }
  /// True if rows are records, which have a key beside their values.
  var hasKeys: Bool { query.isOfRecords }
  /// The number of rows.
  var count: Int { sections.reduce(0) { $0 + $1.rows.count } }

  subscript(place: SectionedPosition) -> Row {
    get { sections[place.section].rows[place.item] }
    set { sections[place.section].rows[place.item] = newValue }
  }

  /// Takes a step of the live query, and says what it has done to the list.
  mutating func apply(_ diff: SectionedDiff<DynamicRecord, Value>) -> ListDifference {
    var difference = ListDifference(diff, before: self) { query.identity(of: $0) }
    sequence = diff.sequence
    let moved = difference.moves.map { (to: $0.to, row: self[$0.from]) }
    for place in (difference.deletions + difference.moves.map(\.from)).sorted(by: >) {
      sections[place.section].rows.remove(at: place.item)
    }
    arrange(diff)
    let inserted = difference.insertions.map { ($0, row(diff.sections[$0])) }
    for (place, row) in (inserted + moved).sorted(by: { $0.0 < $1.0 }) {
      sections[place.section].rows.insert(row, at: place.item)
    }
    difference.update { place in
      let (old, new) = (self[place].values, values(of: diff.sections[place]))
      self[place].values = new
      return ListDifference.names(old, new)
    }
    nameColumns((difference.insertions + difference.updates.map(\.after)).sorted())
    return difference
  }

  /// Removes, inserts and moves sections.
  private mutating func arrange(_ diff: SectionedDiff<DynamicRecord, Value>) {
    let moved = diff.sectionMoves.map { (to: $0.to, section: sections[$0.from]) }
    let gone = diff.sectionDeletions.map(\.position) + diff.sectionMoves.map(\.from)
    for position in gone.sorted(by: >) { sections.remove(at: position) }
    let inserted = diff.sectionInsertions.map {
      ($0.position, Section(id: nextID(), value: $0.key))
    }
    for (position, section) in (inserted + moved).sorted(by: { $0.0 < $1.0 }) {
      sections.insert(section, at: position)
    }
  }

  private mutating func row(_ record: DynamicRecord) -> Row {
    Row(id: nextID(), identity: query.identity(of: record), values: values(of: record))
  }

  private func values(of record: DynamicRecord) -> ValueMap {
    hasKeys ? record.allValues : record.values
  }

  private mutating func nextID() -> Int {
    lastID += 1
    return lastID
  }

  /// Adds columns for the values of rows that are new.
  private mutating func nameColumns(_ places: [SectionedPosition]) {
    guard hasKeys else { return }
    var known = Set(columns)
    for place in places {
      columns += self[place].values.members.map(\.name).filter { known.insert($0).inserted }
    }
  }
}

/// One step of a watched list: the list as it is now, and the changes that lead to it.
struct WatchStep: Sendable {
  let list: WatchedList
  let difference: ListDifference
}
