import Cambium
import CambiumClient
import CambiumServer
import Foundation
import Scratch
import Testing

@Suite("Coming from Firebase, with a server, one")
struct FirebaseTests {
  struct Score: Model {
    var id = ID()
    var name = ""
    var points = 0
    static let schema = ModelSchema<Score>("scores")
  }

  @Test("writes to a server, and follows it and the connection")
  func server() async throws {
    let directory = try TemporaryDirectory()
    let database = try Database(at: "\(directory.path)/team.cambium", for: Score.self)
    var options = ServerOptions()
    options.port = 0
    options.allowsWriting = true
    let server = Server(database, options)
    try server.start()
    let url = try #require(URL(string: server.url ?? ""))
    let show = Shown()
    try await Self.follow(url, directory.path, show)
    #expect(show.lines.contains("true") && show.lines.contains("Ada"))
    #expect(try database.all(Score.self).fetch().map(\.points) == [1000])
    await server.stop()
    try checkSound(database)
    try await database.close()
  }

  private static func follow(_ url: URL, _ folder: String, _ show: Shown) async throws {
    let token: String? = nil
    var options = RemoteStore.Options()
    options.waitingWrites = "\(folder)/waiting"
    let store = try RemoteStore(url, token: token, options: options)
    let statuses = Task {
      for await status in store.statuses { show(status.isLive) }
    }
    let changes = Task {
      for try await change in try store.observe(Score.self) { show(change.model.name) }
    }
    try await store.create(Score(name: "Ada", points: 1000))
    let end = ContinuousClock.now + .seconds(60)
    while !(show.lines.contains("Ada") && show.lines.contains("true")), .now < end {
      // An observer that began after the write is not told of it.
      let score = try #require(try await store.list(Score.self).first)
      try await store.update(score.id) { $0.name = $0.name == "Ada" ? "Ada L." : "Ada" }
      try await Task.sleep(for: .milliseconds(20))
    }
    let score = try #require(try await store.list(Score.self).first)
    #expect(score.name.hasPrefix("Ada"))
    store.stop()
    _ = await statuses.result
    _ = await changes.result
  }
}
