// Goal: blame and history tell the truth of a node that has had thousands of versions, also where
// it came and went, was written again, or changed twice in a transaction; and blame reads few.
// Method: one record is changed at random, from a seed, some properties often and others hardly
// ever. All states are kept in a list, which is searched one by one.

import Simulation
import Testing

@testable import Cambium

@Suite("The deep history of a node")
struct DeepHistoryTests {
  @Test("is told as it was, and compacted too", arguments: SeededGenerator.seeds(7, 8))
  func told(seed: UInt64) throws {
    print("seed \(seed)")
    try withDatabase { database in
      var history = DeepHistory(seed)
      for _ in 0..<1_500 { try history.write(to: database) }
      for _ in 0..<20 { try history.compare(with: database) }
      let horizon = SequenceNumber(UInt64(history.random.below(900) + 200))
      _ = try database.compact(upTo: horizon)
      history.horizon = Int(horizon.rawValue)
      for _ in 0..<20 { try history.compare(with: database) }
      try database.rebuild()
      for _ in 0..<10 { try history.compare(with: database) }
      try expectSound(database)
    }
  }
}

/// The states of one record, one for each transaction.
private struct DeepHistory {
  typealias Properties = [String: Value]

  static let path = "shelf/book" as NodePath
  /// The first is changed the most often.
  private static let names = ["a", "b", "c", "d", "e", "f"]

  var random: SeededGenerator
  var horizon = 0
  private var states: [Properties?] = [nil]
  private var isWritten = [false]
  /// The last removal, while nothing has come in its place.
  private var removal: (path: NodePath, sequence: Int, state: Properties)?

  init(_ seed: UInt64) { random = SeededGenerator(seed: seed) }

  // MARK: Writing

  mutating func write(to database: Database) throws {
    var (state, isWritten) = (states[states.count - 1], false)
    let count = states.count
    try database.write { transaction in
      try transaction.set("other", to: .integer(Int64(count)))
      for _ in 0..<(1 + random.below(6) / 5) {
        (state, isWritten) = (try change(state, transaction), true)
      }
    }
    states.append(state)
    self.isWritten.append(isWritten && state != nil)
  }

  /// Changes the record in one of the ways that there are.
  private mutating func change(
    _ state: Properties?, _ transaction: borrowing Database.Transaction
  ) throws -> Properties? {
    guard var state else { return try make(transaction) }
    let name = Self.names[min(random.below(6), random.below(7), random.below(8))]
    let value = Value.integer(Int64(random.below(3)))
    switch random.below(60) {
    case 0:
      let place = random.oneIn(2) ? Self.path : "shelf"
      try transaction.remove(place)
      removal = (place, states.count, state)
      return nil
    case 1:
      try transaction.remove(Self.path)
      try transaction.set(Self.path, to: Self.record(state))
    case 2...8: try transaction.set(Self.path, to: Self.record(state))
    case 9...12:
      state[name] = nil
      try transaction.update(Self.path, [name: nil])
    case 13...15:
      state[name] = .some(.null)
      try transaction.update(Self.path, [name: Value.null])
    default:
      state[name] = value
      try transaction.update(Self.path, [name: value])
    }
    return state
  }

  private mutating func make(_ transaction: borrowing Database.Transaction) throws -> Properties {
    if let found = removal, found.sequence < states.count, random.oneIn(2) {
      removal = nil
      try transaction.restore(found.path, removedAt: SequenceNumber(UInt64(found.sequence)))
      return found.state
    }
    removal = nil
    let state = Properties(
      uniqueKeysWithValues: Self.names.map { ($0, .integer(Int64(random.below(2)))) })
    try transaction.set(Self.path, to: Self.record(state))
    return state
  }

  private static func record(_ state: Properties) -> Value {
    .map(ValueMap(state.map { ($0.key, $0.value) }))
  }

  // MARK: Comparing

  mutating func compare(with database: Database) throws {
    let moment = horizon + random.below(states.count - horizon)
    let lines = try database.blame(Self.path, at: .sequence(SequenceNumber(UInt64(moment))))
    try requireSame(lines.map { ModelBlame($0) }, blame(at: moment), "blame at \(moment)")
    let name = random.pick(Self.names)
    let property = Self.path.appending(Key.text(name))
    let line = try database.blame(property, at: .sequence(SequenceNumber(UInt64(moment))))
    try requireSame(
      line.map { ModelBlame($0) }, blame(at: moment).filter { $0.property == name },
      "blame of \(name) at \(moment)")

    let after = horizon + random.below(states.count - horizon)
    let upTo = min(after + random.below(400), states.count - 1)
    try compare(database, Self.path, after, upTo) { $0.map(Self.record) }
    try compare(database, property, after, upTo) { $0?[name] }
  }

  private func compare(
    _ database: Database, _ path: NodePath, _ after: Int, _ upTo: Int,
    _ value: (Properties?) -> Value?
  ) throws {
    let what = "history of \(path) from \(after) to \(upTo)"
    let expected = steps(of: path, after, upTo, value)
    let history = try database.history(
      of: path, after: SequenceNumber(UInt64(after)), upTo: SequenceNumber(UInt64(upTo)))
    try requireSame(history.fetch().map { ModelStep($0) }, expected, what)
    try requireSame(
      history.reversed().fetch().map { ModelStep($0) }, expected.reversed(), "reversed \(what)")
  }

  private func blame(at moment: Int) -> [ModelBlame] {
    guard let state = states[moment] else { return [] }
    return state.sorted { $0.key < $1.key }.map { name, value in
      var setter = moment
      while setter > horizon, states[setter - 1]?[name] == value { setter -= 1 }
      return ModelBlame(property: name, value: value, set: SequenceNumber(UInt64(setter)))
    }
  }

  private func steps(
    of path: NodePath, _ after: Int, _ upTo: Int, _ value: (Properties?) -> Value?
  ) -> [ModelStep] {
    guard after < upTo else { return [] }
    return ((after + 1)...upTo).compactMap { sequence in
      let (old, new) = (value(states[sequence - 1]), value(states[sequence]))
      if old == new && !(path == Self.path && isWritten[sequence]) { return nil }
      let kind: HistoryStep.Kind =
        old == nil ? .came : new == nil ? .went : old == new ? .rewritten : .changed
      return ModelStep(
        sequence: SequenceNumber(UInt64(sequence)), kind: kind, path: path, old: old, new: new)
    }
  }
}
