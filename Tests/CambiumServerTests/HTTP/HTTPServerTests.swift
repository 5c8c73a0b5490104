import Foundation
import Synchronization
import Testing

@testable import CambiumServer

/// The HTTP server with services that the test gives it, asked with bytes that the test writes.
@Suite("The HTTP server", .serialized) struct HTTPServerTests {
  /// Starts a server on a free port, and stops it after `body`.
  private func serve(
    _ limits: ServerLimits = ServerLimits(),
    _ answer: @escaping @Sendable (Request) async -> Response,
    _ body: (Int) throws -> Void
  ) throws {
    let server = HTTPServer(limits, admit: { _ in nil }, answer: answer)
    let address = try #require(SocketAddress.resolve("127.0.0.1", port: 0))
    let port = try server.start(address.bytes, isIPv6: false, nil)
    defer { server.stop() }
    try body(Int(port))
  }

  @Test("hands on the target as it was sent, decoded parameters, headers and the body")
  func request() throws {
    let seen = Mutex<Request?>(nil)
    try serve { request in
      seen.withLock { $0 = request }
      return Response(200, body: .bytes(Array("done".utf8)))
    } _: { port in
      let client = try RawClient(port: port)
      try client.send(
        "PUT /a%20b/%C3%BC.json?x=1%202+3&y HTTP/1.1\r\nHost: h\r\nX-One: 1\r\nx-one: 2\r\n"
          + "Content-Length: 5\r\n\r\nhello")
      let answer = try client.response()
      #expect(answer.status == 200)
      #expect(answer.body == "done")
      #expect(answer.head.contains("X-Content-Type-Options: nosniff"))
    }
    let request = try #require(seen.withLock { $0 })
    #expect(request.method == .put)
    #expect(request.path == "/a%20b/%C3%BC.json")
    #expect(request.segments == ["a b", "ü.json"])
    #expect(request[parameter: "x"] == "1 2 3")
    #expect(request[parameter: "y"] == "")
    #expect(request[header: "x-one"] == "1, 2")
    #expect(String(decoding: request.body, as: UTF8.self) == "hello")
    #expect(request.clientAddress == "127.0.0.1")
  }

