import Cambium
import Foundation
import Synchronization

@testable import CambiumServer

/// Asks a service in this process, as a client does over the network.
struct FirebaseClient {
  let database: Database
  let hub: CommitHub
  let events: EventStreams
  let service: FirebaseService
  var caller = Caller.everything

  init(_ database: Database) throws {
    self.database = database
    hub = try CommitHub(database)
    events = EventStreams()
    service = FirebaseService(
      database: database, answered: AnsweredRequests(database), hub: hub, events: events)
  }

  struct Answer {
    let response: Response
    let body: String

    var status: Int { response.status }
    var tree: NaiveTree { get throws { try NaiveTree(text: body) } }
  }

  func ask(
    _ method: Request.Method, _ path: String, _ body: String = "",
    _ parameters: [(String, String)] = [], headers: [String: String] = [:]
  ) async -> Answer {
    var request = Request(method: method, path: path + ".json")
    request.parameters = parameters.map { .init(name: $0.0, value: $0.1) }
    request.headers = headers
    request.body = Array(body.utf8)
    request.caller = caller
    let response = await service.answer(request)
    let bytes: [UInt8] =
      switch response.body {
      case .bytes(let bytes): bytes
      case .pipe(let pipe): EventReader.all(of: pipe)
      }
    return Answer(response: response, body: String(decoding: bytes, as: UTF8.self))
  }

  func listen(
    _ path: String, _ parameters: [(String, String)] = [], after: String? = nil
  ) async throws -> EventReader {
    var request = Request(method: .get, path: path + ".json")
    request.parameters = parameters.map { .init(name: $0.0, value: $0.1) }
    request.headers = ["accept": "text/event-stream"]
    request.headers["last-event-id"] = after
    request.caller = caller
    let response = await service.answer(request)
    guard case .pipe(let pipe) = response.body else { throw Refused(status: response.status) }
    return EventReader(pipe)
  }

  struct Refused: Error { let status: Int }

  /// Runs the hub while `body` does.
  static func following<R>(
    _ database: Database, _ body: (FirebaseClient) async throws -> R
  ) async throws -> R {
    let client = try FirebaseClient(database)
    let hub = client.hub
    let task = Task { try await hub.run() }
    defer { task.cancel() }
    return try await body(client)
  }

  /// Reads until a stream has what a GET gives now, until it has ended, or for twenty seconds.
  func settle(
    _ reader: EventReader, _ path: String, _ parameters: [(String, String)] = []
  ) async throws -> Bool {
    let wanted = try await ask(.get, path, "", parameters).tree
    let end = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < end {
      try reader.readAvailable()
      if reader.tree == wanted { return true }
      if reader.isEnded { return false }
      try await Task.sleep(for: .milliseconds(5))
    }
    return false
  }

  /// The path of keys in a URL.
  static func path(_ keys: [String]) -> String {
    "/"
      + keys.map { $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }
      .joined(separator: "/")
  }
}

/// Reads the events of a stream, and keeps the tree that they make.
final class EventReader {
  struct Event: Equatable {
    var id: String?
    var name = ""
    var data = ""
  }

  private let pipe: BodyPipe
  private var rest = ""
  private(set) var events: [Event] = []
  private(set) var tree = NaiveTree.null
  private(set) var lastID: String?
  /// True once the server has ended the stream, and everything is read.
  private(set) var isEnded = false

  init(_ pipe: BodyPipe, _ tree: NaiveTree = .null) {
    self.pipe = pipe
    self.tree = tree
  }

  /// Goes on from what another reader has.
  func takeOver(_ other: EventReader) { (tree, lastID) = (other.tree, other.lastID) }

  /// Takes the events that are there.
  func readAvailable() throws {
    let (bytes, last) = EventReader.available(of: pipe)
    rest += String(decoding: bytes, as: UTF8.self)
    isEnded = last != .nothing
    while let end = rest.range(of: "\n\n") {
      try take(String(rest[..<end.lowerBound]))
      rest = String(rest[end.upperBound...])
    }
  }

  private func take(_ text: String) throws {
    var event = Event()
    for line in text.split(separator: "\n") {
      if line.hasPrefix("id: ") { event.id = String(line.dropFirst(4)) }
      if line.hasPrefix("event: ") { event.name = String(line.dropFirst(7)) }
      if line.hasPrefix("data: ") { event.data += String(line.dropFirst(6)) }
    }
    events.append(event)
    lastID = event.id ?? lastID
    let value = try? JSONReader.value(of: event.data, name: "event", isTyped: false)
    guard case .map(let record)? = value, case .string(let path)? = record["path"],
      let data = record["data"]
    else { return }
    let keys = path.split(separator: "/").map(String.init)
    if event.name == "put" {
      tree[keys] = NaiveTree(json: data)
    } else if case .map(let members) = data {
      for member in members.members {
        tree[keys + member.name.split(separator: "/").map(String.init)] =
          NaiveTree(json: member.value)
      }
    }
  }

  func close() { pipe.abandon() }

  /// The numbers of the transactions that the events are of.
  var ids: [UInt64] { events.compactMap { $0.id.flatMap { UInt64($0) } } }

  /// The bytes that a pipe has now, and how it goes on.
  static func available(of pipe: BodyPipe) -> ([UInt8], BodyPipe.Reading) {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let reading = unsafe buffer.withUnsafeMutableBytes { buffer in
        unsafe pipe.read(into: buffer, suspend: {}, wake: {})
      }
      guard case .bytes(let count) = reading else { return (bytes, reading) }
      bytes += buffer[..<count]
    }
  }

  /// The bytes of a body up to its end.
  static func all(of pipe: BodyPipe) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let woken = DispatchSemaphore(value: 0)
      let reading = unsafe buffer.withUnsafeMutableBytes { buffer in
        unsafe pipe.read(into: buffer, suspend: {}, wake: { woken.signal() })
      }
      switch reading {
      case .bytes(let count): bytes += buffer[..<count]
      case .nothing: woken.wait()
      default: return bytes
      }
    }
  }
}
