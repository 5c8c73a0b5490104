import Cambium
import Foundation
import Testing

@testable import CambiumServer

/// A database in a folder of its own, and the interface before it, without a socket.
final class InterfaceFixture: Sendable {
  let database: Database
  let answered: AnsweredRequests
  let interface: CommandInterface
  let streams = EventStreams()
  private let folder: String
  private let hub: CommitHub
  private let feed: Task<Void, any Error>

  private init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
    database = try Database(at: folder + "/a.cambium")
    let hub = try CommitHub(database)
    self.hub = hub
    feed = Task { try await hub.run() }
    answered = AnsweredRequests(database)
    interface = CommandInterface(database, answered, hub, streams)
  }

  /// Lends one; at the end the database is verified.
  static func with<R>(_ body: (InterfaceFixture) async throws -> R) async throws -> R {
    let fixture = try InterfaceFixture()
    defer {
      fixture.streams.stop()
      fixture.feed.cancel()
      try? fixture.database.close()
      try? FileManager.default.removeItem(atPath: fixture.folder)
    }
    let result = try await body(fixture)
    let verification = try fixture.database.verify()
    #expect(verification.isSound)
    return result
  }

  /// Asks, and reads the whole answer.
  func ask(
    _ target: String, _ method: Request.Method = .get, body: String = "",
    headers: [String: String] = [:], caller: Caller = .everything
  ) async throws -> Answer {
    let response = await interface.answer(
      try request(target, method, body: body, headers: headers, caller: caller))
    return await Answer(response)
  }

  func request(
    _ target: String, _ method: Request.Method = .get, body: String = "",
    headers: [String: String] = [:], caller: Caller = .everything
  ) throws -> Request {
    var request = try #require(Request(method, target: target))
    request.body = Array(body.utf8)
    request.headers = headers
    request.caller = caller
    return request
  }

  struct Answer {
    let status: Int
    let headers: [(name: String, value: String)]
    let text: String
    /// True if the connection is closed before the end.
    let isBroken: Bool

    init(_ response: Response) async {
      (status, headers) = (response.status, response.headers)
      switch response.body {
      case .bytes(let bytes): (text, isBroken) = (String(decoding: bytes, as: UTF8.self), false)
      case .pipe(let pipe):
        let reader = PipeReading(pipe)
        while await reader.more() {}
        (text, isBroken) = (reader.text, reader.isBroken)
      }
    }

    /// The lines, each read as JSON.
    var lines: [Value] {
      get throws {
        try text.split(separator: "\n").map { try JSONReader.value(of: String($0), name: "line") }
      }
    }

    /// The lines without the one that says what follows, and the address that it has.
    var page: (rows: [Value], next: String?) {
      get throws {
        var rows = try lines
        guard case .map(let last)? = rows.last, case .string(let next)? = last["next"] else {
          return (rows, nil)
        }
        rows.removeLast()
        return (rows, next)
      }
    }
  }
}

/// Reads a body as a connection does.
final class PipeReading {
  private(set) var bytes: [UInt8] = []
  private(set) var isBroken = false
  private let pipe: BodyPipe

  init(_ pipe: BodyPipe) { self.pipe = pipe }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Waits for more; false at the end.
  func more() async -> Bool {
    var piece = [UInt8](repeating: 0, count: 4096)
    let (stream, waker) = AsyncStream<Void>.makeStream()
    let reading = unsafe piece.withUnsafeMutableBytes {
      unsafe pipe.read(into: $0, suspend: {}, wake: { waker.yield() })
    }
    switch reading {
    case .bytes(let count): bytes += piece.prefix(count)
    case .nothing: for await _ in stream { break }
    case .broken:
      isBroken = true
      return false
    case .end: return false
    }
    return true
  }
}

extension Value {
  subscript(name: String) -> Value? {
    if case .map(let members) = self { members[name] } else { nil }
  }
}
