// Goal: the changes of a watched list lead from each state to the next, as it is said that they are
// applied, and a row that goes elsewhere moves, whatever becomes of its section. Method: random
// people are stored, and a live query is followed, with and without sections and a limit.

import Cambium
import Testing

@testable import CambiumCommands

@Suite("The difference of two lists")
struct ListDifferenceTests {
  private static func people(_ random: inout SplitMix) -> [WatchedPeople.Person] {
    "abcdefgh".filter { _ in !random.chance(oneIn: 4) }.shuffled(using: &random).map { name in
      let section = ["x", "y", "z"][random.below(3)]
      return .init(name: "\(name)", section: section, number: random.below(3))
    }
  }

  /// Applies a difference in the order that is said.
  private static func applied(
    _ difference: ListDifference, to old: WatchedList, toward new: WatchedList
  ) -> [WatchedList.Section] {
    var sections: [WatchedList.Section?] = old.sections
    for place in (difference.deletions + difference.moves.map(\.from)).sorted(by: >) {
      sections[place.section]?.rows.remove(at: place.item)
    }
    let movedSections = difference.sectionMoves.map { (to: $0.to, sections[$0.from]) }
    for number in difference.sectionDeletions + difference.sectionMoves.map(\.from) {
      // Nothing may be left that is not told.
      #expect(!difference.sectionDeletions.contains(number) || sections[number]?.rows.count == 0)
      sections[number] = nil
    }
    var after = sections.compactMap(\.self)
    let inserted = difference.sectionInsertions.map { (to: $0, emptied(new.sections[$0])) }
    for (to, section) in (movedSections + inserted).sorted(by: { $0.to < $1.to }) {
      if let section { after.insert(section, at: to) }
    }
    let moved = difference.moves.map { ($0.to, old[$0.from]) }
    for (place, row) in (difference.insertions.map { ($0, new[$0]) } + moved).sorted(by: {
      $0.0 < $1.0
    }) {
      after[place.section].rows.insert(row, at: place.item)
    }
    for update in difference.updates {
      let (before, row) = (old[update.before], new[update.after])
      #expect(before.identity == row.identity && before.id == row.id)
      #expect(update.names == ListDifference.names(before.values, row.values))
      after[update.after.section].rows[update.after.item] = row
    }
    return after
  }

  private static func emptied(_ section: WatchedList.Section) -> WatchedList.Section? {
    WatchedList.Section(id: section.id, value: section.value)
  }

  /// The rows of a list, by what distinguishes them.
  private static func identities(_ list: WatchedList) -> Set<Value> {
    Set(list.sections.flatMap { $0.rows.map(\.identity) })
  }

  @Test("leads from one to the other", arguments: 1...4 as ClosedRange<UInt64>)
  func application(_ seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let clauses = (seed % 2 == 0 ? "section by s " : "") + "sort at" + (seed > 2 ? " limit 5" : "")
    var people = try WatchedPeople(clauses)
    for _ in 0..<500 {
      let old = people.list
      let step = try people.store(Self.people(&random))
      let (new, difference) = (step.list, step.difference)
      let sections = Self.applied(difference, to: old, toward: new)
      #expect(sections.map(\.id) == new.sections.map(\.id), "seed \(seed)")
      for (one, other) in zip(sections, new.sections) {
        #expect(one.rows.map(\.id) == other.rows.map(\.id), "seed \(seed)")
        #expect(one.rows.map(\.values) == other.rows.map(\.values), "seed \(seed)")
      }
      // A row that is in both is neither deleted nor inserted.
      let (before, after) = (Self.identities(old), Self.identities(new))
      let deleted = Set(difference.deletions.map { old[$0].identity })
      #expect(deleted == before.subtracting(after), "seed \(seed)")
      let inserted = Set(difference.insertions.map { new[$0].identity })
      #expect(inserted == after.subtracting(before), "seed \(seed)")
    }
    try people.end()
  }
}
