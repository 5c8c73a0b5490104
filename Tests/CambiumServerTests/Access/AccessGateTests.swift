import Cambium
import Synchronization
import Testing

@testable import CambiumServer

/// The gate decides by the head of a request alone; each rule is tried with requests that must pass
/// and such that must not.
@Suite("The gate of a server") struct AccessGateTests {
  private static let file = """
    # who may do what
    reader-0123456789 read path=flights name=dashboard
    writer-0123456789\twrite

    plain-01234567890
    """

  private func request(
    _ method: Request.Method = .get, _ target: String = "/flights.json",
    _ headers: [String: String] = [:]
  ) throws -> Request {
    var request = try #require(Request(method, target: target))
    request.headers = ["host": "127.0.0.1:8787"].merging(headers) { _, own in own }
    return request
  }

  private func status(_ gate: Gate, _ request: Request) -> Int {
    var request = request
    return gate.admit(&request)?.status ?? 200
  }

  private let localGate = Gate(
    hosts: ["127.0.0.1:8787", "localhost:8787"], tokens: nil, allowsWriting: false)

  @Test("lets everybody on this machine do what the server allows, where there are no tokens")
  func local() throws {
    for header in [[:], ["authorization": "Bearer owner"]] as [[String: String]] {
      var request = try request(.get, "/a.json", header)
      #expect(localGate.admit(&request) == nil)
      #expect(request.caller.covers(.root))
      #expect(!request.caller.canWrite)
    }
  }

  @Test("refuses a host that the server is not known by, whatever is asked for")
  func host() throws {
    for path in ["/", "/v1/log", "/a.json"] {
      #expect(status(localGate, try request(.get, path, ["host": "evil.example"])) == 421)
      #expect(status(localGate, try request(.get, path, ["host": ""])) == 421)
      #expect(status(localGate, try request(.get, path, ["host": "LocalHost:8787"])) == 200)
    }
  }

  @Test("refuses a browser's request from another origin, and lets a link open the inspector")
  func origin() throws {
    let evil = ["origin": "http://evil.example", "sec-fetch-site": "cross-site"]
    let own = ["origin": "http://127.0.0.1:8787", "sec-fetch-site": "same-origin"]
    for method in [Request.Method.get, .put, .post, .patch, .delete, .options] {
      #expect(status(localGate, try request(method, "/a.json", evil)) == 403)
      #expect(status(localGate, try request(method, "/a.json", own)) == 200)
    }
    #expect(status(localGate, try request(.put, "/a.json", ["origin": "null"])) == 403)
    let site = ["sec-fetch-site": "cross-site"]
    #expect(status(localGate, try request(.get, "/v1/log", site)) == 403)
    #expect(status(localGate, try request(.get, "/a.json", ["sec-fetch-site": "same-site"])) == 403)
    let link = ["sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"]
    #expect(status(localGate, try request(.get, "/", link)) == 200)
    #expect(status(localGate, try request(.get, "/a.json", link)) == 403)
    #expect(status(localGate, try request(.post, "/", link)) == 403)
  }

  @Test("knows the holder of a token, wherever the token stands")
  func tokens() throws {
    let gate = Gate(hosts: nil, tokens: try Tokens(Self.file), allowsWriting: true)
    let ways: [(String, [String: String])] = [
      ("/flights/1.json?auth=reader-0123456789", [:]),
      ("/flights/1.json?access_token=reader-0123456789", [:]),
      ("/flights/1.json", ["authorization": "Bearer reader-0123456789"]),
      ("/flights/1.json", ["authorization": "bearer reader-0123456789"]),
    ]
    for (target, headers) in ways {
      var request = try request(.get, target, headers)
      #expect(gate.admit(&request) == nil)
      #expect(request.caller.name == "dashboard")
      #expect(request.caller.covers("flights/1"))
      #expect(!request.caller.covers("flightsAndMore"))
      #expect(!request.caller.covers(.root))
      #expect(!request.caller.canWrite)
    }
    var writer = try request(.put, "/a.json?auth=writer-0123456789")
    #expect(gate.admit(&writer) == nil)
    #expect(writer.caller.canWrite)
    let readOnly = Gate(hosts: nil, tokens: try Tokens(Self.file), allowsWriting: false)
    #expect(readOnly.admit(&writer) == nil)
    #expect(!writer.caller.canWrite)
  }

  @Test("answers 401 without a known token, in the form of the path, and gives the page to all")
  func unknown() throws {
    let gate = Gate(hosts: nil, tokens: try Tokens(Self.file), allowsWriting: true)
    for target in [
      "/a.json", "/a.json?auth=reader-012345678", "/v1/log", "/v1/openapi.json", "/v1",
    ] {
      #expect(status(gate, try request(.get, target)) == 401)
    }
    #expect(
      status(gate, try request(.get, "/", ["authorization": "Bearer nobody-1234567890"])) == 401)
    var page = try request(.get, "/")
    #expect(gate.admit(&page) == nil)
    #expect(!page.caller.covers("flights") && !page.caller.canWrite)
    var firebase = try request(.get, "/a.json")
    let refusal = try #require(gate.admit(&firebase))
    guard case .bytes(let bytes) = refusal.body else { throw Expected() }
    #expect(String(decoding: bytes, as: UTF8.self) == #"{"error":"a token is needed"}"#)
  }

  @Test("refuses a file of tokens that it does not understand, and says the line")
  func badFile() throws {
    for (text, line) in [
      ("short", 1), ("# fine\n\nlong-enough-token wriet", 3), ("long-enough-token path=//", 1),
    ] {
      let error = #expect(throws: ServerError.self) { _ = try Tokens(text) }
      #expect("\(try #require(error))".contains("line \(line)"))
    }
    #expect(try Tokens("\n# nobody\n").isEmpty)
  }

  @Test("withdraws a token that has left the file, or may do something else now, and no other")
  func withdrawn() throws {
    let tokens = try Tokens(Self.file)
    let callers = try ["reader", "writer", "plain"].map { name in
      try #require(
        tokens.caller(name + "-0123456789") ?? tokens.caller(name + "-01234567890"))
    }
    let told = Mutex(0)
    _ = callers[0].withdrawal.onDone { _ in told.withLock { $0 += 1 } }
    try tokens.replace(
      Self.file.replacing("path=flights", with: "path=planes").replacing("plain-", with: "other-"))
    #expect(callers.map(\.withdrawal.isDone) == [true, false, true])
    #expect(told.withLock { $0 } == 1)
    #expect(tokens.caller("reader-0123456789")?.scope == "planes")
    #expect(tokens.caller("plain-01234567890") == nil)
    #expect(throws: ServerError.self) { try tokens.replace("bad") }
    #expect(tokens.caller("writer-0123456789") != nil)
  }

  private struct Expected: Error {}
}
