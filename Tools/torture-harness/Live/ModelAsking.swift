import Cambium

/// A source of typed queries: a database, or a moment of it.
protocol ModelAsking {
  func query<M: Model>(_ type: M.Type) -> ModelQuery<M>
}

extension Database: ModelAsking {}
extension Snapshot: ModelAsking {}

extension ModelAsking {
  func oldest(_ bound: Int, _ limit: Int) -> ModelQuery<Player> {
    query(Player.self).where { $0.age >= bound / 2 }
      .order(by: \.age.descending, \.id.descending).limit(limit, offset: bound % 4)
  }

  func filtered(_ bound: Int, _ limit: Int) -> ModelQuery<Player> {
    query(Player.self).filter { ($0.age ?? 0) % 3 != bound % 3 }
      .order(by: \.name, \.id).limit(limit)
  }

  func captained(_ bound: Int, _ limit: Int) -> ModelQuery<Player> {
    query(Player.self).where { $0.team.captain.age < bound || $0.friends.any { $0.age > bound } }
      .order(by: \.team.rank.descending, \.team.title, \.id).limit(limit, offset: 1)
  }

  func withPlayers(_ limit: Int) -> Shown<Loading<Team, (Team, [Player])>> {
    Shown(query(Team.self).order(by: \.rank, \.id).limit(limit).with(\.players)) {
      "\($0.title) \($0.rank) \($0.id): \($1.map { "\($0.id) \($0.name) \($0.age ?? -1)" })"
    }
  }

  func withTeam(
    _ bound: Int, _ limit: Int
  ) -> Shown<Loading<Player, (Player, Team?, [Player])>> {
    Shown(
      query(Player.self).where { $0.age < bound }.order(by: \.name.descending, \.id.descending)
        .limit(limit).with(\.team, \.friends)
    ) { player, team, friends in
      "\(player.name) \(player.id) \(player.age ?? -1): \(team?.title ?? "") \(team?.rank ?? -1) "
        + "\(friends.map { "\($0.id) \($0.name)" })"
    }
  }

  func names(_ limit: Int) -> Shown<Selection<(String, String?)>> {
    Shown(
      query(Player.self).order(by: \.team.title, \.id).limit(limit)
        .select(\.name, \.team.title.orNil)
    ) { "\($0) \($1 ?? "")" }
  }

  func inTeams(_ bound: Int) -> Shown<Joined<Player, Team>> {
    Shown(
      query(Player.self).join(Team.self, on: \.team, \.id)
        .where { player, team in player.age > bound || team.rank == bound }
        .order { player, team in (team.rank.descending, player.id) }
    ) { "\($0.name) \($0.age ?? -1) \($0.id) \($1.title) \($1.rank)" }
  }

  func besideTeams(_ limit: Int) -> Shown<Joined<Player, Team?>> {
    Shown(
      query(Player.self).leftJoin(Team.self, on: \.age, \.rank)
        .order { player, _ in (player.name, player.id) }.limit(limit, offset: 2)
    ) { "\($0.name) \($0.age ?? -1) \($0.id) \($1.map { "\($0.id) \($0.title)" } ?? "")" }
  }

  func ages(_ limit: Int) -> Shown<Selection<(String?, Int, Double?)>> {
    Shown(
      query(Player.self).group(by: \.team.title.orNil).having { $0.count > 1 }
        .order { ($0.average($0.age).descending, $0.count) }.limit(limit)
        .aggregates { ($0.count, $0.average($0.age)) }
    ) { "\($0 ?? "") \($1) \($2 ?? -1)" }
  }
}

/// The results of another shape as texts, which can be compared where tuples cannot.
struct Shown<Base: Results>: Results where Base.Element: Sendable {
  typealias Element = String

  private var base: Base
  private let text: @Sendable (Base.Element) -> String

  var request: QueryRequest {
    get { base.request }
    set { base.request = newValue }
  }

  init(_ base: Base, _ text: @escaping @Sendable (Base.Element) -> String) {
    (self.base, self.text) = (base, text)
  }

  func read(_ run: QueryRun, _ body: (String) throws -> Bool) throws {
    try base.read(run) { try body(text($0)) }
  }
}
