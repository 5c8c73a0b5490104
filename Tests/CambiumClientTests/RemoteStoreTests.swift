import Cambium
import CambiumConformance
import Foundation
import Testing

@testable import CambiumClient
@testable import CambiumServer

/// A store in front of a server that is called, not asked over a network.
@Suite("A remote store") struct RemoteStoreTests {
  /// Random calls are made over HTTP, and over a bad network.
  static let checks = StoreCheck.all.filter { !$0.name.contains("random") }

  @Test("keeps the promises of every store", arguments: checks)
  func conforms(check: StoreCheck) async throws {
    let server = try LocalServer.conforming()
    defer { server.remove() }
    let store = try RemoteStore(LocalTransport(server: server), .init())
    defer { store.stop() }
    try await check.run(on: store)
    let findings = try server.withDatabase { try $0.verify().findings }
    #expect(findings.isEmpty)
  }
}

extension LocalServer {
  /// A server for the models of the checks.
  static func conforming(
    limits: AnsweredRequests.Limits = AnsweredRequests.Limits()
  ) throws -> LocalServer {
    let server = try LocalServer(limits: limits)
    try server.withDatabase { database in
      for model in StoreCheck.models { try database.register(model) }
    }
    // A server does not know an app's code.
    try server.stop()
    try server.start()
    return server
  }
}
