// The questions that are followed: texts from a seed, and typed queries of each shape that text
// cannot have.

import Cambium
import Simulation

/// Draws questions to a database.
struct Questions {
  let database: Database
  let counts: LiveCounts

  /// A live query of a random shape.
  func follow(_ records: inout RandomRecords) throws -> any Followed {
    let isDivided = records.random.oneIn(2)
    let isCompared = records.random.oneIn(3)
    if records.random.oneIn(3) { return try followModels(&records, isDivided, isCompared) }
    let own = Draws(&records)
    return try FollowedQuery(
      database, counts, isDivided: isDivided, isCompared: isCompared,
      { "\($0.values.members.first?.value ?? .null)" }
    ) { try text(&own.records) }
  }

  // MARK: Text

  /// A query that can be answered at the moment: one that compares a key with something that is no
  /// key is refused, also when it is run again.
  private func text(_ records: inout RandomRecords) throws -> Question<DynamicQuery> {
    while true {
      let drawn = RandomQuery.draw(&records)
      let query = try database.records(drawn.text)
      guard (try? query.fetch()) != nil else { continue }
      return Question(
        text: drawn.text, shape: drawn.shape.rawValue, query: query,
        again: { try $0.records(drawn.ordered).fetch() },
        path: drawn.isOfRecords ? { $0.path } : nil,
        values: drawn.isOfRecords ? { $0.values } : nil,
        selected: drawn.isOfSelections ? { $0.values } : nil, isWindowed: drawn.isWindowed)
    }
  }

  // MARK: Models

  private func followModels(
    _ records: inout RandomRecords, _ isDivided: Bool, _ isCompared: Bool
  ) throws -> any Followed {
    let own = Draws(&records)
    func follow<R: Results>(
      _ shape: String, path: ((R.Element) throws -> NodePath)? = nil, isWindowed: Bool = true,
      _ make: @escaping (any ModelAsking, _ bound: Int, _ limit: Int) -> R
    ) throws -> any Followed where R.Element: Equatable & Sendable {
      try FollowedQuery(
        database, counts, isDivided: isDivided, isCompared: isCompared,
        { (element: R.Element) in String("\(element)".prefix(14)) }
      ) {
        let (bound, limit) = (own.records.random.below(9), 1 + own.records.random.below(8))
        return Question(
          text: "\(shape), \(bound), limit \(limit)", shape: shape,
          query: make(database, bound, limit), again: { try make($0, bound, limit).fetch() },
          path: path, values: nil, selected: nil, isWindowed: isWindowed)
      }
    }
    switch records.random.below(9) {
    case 0: return try follow("models", path: { try $0.id.path }) { $0.oldest($1, $2) }
    case 1: return try follow("filtered", path: { try $0.id.path }) { $0.filtered($1, $2) }
    case 2: return try follow("many") { $0.withPlayers($2) }
    case 3: return try follow("loaded") { $0.withTeam($1, $2) }
    case 4: return try follow("selection") { $0.names($2) }
    case 5: return try follow("related", path: { try $0.id.path }) { $0.captained($1, $2) }
    case 6: return try follow("left join") { $0.besideTeams($2) }
    case 7:
      return try follow("join", isWindowed: false) { source, bound, _ in
        source.inTeams(bound)
      }
    default: return try follow("groups") { $0.ages($2) }
    }
  }
}

/// Random numbers that a question keeps for the next one.
private final class Draws {
  var records: RandomRecords

  init(_ records: inout RandomRecords) {
    self.records = RandomRecords(random: .init(seed: records.random.next()))
  }
}
