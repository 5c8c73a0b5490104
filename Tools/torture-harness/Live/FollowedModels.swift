// Two models that refer to each other in every way, for the shapes of queries that text cannot
// have: relations that are loaded, filters in Swift, models of known types.

import Cambium
import Simulation

struct Player: Model, Equatable {
  typealias Key = Int
  var id = ID()
  var name = ""
  var age: Int?
  var team: Team.ID?
  var friends: [Player.ID] = []

  static let schema = ModelSchema<Player>("players") {
    Index(\.age)
    Index(\.team, \.name)
    Property(\.team).onDelete(.nullify)
  }
}

struct Team: Model, Equatable {
  typealias Key = String
  var id = ID()
  var title = ""
  var rank = 0
  var captain: Player.ID?
  var players: Many<Player> { many(\.team) }

  static let schema = ModelSchema<Team>("teams") { Index(\.rank.descending) }
}

extension Player {
  /// Makes one change at random.
  static func change(
    _ tx: borrowing Database.Transaction, _ random: inout SeededGenerator
  ) throws {
    let id = ID(random.below(30))
    switch random.below(6) {
    case 0: try tx.delete(id)
    case 1, 2:
      try tx.upsert(
        Player(
          id: id, name: random.pick(["Ada", "Bob", "bo", "Eve"]), age: random.below(9),
          team: random.oneIn(5) ? nil : Team.random(&random),
          friends: (0..<random.below(3)).map { _ in ID(random.below(30)) }))
    case 3: try tx.update(id) { $0.age = random.oneIn(4) ? nil : random.below(9) }
    case 4: try tx.update(id) { $0.team = Team.random(&random) }
    default: try tx.update(id) { $0.friends = [ID(random.below(30))] }
    }
  }
}

extension Team {
  fileprivate static func random(_ random: inout SeededGenerator) -> ID {
    ID("t\(random.below(5))")
  }

  /// Makes one change at random.
  static func change(
    _ tx: borrowing Database.Transaction, _ random: inout SeededGenerator
  ) throws {
    let id = Team.random(&random)
    switch random.below(5) {
    case 0: try tx.delete(id)
    case 1:
      try tx.upsert(
        Team(
          id: id, title: random.pick(["Red", "red", "Blue"]), rank: random.below(4),
          captain: Player.ID(random.below(30))))
    case 2: try tx.update(id) { $0.title = random.pick(["Red", "red", "Blue"]) }
    default: try tx.update(id) { $0.rank = random.below(4) }
    }
  }
}
