import CambiumCommands
import CambiumServer

/// The program `cambium`: the commands, and the server that one of them starts.
@main
enum Main {
  static func main() async { await Tool.main(serve: serve) }

  /// Serves until a signal asks the process to stop.
  private static func serve(
    _ settings: ServeSettings, _ log: @escaping @Sendable (String) -> Void
  ) async throws {
    let server = Server(settings.database, options(settings, log))
    try server.start()
    if let url = server.url { log("serving \(url) — Ctrl-C ends it") }
    try await settings.untilStopped()
    await server.stop()
  }

  private static func options(
    _ settings: ServeSettings, _ log: @escaping @Sendable (String) -> Void
  ) -> ServerOptions {
    var options = ServerOptions()
    options.host = settings.host
    options.port = UInt16(settings.port)
    options.allowsWriting = settings.canWrite
    options.tokenPath = settings.tokenFile
    options.tokens = settings.token
    options.tls = settings.certificate.map {
      ServerOptions.TLS(certificatePath: $0.file, keyPath: $0.key)
    }
    options.isInsecure = settings.isInsecure
    options.log = log
    return options
  }
}
