import Cambium
import CambiumConformance
import Foundation
import Testing

@testable import CambiumClient
@testable import CambiumServer

/// A store in front of a server that is called, not asked over a network.
@Suite("A remote store") struct RemoteStoreTests {
  static let models = StoreCheck.models

  @Test("keeps the promises of every store", arguments: StoreCheck.all)
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
