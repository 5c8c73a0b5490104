import Cambium
import Foundation
import Testing

@testable import CambiumServer

/// The server as an app starts it, with a database in memory.
@Suite("A server", .serialized) struct ServerSafetyTests {
  private func options(_ change: (inout ServerOptions) -> Void = { _ in }) -> ServerOptions {
    var options = ServerOptions()
    options.port = 0
    change(&options)
    return options
  }

  @Test("is not started where strangers could read, write or listen in")
  func refused() throws {
    let database = try Database.inMemory()
    let unsafeOptions = [
      options { $0.host = "0.0.0.0" },
      options { $0.host = "::" },
      options {
        $0.host = "0.0.0.0"
        $0.tokens = "long-enough-token"
      },
      options { $0.tokens = "# nobody" },
      options { $0.tokenPath = "/nowhere/tokens" },
      options { $0.host = "no.such.host.invalid" },
    ]
    for options in unsafeOptions {
      let server = Server(database, options)
      #expect(throws: ServerError.self) { try server.start() }
      #expect(server.url == nil)
    }
  }

  @Test("listens beyond this machine with tokens, if it is told to do so without TLS")
  func insecure() async throws {
    let server = Server(
      try Database.inMemory(),
      options {
        $0.host = "0.0.0.0"
        $0.tokens = "long-enough-token"
        $0.isInsecure = true
      })
    try server.start()
    await server.stop()
  }

  @Test("starts and stops again and again, and a taken port is an error")
  func restart() async throws {
    let database = try Database.inMemory()
    for _ in 0..<5 {
      let server = Server(database, options())
      try server.start()
      let url = try #require(server.url)
      let port = try #require(UInt16(url.split(separator: ":").last.map(String.init) ?? ""))
      let second = Server(database, options { $0.port = port })
      #expect(throws: ServerError.self) { try second.start() }
      await server.stop()
      await server.stop()
      #expect(server.url == nil)
    }
  }
}
