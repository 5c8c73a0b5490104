import Foundation
import Simulation
import Testing

@testable import CambiumServer

/// Requests that no client would send: random bytes, and good requests that were cut, doubled and
/// changed. The server answers or closes, and then still serves; it neither crashes nor hangs.
///
/// Would not see: an answer that is wrong. Those of good requests are other suites' work.
@Suite("The HTTP server, under hostile requests,", .serialized) struct HostileRequestTests {
  private static let good = [
    "GET /a%20b.json?x=1&y=%22k%22 HTTP/1.1\r\nHost: h\r\nAccept: */*\r\n\r\n",
    "PUT /a.json HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
    "POST /v1/apply HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      + "5\r\nhello\r\n0\r\n\r\n",
    "PATCH / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
  ]

  /// The second seed has a request whose line takes so much memory that libmicrohttpd has none for
  /// its parameters, and never completes it.
  @Test("answers or closes, and serves on", arguments: [UInt64.random(in: 0...9_999), 8206])
  func random(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var limits = ServerLimits()
    limits.bodyBytesMax = 10_000
    limits.requestSeconds = 2
    let server = HTTPServer(limits, admit: { _ in nil }) { request in
      Response(200, body: .bytes(request.body))
    }
    let address = try #require(SocketAddress.resolve("127.0.0.1", port: 0))
    let port = Int(try server.start(address.bytes, isIPv6: false, nil))
    // Stopping waits for exchanges, for ever if one of them is never completed.
    defer { if server.connections.exchangeCount == 0 { server.stop() } }
    for round in 0..<300 {
      let client = try RawClient(port: port, secondsMax: 5)
      let bytes = HostileRequestTests.bytes(&random)
      try? client.send(bytes)
      if round % 10 == 0 { try check(port, seed) }
      // Half of them stay open with half a request, and are closed by the server.
      if round % 50 == 0 { _ = client.readToEnd() }
    }
    try check(port, seed)
    let deadline = ContinuousClock.now + .seconds(10)
    while server.connections.exchangeCount > 0 && ContinuousClock.now < deadline { usleep(2000) }
    #expect(server.connections.exchangeCount == 0, "seed \(seed)")
  }

  /// A good request is answered well.
  private func check(_ port: Int, _ seed: UInt64) throws {
    let client = try RawClient(port: port)
    try client.send("PUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\ngood")
    let answer = try client.response()
    #expect(answer.status == 200 && answer.body == "good", "seed \(seed)")
  }

  /// Bytes to send.
  private static func bytes(_ random: inout SeededGenerator) -> [UInt8] {
    if random.next() % 5 == 0 {
      return (0..<random.next() % 3000).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
    var bytes = Array(good[Int(random.next() % UInt64(good.count))].utf8)
    for _ in 0...random.next() % 6 {
      let place = Int(random.next() % UInt64(bytes.count + 1))
      switch random.next() % 5 {
      case 0: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
      case 1: bytes.removeSubrange(place..<min(bytes.count, place + Int(random.next() % 9)))
      case 2: bytes.insert(contentsOf: bytes.prefix(place), at: place)
      case 3:
        bytes.insert(
          contentsOf: [UInt8](repeating: 97, count: Int(random.next() % 40_000)), at: place)
      default: if place < bytes.count { bytes[place] ^= 1 << UInt8(random.next() % 8) }
      }
      if bytes.isEmpty { bytes = [13] }
    }
    return bytes
  }
}
