import Cambium
import Simulation

/// An observer in a task of its own, which waits for differences and takes them as they come, while
/// others write: none may be lost, nor the end be slept through.
final class FollowedTask: Sendable {
  private let query: ModelQuery<Player>
  private let told: Awaited<[Player]>

  /// The object that ends it, which no history writes.
  private static let last: Player.ID = 999
  private static let secondsMax = 20

  init(_ database: Database) {
    let query = database.query(Player.self).order(by: \.age.descending, \.id.descending)
    self.query = query
    told = Awaited {
      var view = StrictListView<Player, Int>(EmptyCollection())
      for try await diff in query.changes() {
        try view.apply(diff)
        if diff.elements.contains(where: { $0.id == FollowedTask.last }) {
          return Array(diff.elements)
        }
      }
      throw Violation("the differences of \(query) ended")
    }
  }

  deinit { told.cancel() }

  /// Has it come to its end, which nobody else may write beside.
  func finish(_ database: Database) throws {
    try database.insert(Player(id: FollowedTask.last, name: "last"))
    let told = try told.get(
      within: FollowedTask.secondsMax, "a task was not told of the last difference")
    try demand(told == query.fetch(), "a task was told of \(told) in the end")
  }
}
