import Cambium
import FoundationEssentials

/// `cambium serve`: a database for browsers, and for programs that speak HTTP.
enum ServeCommand {
  static let port = Option(
    "port", "N", .number(0...65_535), "the port; 0 takes one that is free", fallback: "8787")
  static let host = Option("host", "NAME", .text, "the address to listen at", fallback: "127.0.0.1")
  static let write = Option(flag: "write", "let those who may write make transactions")
  static let tokenFile = Option("token-file", "FILE", .file, "the tokens of those who may ask")
  static let certificate = Option("cert", "FILE", .file, "the certificate, for TLS")
  static let key = Option("key", "FILE", .file, "the certificate's key")
  static let insecure = Option(
    flag: "insecure", "listen at other addresses than this machine's own without TLS")

  static let command = Command(
    name: "serve", group: .look,
    summary: "serves a database over HTTP, with an inspector for browsers",
    discussion: """
      Prints the address to open. A browser finds the inspector there; programs find the interface
      under /v1/, which answers as the commands do with --json, and that of the Firebase Realtime
      Database under any path that ends with .json. Other processes may write meanwhile. Runs until
      Ctrl-C, and ends the open streams before it leaves.

      Nothing can be changed without --write. Whoever else uses this machine can read what is
      served at its own address. At other addresses each request needs a token, and the server a
      certificate. The tokens are in a file, or one is in $CAMBIUM_TOKEN; never in the arguments,
      which other users can see.
      """,
    operands: [.database],
    options: [port, host, write, tokenFile, certificate, key, insecure, .wait, .quiet, .color],
    examples: [
      "cambium serve air.cambium": "prints the address, and serves",
      "cambium serve air.cambium --write --token-file tokens": "for those who have a token",
    ],
    stopsSafely: true, run: run)

  static func run(_ call: Call) async throws {
    guard let serve = call.serve else { throw Failure.refused("nothing can be served from here") }
    let settings = try settings(call)
    let isQuiet = call.isQuiet
    try await serve(settings) { line in
      if !isQuiet { System.complain(Terminal.escaped(line) + "\n") }
    }
  }

  private static func settings(_ call: Call) throws -> ServeSettings {
    let files = (call[certificate]?.text, call[key]?.text)
    if (files.0 == nil) != (files.1 == nil) {
      throw Failure.usage("a certificate and its key go together", hint: "give --cert and --key")
    }
    let certificate = files.0.flatMap { file in files.1.map { (file: file, key: $0) } }
    let environment = Surroundings.current().environment
    return ServeSettings(
      database: try OpenDatabase.forReading(call), host: call.value(host).text,
      port: call.value(port).number, canWrite: call.has(write),
      tokenFile: call[tokenFile]?.text, token: environment["CAMBIUM_TOKEN"],
      certificate: certificate, isInsecure: call.has(insecure))
  }
}