  @Test("answers one request after another on a connection, also when they come together")
  func pipelined() throws {
    try serve {
      Response(200, body: .bytes(Array($0.path.utf8)))
    } _: { port in
      let client = try RawClient(port: port)
      try client.send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try client.response().body == "/1")
      #expect(try client.response().body == "/2")
    }
  }

  @Test(
    "answers at once where many requests come together while it is busy", arguments: [128, 256])
  func together(count: Int) throws {
    // The first request holds the thread that moves the bytes until the others have come.
    let isHeld = DispatchSemaphore(value: 0)
    let server = HTTPServer(
      ServerLimits(),
      admit: { request in
        if request.path == "/hold" { isHeld.wait() }
        return nil
      }, answer: { Response(200, body: .bytes(Array($0.path.utf8))) })
    let address = try #require(SocketAddress.resolve("127.0.0.1", port: 0))
    let port = Int(try server.start(address.bytes, isIPv6: false, nil))
    defer { server.stop() }
    let clients = try (0..<count).map { _ in try RawClient(port: port) }
    for client in clients { try client.send("GET /0 HTTP/1.1\r\nHost: h\r\n\r\n") }
    for client in clients { #expect(try client.response().status == 200) }
    let holder = try RawClient(port: port)
    try holder.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n")
    usleep(100_000)
    for client in clients { try client.send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\n") }
    isHeld.signal()
    // A client waits for at most 20 seconds.
    for client in clients { #expect(try client.response().body == "/1") }
    #expect(try holder.response().status == 200)
  }

  private static func status(of text: String, _ port: Int) throws -> Int {
    let client = try RawClient(port: port)
    try client.send(text)
    return try client.response().status
  }

  @Test("refuses what is beyond a limit with the answer that is documented")
  func limits() throws {
    var limits = ServerLimits()
    limits.bodyBytesMax = 1000
    limits.headBytesMax = 8 << 10
    try serve(limits) { _ in
      Response(200)
    } _: { port in
      func status(_ text: String) throws -> Int { try HTTPServerTests.status(of: text, port) }
      let long = String(repeating: "x", count: 1001)
      let veryLong = String(repeating: "x", count: 20_000)
      #expect(try status("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n") == 413)
      #expect(
        try status(
          "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "3E9\r\n\(long)\r\n0\r\n\r\n") == 413)
      let longLine = try status("GET /\(veryLong) HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect([414, 431].contains(longLine))
      #expect(try status("GET / HTTP/1.1\r\nHost: h\r\nX: \(veryLong)\r\n\r\n") == 431)
      #expect(try status("GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n") == 400)
      #expect(try status("GET /%ff HTTP/1.1\r\nHost: h\r\n\r\n") == 400)
      #expect(try status("BREW / HTTP/1.1\r\nHost: h\r\n\r\n") == 501)
      #expect(try status("GET / HTTP/1.1\r\nHost: h\r\n\r\n") == 200)
    }
  }

  @Test("closes a connection whose request does not come whole in time, and no other")
  func slow() throws {
    var limits = ServerLimits()
    limits.requestSeconds = 1
    try serve(limits) { _ in
      try? await Task.sleep(for: .seconds(3))
      return Response(200, body: .bytes(Array("late".utf8)))
    } _: { port in
      let answered = try RawClient(port: port)
      try answered.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      let slow = try RawClient(port: port)
      let begun = ContinuousClock.now
      // A byte at a time is not idle, and yet not in time.
      var isClosed = false
      try slow.send("GET / HTTP/1.1\r\n")
      while !isClosed && ContinuousClock.now - begun < .seconds(15) {
        do { try slow.send("X") } catch { isClosed = true }
        usleep(100_000)
      }
      #expect(isClosed)
      #expect(try answered.response().body == "late")
    }
  }

  @Test("sends a body that is written while it is sent, of any length, in bounded memory")
  func pipe() throws {
    let pieceCount = 500
    try serve { _ in
      let pipe = BodyPipe(capacity: 64 << 10)
      Thread.detachNewThread {
        for number in 0..<pieceCount {
          let line = "\(number) ".padding(toLength: 9999, withPad: "x", startingAt: 0) + "\n"
          do { try pipe.write(Array(line.utf8)) } catch { return }
        }
        pipe.finish()
      }
      return Response(200, body: .pipe(pipe))
    } _: { port in
      let client = try RawClient(port: port)
      try client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
      let text = client.readToEnd()
      #expect(text.hasSuffix("0\r\n\r\n"))
      let numbers = text.matches(of: /(\d+) x+/).compactMap { Int($0.1) }
      #expect(numbers == Array(0..<pieceCount))
    }
  }

  @Test("breaks a body off where its writer gave up, so that nobody takes a part for the whole")
  func broken() throws {
    try serve { _ in
      let pipe = BodyPipe()
      Thread.detachNewThread {
        try? pipe.write(Array("half".utf8))
        usleep(100_000)
        pipe.abandon()
      }
      return Response(200, body: .pipe(pipe))
    } _: { port in
      let client = try RawClient(port: port)
      try client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      let text = client.readToEnd()
      #expect(text.contains("half"))
      #expect(!text.hasSuffix("0\r\n\r\n"))
    }
  }

  @Test("tells a writer that its client has gone, once something is sent to it")
  func gone() throws {
    let isOver = DispatchSemaphore(value: 0)
    try serve { _ in
      let pipe = BodyPipe()
      pipe.onEnd { isOver.signal() }
      Thread.detachNewThread {
        while pipe.offer([UInt8](repeating: 10, count: 100)) { usleep(10_000) }
      }
      return Response(200, body: .pipe(pipe))
    } _: { port in
      var client: RawClient? = try RawClient(port: port)
      try client?.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      _ = try client?.read(until: "\r\n\r\n")
      client = nil
      #expect(isOver.wait(timeout: .now() + 20) == .success)
    }
  }

  @Test("stops with streams open, requests unanswered, and connections idle")
  func stop() throws {
    let server = HTTPServer(ServerLimits(), admit: { _ in nil }) { request in
      if request.path == "/never" { try? await Task.sleep(for: .seconds(60)) }
      let pipe = BodyPipe()
      pipe.offer(Array("begun".utf8))
      return Response(200, body: .pipe(pipe))
    }
    let address = try #require(SocketAddress.resolve("127.0.0.1", port: 0))
    let port = Int(try server.start(address.bytes, isIPv6: false, nil))
    let clients = try (0..<30).map { _ in try RawClient(port: port) }
    for (index, client) in clients.enumerated() where index % 3 > 0 {
      try client.send("GET /\(index % 3 == 1 ? "never" : "stream") HTTP/1.1\r\nHost: h\r\n\r\n")
      if index % 3 == 2 { _ = try client.read(until: "begun") }
    }
    server.stop()
    #expect(server.connections.exchangeCount == 0)
    for (index, client) in clients.enumerated() where index % 3 == 1 {
      #expect(try client.response().status == 503)
    }
    #expect(throws: RawClient.Closed.self) { _ = try RawClient(port: port) }
  }
}
