import Cambium
import CambiumClient
import CambiumConformance
import CambiumServer
import Foundation
import Testing

/// A store in front of a real server, over the network of this machine.
@Suite("A store over HTTP", .timeLimit(.minutes(1))) struct HTTPStoreTests {
  /// A server of a database in memory, for the models of the checks.
  private static func server(
    _ models: [any Model.Type], _ change: (inout ServerOptions) -> Void = { _ in }
  ) throws -> (Server, Database) {
    let database = try Database.inMemory()
    for model in models { try database.register(model) }
    var options = ServerOptions()
    (options.port, options.allowsWriting) = (0, true)
    change(&options)
    let server = Server(database, options)
    try server.start()
    return (server, database)
  }

  private static func url(_ server: Server) throws -> URL {
    try #require(server.url.flatMap { URL(string: $0) })
  }

  @Test("keeps the promises of every store", arguments: StoreCheck.all)
  func conforms(check: StoreCheck) async throws {
    let (server, database) = try Self.server(StoreCheck.models)
    let store = try RemoteStore(try Self.url(server))
    try await check.run(on: store)
    store.stop()
    await server.stop()
    let findings = try database.verify().findings
    #expect(findings.isEmpty)
    try await database.close()
  }

  @Test("says how its connection is, and goes on when the server is back")
  func status() async throws {
    let (server, database) = try Self.server([Counter.self])
    let url = try Self.url(server)
    var options = RemoteStore.Options()
    options.pauseMax = .milliseconds(20)
    let store = try RemoteStore(url, options: options)
    var statuses = store.statuses.makeAsyncIterator()
    #expect(await statuses.next() == .connecting)
    let changes = try store.observe(Counter.self)
    try await store.create(Counter(id: 1))
    #expect(await statuses.next()?.isLive == true)
    await server.stop()
    let waiting = Task { try await store.create(Counter(id: 2)) }
    var wasRetrying = false
    while let status = await statuses.next() {
      guard case .retrying(let pause, let reason) = status else { continue }
      #expect(pause <= .milliseconds(20) && !reason.isEmpty)
      wasRetrying = true
      break
    }
    #expect(wasRetrying)
    var other = ServerOptions()
    (other.port, other.allowsWriting) = (UInt16(try #require(url.port)), true)
    let again = Server(database, other)
    try again.start()
    #expect(try await waiting.value.id == 2)
    while let status = await statuses.next(), !status.isLive {}
    var iterator = changes.makeAsyncIterator()
    #expect(try await iterator.next()?.id == 1)
    #expect(try await iterator.next()?.id == 2)
    store.stop()
    while let status = await statuses.next(), status != .stopped {}
    #expect(store.status == .stopped)
    await #expect(throws: RemoteStoreError.stopped) { try await store.create(Counter()) }
    await again.stop()
  }

  @Test("is refused what its token does not allow, and does not wait for it")
  func refused() async throws {
    let (server, database) = try Self.server([Counter.self, Other.self]) {
      $0.tokens = """
        aaaaaaaaaaaaaaaaaaaaaaaa write path=counters name=ada
        bbbbbbbbbbbbbbbbbbbbbbbb read
        """
    }
    let url = try Self.url(server)
    let ada = try RemoteStore(url, token: "aaaaaaaaaaaaaaaaaaaaaaaa")
    let bob = try RemoteStore(url, token: "bbbbbbbbbbbbbbbbbbbbbbbb")
    let eve = try RemoteStore(url, token: "cccccccccccccccccccccccc")
    try await ada.create(Counter(id: 1))
    #expect(try database.commit(try database.head).metadata["actor"] == "ada")
    #expect(try await bob.list(Counter.self).map(\.id) == [1])
    func status(_ body: () async throws -> Void) async throws -> Int? {
      do { try await body() } catch RemoteStoreError.refused(let status, _) { return status }
      return nil
    }
    #expect(try await status { try await ada.create(Other()) } == 403)
    #expect(try await status { _ = try await ada.list(Other.self) } == 403)
    #expect(try await status { try await bob.create(Counter()) } == 403)
    #expect(try await status { _ = try await eve.list(Counter.self) } == 401)
    let changes = try eve.observe(Counter.self)
    #expect(try await status { for try await _ in changes {} } == 401)
    #expect(ada.waitingCount == 0 && bob.waitingCount == 0)
    for store in [ada, bob, eve] { store.stop() }
    await server.stop()
  }

  @Test("refuses a model that the server has not declared, or declared otherwise")
  func declarations() async throws {
    let (server, database) = try Self.server([Other.self])
    let store = try RemoteStore(try Self.url(server))
    for _ in 0..<2 {
      await #expect(throws: DatabaseError.self) { try await store.create(Counter()) }
      await #expect(throws: DatabaseError.self) { _ = try await store.list(Counter.self) }
    }
    try await database.register(Counter.self)
    #expect(try await store.list(Counter.self).isEmpty)
    store.stop()
    await server.stop()
  }

  @Test("carries every kind of value, long queries and long lists")
  func values() async throws {
    let (server, _) = try Self.server([Other.self])
    let store = try RemoteStore(try Self.url(server))
    var model = Other()
    model.text = "ü\u{0}\"\\ \n 💡"
    (model.whole, model.number, model.data) = (.min, .infinity, Data([0, 255]))
    (model.moment, model.tags) = (Date(timeIntervalSince1970: 1.5), ["a", "$b", ""])
    model.map = ["$date": 1, "": 2]
    model.place = Other.Place(latitude: -0.0, longitude: .leastNonzeroMagnitude)
    let kept = try await store.create(model)
    model.id = kept.id
    #expect(kept == model)
    #expect(try await store.lookup(kept.id) == model)
    for number in 0..<200 {
      try await store.create(Other(whole: number, text: String(repeating: "x", count: 300)))
    }
    let wanted = Set(0..<3000)
    let found = try await store.list(
      Listing<Other>().where { $0.whole.in(wanted.sorted()) }.order(by: \.whole))
    #expect(found.map(\.whole) == Array(0..<200))
    store.stop()
    await server.stop()
  }
}

struct Other: Model, Equatable {
  struct Place: Nested, Equatable {
    var latitude = 0.0
    var longitude = 0.0
  }

  var id = ID()
  var whole = 0
  var text = ""
  var number = 0.0
  var data = Data()
  var moment: Date?
  var tags: [String] = []
  var map: [String: Int] = [:]
  var place = Place()

  static let schema = ModelSchema<Other>("others")
}
