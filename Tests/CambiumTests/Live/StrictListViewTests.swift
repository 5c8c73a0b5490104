import Simulation
import Testing

@testable import Cambium

// The goal: the strict view refuses what a list view would raise. The method: one wrong diff for
// each rule, beside a right one of the same step.
@Suite("The strict list view")
struct StrictListViewTests {
  typealias Diff = SectionedDiff<String, String>

  /// Sections by the elements' first letters, in the order of the letters.
  private static func sections(_ elements: [String]) throws -> LiveSections<String, String> {
    try Sectioning(
      LiveElements(elements), at: 0, by: { String($0.prefix(1)) }, order: .ascending
    ).sections
  }

  private static func refusal(_ before: [String], _ diff: Diff) throws -> String? {
    var view = StrictListView(try sections(before))
    do {
      try view.apply(diff)
      return nil
    } catch {
      return error.description
    }
  }

  private static func diff(
    _ after: [String], sectionDeletions: [Diff.SectionDeletion] = [],
    sectionInsertions: [Diff.SectionInsertion] = [], sectionMoves: [Diff.SectionMove] = [],
    deletions: [Diff.Deletion] = [], insertions: [Diff.Insertion] = [], moves: [Diff.Move] = [],
    updates: [Diff.Update] = []
  ) throws -> Diff {
    Diff(
      sequence: 1, sections: try sections(after), sectionDeletions: sectionDeletions,
      sectionInsertions: sectionInsertions, sectionMoves: sectionMoves, deletions: deletions,
      insertions: insertions, moves: moves, updates: updates)
  }

  private static func at(_ section: Int, _ item: Int) -> SectionedPosition {
    SectionedPosition(section: section, item: item)
  }

  private static func deletion(_ section: Int, _ item: Int, _ element: String) -> Diff.Deletion {
    .init(position: at(section, item), element: element, cause: .own)
  }

  private static func insertion(_ section: Int, _ item: Int, _ element: String) -> Diff.Insertion {
    .init(position: at(section, item), element: element, cause: .own)
  }

  private static func move(
    _ from: SectionedPosition, _ to: SectionedPosition, _ element: String
  ) -> Diff.Move {
    .init(from: from, to: to, element: element)
  }

  private static func update(
    _ before: SectionedPosition, _ after: SectionedPosition, _ old: String, _ new: String
  ) -> Diff.Update {
    .init(before: before, after: after, old: old, new: new, properties: [], cause: .own)
  }

  /// Refusals of wrong diffs, each with the words that it must have.
  @Test("refuses entries that contradict each other or the counts")
  func contradictions() throws {
    let (before, after) = (["a1", "a2", "b1"], ["a2", "b1"])
    let right = Self.deletion(0, 0, "a1")
    #expect(try Self.refusal(before, Self.diff(after, deletions: [right])) == nil)
    let wrong: [(Diff, String)] = [
      (try Self.diff(after), "invalid number of rows"),
      (try Self.diff(after, deletions: [right, right]), "multiple deletions"),
      (try Self.diff(after, deletions: [Self.deletion(0, 2, "a3")]), "contains only 2 rows"),
      (try Self.diff(after, deletions: [Self.deletion(2, 0, "c1")]), "out of bounds"),
      (try Self.diff(after, deletions: [Self.deletion(0, 1, "a2")]), "row 0:0 shows a1"),
      (
        try Self.diff(
          after, deletions: [right], moves: [Self.move(Self.at(0, 0), Self.at(0, 0), "a2")]),
        "a delete and a move from the same"
      ),
      (
        try Self.diff(
          after, deletions: [right],
          updates: [Self.update(Self.at(0, 0), Self.at(0, 0), "a1", "a2")]),
        "delete and reload the same"
      ),
      (
        try Self.diff(
          after, deletions: [right], insertions: [Self.insertion(1, 0, "b1")],
          moves: [Self.move(Self.at(1, 0), Self.at(1, 0), "b1")]),
        "an insert and a move to the same"
      ),
      (
        try Self.diff(
          after, deletions: [right, Self.deletion(1, 0, "b1")],
          insertions: [Self.insertion(1, 0, "b1")],
          updates: [Self.update(Self.at(0, 1), Self.at(1, 0), "a2", "b1")]),
        "insert and reload the same"
      ),
    ]
    for (diff, words) in wrong {
      #expect(try Self.refusal(before, diff)?.contains(words) == true, "\(words)")
    }
  }

  @Test("refuses rows of sections that go, come or move")
  func sections() throws {
    let before = ["a1", "b1", "b2"]
    let a = Diff.SectionDeletion(position: 0, key: "a")
    let c = Diff.SectionInsertion(position: 1, key: "c")
    let after = ["b1", "b2", "c1"]
    let right = try Self.diff(after, sectionDeletions: [a], sectionInsertions: [c])
    #expect(try Self.refusal(before, right) == nil)
    let wrong: [(Diff, String)] = [
      (try Self.diff(after), "invalid number of rows"),
      (try Self.diff(after, sectionDeletions: [a]), "invalid number of sections"),
      (
        try Self.diff(
          after, sectionDeletions: [a], sectionInsertions: [c],
          deletions: [Self.deletion(0, 0, "a1")]),
        "of a deleted section"
      ),
      (
        try Self.diff(
          after, sectionDeletions: [a], sectionInsertions: [c],
          insertions: [Self.insertion(1, 0, "c1")]),
        "into a newly inserted section"
      ),
      (
        try Self.diff(
          after, sectionDeletions: [a], sectionInsertions: [c],
          moves: [Self.move(Self.at(1, 0), Self.at(1, 0), "c1")]),
        "into a newly inserted section"
      ),
      (
        try Self.diff(
          after, sectionDeletions: [a], sectionInsertions: [c],
          sectionMoves: [.init(from: 0, to: 0, key: "b")]),
        "section 0 is a, not b"
      ),
      (
        try Self.diff(
          ["a1", "b2"], sectionMoves: [.init(from: 1, to: 1, key: "b")],
          deletions: [Self.deletion(1, 0, "b1")]),
        "of a section that moves"
      ),
    ]
    for (diff, words) in wrong {
      #expect(try Self.refusal(before, diff)?.contains(words) == true, "\(words)")
    }
  }

  // Finds a view that takes all cells from the data source, so that it would accept any diff.
  @Test("finds cells that are stale or in the wrong order")
  func stale() throws {
    var view = StrictListView(["a", "b", "c"])
    func diff(_ after: [String], moves: [LiveDiff<String>.Move] = []) -> LiveDiff<String> {
      LiveDiff(
        sequence: 1, elements: LiveElements(after), deletions: [], insertions: [], moves: moves,
        updates: [])
    }
    #expect(throws: StrictListError.self) { try view.apply(diff(["a", "x", "c"])) }
    #expect(throws: StrictListError.self) { try view.apply(diff(["b", "a", "c"])) }
    try view.apply(diff(["b", "a", "c"], moves: [.init(from: 1, to: 0, element: "b")]))
  }
}
