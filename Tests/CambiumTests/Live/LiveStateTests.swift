// Goal: local and stored values are merged property by property, and a conflict is seen where both
// have changed one. Method: random edits, changes of others, deletions and reverts, beside a naive
// merge that keeps each entered value by itself.

import Testing

@testable import Cambium

@Suite("The state of a live object")
struct LiveStateTests {
  @Test("loses no edit of threads that edit at the same time")
  func threads() async throws {
    try await withDatabase { database in
      try await database.register(Airport.self)
      let airport = try database.live("jfk" as Airport.ID)
      await onThreads(4) { _ in
        for _ in 0..<200 { try airport.edit { $0.place.latitude += 1 } }
      }
      #expect(airport.place.latitude == 800)
    }
  }

  @Test("merges as a naive one does", arguments: FormatSeeds.first(4))
  func random(seed: UInt64) throws {
    print("seed \(seed)")
    var random = FormatRandom(seed: 4200 + seed)
    var conflicts = 0
    for _ in 0..<300 {
      var state = LiveState<Airport>("x")
      var naive = NaiveState()
      for step in 1...12 {
        switch random.below(5) {
        case 0, 1:
          var model = state.shown
          Self.change(&model, &random)
          state.enter(model)
          naive.enter(model)
        case 2, 3:
          var model = naive.stored ?? state.template
          Self.change(&model, &random)
          let stored = random.chance(oneIn: 6) ? nil : model
          let number = SequenceNumber(UInt64(step))
          state.take(stored, modified: stored == nil ? nil : number, at: number)
          naive.take(stored)
        default:
          state.drop(nil)
          naive.drop()
        }
        #expect(state.shown == naive.shown(state.template), "seed \(seed)")
        #expect(state.conflicts == naive.conflicts, "seed \(seed)")
        conflicts += state.conflicts.count
      }
    }
    #expect(conflicts > 200)
  }

  private static func change(_ model: inout Airport, _ random: inout FormatRandom) {
    switch random.below(3) {
    case 0: model.name = random.pick(["", "a", "b"])
    case 1: model.place.latitude = Double(random.below(3))
    default: model.place.longitude = Double(random.below(3))
    }
  }

  /// The merge, value by value: those that were entered, over those that are stored.
  private struct NaiveState {
    var stored: Airport?
    var entered: [Int: Airport] = [:]
    var conflicts: Set<Int> = []

    private static let parts = 0..<3

    private static func areEqual(_ part: Int, _ a: Airport, _ b: Airport) -> Bool {
      switch part {
      case 0: a.name == b.name
      case 1: a.place.latitude == b.place.latitude
      default: a.place.longitude == b.place.longitude
      }
    }

    private static func copy(_ part: Int, _ source: Airport, _ target: inout Airport) {
      switch part {
      case 0: target.name = source.name
      case 1: target.place.latitude = source.place.latitude
      default: target.place.longitude = source.place.longitude
      }
    }

    func shown(_ template: Airport) -> Airport {
      var model = stored ?? template
      for (part, source) in entered { Self.copy(part, source, &model) }
      return model
    }

    private var base: Airport { stored ?? Airport(id: "x") }

    mutating func enter(_ model: Airport) {
      for part in Self.parts {
        let before = shown(base)
        if !Self.areEqual(part, before, model) { conflicts.remove(part) }
        entered[part] = Self.areEqual(part, base, model) ? nil : model
      }
      settle()
    }

    mutating func take(_ theirs: Airport?) {
      let old = base
      let isDeleted = theirs == nil && stored != nil
      stored = theirs
      for part in entered.keys where isDeleted || !Self.areEqual(part, old, base) {
        conflicts.insert(part)
      }
      settle()
    }

    mutating func drop() { (entered, conflicts) = ([:], []) }

    private mutating func settle() {
      for (part, source) in entered where Self.areEqual(part, base, source) { entered[part] = nil }
      conflicts.formIntersection(entered.keys)
    }
  }
}
