import Cambium

/// A list that is watched, as it is at one moment: rows in sections. A list without sections has a
/// single one.
struct WatchedList: Sendable {
  /// The identity of a row through all moments: what it is made of, and a number where several rows
  /// are made of the same.
  struct RowID: Hashable, Sendable {
    let made: Value
    let occurrence: Int
  }

  struct Row: Sendable {
    let id: RowID
    let values: ValueMap
  }

  /// The identity of a section: the value that its rows share, and a number where several have it.
  struct SectionID: Hashable, Sendable {
    let value: Value
    let occurrence: Int
  }

  struct Section: Sendable {
    let id: SectionID
    var rows: [Row]
  }

  var sequence = SequenceNumber(0)
  /// True if the sections have headings.
  var isSectioned = false
  /// True if rows are records, which have a key beside their values.
  var hasKeys = false
  /// The names of the values that rows have, in the order in which they are shown.
  var columns: [String] = []
  private(set) var sections: [Section] = []
  private var sectionCounts: [Value: Int] = [:]
  private var rowCounts: [Value: Int] = [:]

  /// The number of rows.
  var count: Int { sections.reduce(0) { $0 + $1.rows.count } }

  /// Adds a row at the end: to the last section if that has the value, else to a new one.
  mutating func append(_ values: ValueMap, madeOf made: Value, section value: Value) {
    if sections.last?.id.value != value {
      let id = SectionID(value: value, occurrence: WatchedList.next(value, &sectionCounts))
      sections.append(Section(id: id, rows: []))
    }
    let id = RowID(made: made, occurrence: WatchedList.next(made, &rowCounts))
    sections[sections.count - 1].rows.append(Row(id: id, values: values))
  }

  private static func next(_ value: Value, _ counts: inout [Value: Int]) -> Int {
    let occurrence = counts[value, default: 0]
    counts[value] = occurrence + 1
    return occurrence
  }
}

/// One step of a watched list: the list as it is now, and the changes that lead to it.
struct WatchStep: Sendable {
  let list: WatchedList
  let difference: ListDifference
}

/// A list that is maintained: first as it is, then at each moment at which it differs.
///
/// It is pulled: a step leads from the state that the last one showed to the newest, so that a slow
/// reader gets fewer and larger steps.
protocol WatchSource: Sendable {
  associatedtype Steps: AsyncSequence<WatchStep, any Error>

  func steps() -> Steps
}
