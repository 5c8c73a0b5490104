import Cambium

/// The settings of a server: the command line of `cambium serve`, understood.
package struct ServeSettings: Sendable {
  /// The database to serve. The command closes it after the server has ended.
  package let database: Database
  package let host: String
  package let port: Int
  /// True if transactions may be made.
  package let canWrite: Bool
  /// The file of tokens.
  package let tokenFile: String?
  /// The token of the environment, where there is one.
  package let token: String?
  /// The files of the certificate and its key, in PEM.
  package let certificate: (file: String, key: String)?
  /// True if other addresses than loopback may be served without TLS.
  package let isInsecure: Bool

  /// True once SIGINT or SIGTERM has asked the process to stop.
  package var isStopped: Bool { Signals.isInterrupted }

  /// Waits until SIGINT or SIGTERM has asked the process to stop.
  package func untilStopped() async throws {
    while !isStopped { try await Task.sleep(for: .milliseconds(50)) }
  }
}

extension Tool {
  /// Serves a database, and returns once ``ServeSettings/isStopped``. It hands lines for people to
  /// the second argument: the address first.
  package typealias Serve =
    @Sendable (ServeSettings, _ log: @escaping @Sendable (String) -> Void) async throws -> Void
}
