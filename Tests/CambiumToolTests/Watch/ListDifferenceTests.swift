// Goal: the changes of a list lead from each state to the next, as it is said that they are
// applied, and rows that can stay do. Method: random lists with sections, that are shuffled.

import Cambium
import Testing

@testable import CambiumTool

@Suite("The difference of two lists")
struct ListDifferenceTests {
  typealias Place = ListDifference.Place

  private static func list(_ random: inout SplitMix) -> WatchedList {
    var list = WatchedList()
    var sections = (0..<4).filter { _ in random.chance(oneIn: 2) }
    if random.chance(oneIn: 5) { sections.reverse() }
    var rows = Array(0..<8).filter { _ in !random.chance(oneIn: 4) }
    for section in sections {
      for _ in 0..<(1 + random.below(4)) where !rows.isEmpty {
        let row = rows.remove(at: random.chance(oneIn: 3) ? random.below(rows.count) : 0)
        let values: ValueMap = ["n": .integer(Int64(random.below(3)))]
        list.append(values, madeOf: .integer(Int64(row / 2)), section: .integer(Int64(section)))
      }
    }
    return list
  }

  /// Applies a difference in the order that is said.
  private static func applied(
    _ difference: ListDifference, to old: WatchedList, toward new: WatchedList
  ) -> [WatchedList.Section] {
    var sections: [WatchedList.Section?] = old.sections
    let gone = difference.deletions + difference.moves.map(\.from)
    for place in gone.sorted(by: { ($0.section, $0.row) > ($1.section, $1.row) }) {
      sections[place.section]?.rows.remove(at: place.row)
    }
    let movedSections = difference.sectionMoves.map { (to: $0.to, sections[$0.from]) }
    for number in difference.sectionDeletions + difference.sectionMoves.map(\.from) {
      sections[number] = nil
    }
    var after = sections.compactMap(\.self)
    let inserted = difference.sectionInsertions.map {
      (to: $0, Optional(WatchedList.Section(id: new.sections[$0].id, rows: [])))
    }
    for (to, section) in (movedSections + inserted).sorted(by: { $0.to < $1.to }) {
      if let section { after.insert(section, at: to) }
    }
    for place in (difference.insertions + difference.moves.map(\.to)).sorted(by: {
      ($0.section, $0.row) < ($1.section, $1.row)
    }) {
      let row = new.sections[place.section].rows[place.row]
      let previous = old.sections.flatMap(\.rows).first { $0.id == row.id }
      after[place.section].rows.insert(previous ?? row, at: place.row)
    }
    for update in difference.updates {
      let row = new.sections[update.after.section].rows[update.after.row]
      after[update.after.section].rows[update.after.row] = row
    }
    return after
  }

  @Test("leads from one to the other", arguments: 1...3 as ClosedRange<UInt64>)
  func application(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    var old = WatchedList()
    for _ in 0..<2000 {
      let new = Self.list(&random)
      let difference = ListDifference(from: old, to: new)
      let sections = Self.applied(difference, to: old, toward: new)
      #expect(sections.map(\.id) == new.sections.map(\.id), "seed \(seed)")
      for (one, other) in zip(sections, new.sections) {
        #expect(one.rows.map(\.id) == other.rows.map(\.id), "seed \(seed)")
        #expect(one.rows.map(\.values) == other.rows.map(\.values), "seed \(seed)")
      }
      #expect(ListDifference(from: new, to: new).isEmpty)
      old = new
    }
  }

  @Test("moves no more rows than it must")
  func moves() {
    #expect(ListDifference.increasing([0, 4, 1, 2, 3]) == [true, false, true, true, true])
    #expect(ListDifference.increasing([3, 0, 1, 2]) == [false, true, true, true])
    #expect(ListDifference.increasing([2, 1, 0]).filter(\.self).count == 1)
    #expect(ListDifference.increasing([]) == [])
  }
}
