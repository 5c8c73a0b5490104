/// Serves the inspector: one page, from a fixed table of files that are in the program.
///
/// No path reaches a file system, so that nothing else can be asked for. Browsers keep the files,
/// and ask each time if they are still the same: a newer program never runs with an older page.
struct InspectorService: Service {
  /// Lets a browser load the page's own files, and this server's answers, and nothing else.
  static let contentSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    + "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

  /// True for the path of one of the files.
  static func serves(_ path: String) -> Bool { InspectorFile.all[path] != nil }

  func answer(_ request: Request) async -> Response {
    guard let file = InspectorFile.all[request.path] else {
      return Response(
        404, error: "not_found", "there is no page at this address", hint: "the inspector is at /")
    }
    guard request.method == .get || request.method == .head else {
      return Response(
        405, error: "wrong_method", "a page can only be read",
        headers: [(name: "Allow", value: "GET, HEAD")])
    }
    if isHeld(request[header: "if-none-match"], file) {
      return Response(304, headers: Self.headers(file))
    }
    var headers = Self.headers(file)
    headers.append((name: "Content-Type", value: file.contentType))
    return Response(200, headers: headers, body: .bytes(file.bytes))
  }

  /// True if the browser has the file as it is.
  private func isHeld(_ tags: String?, _ file: InspectorFile) -> Bool {
    guard let tags else { return false }
    return tags.split(separator: ",").contains { part in
      let tag = part.drop { $0 == " " }
      return tag == "*" || tag == file.tag || tag == "W/\(file.tag)"
    }
  }

  private static func headers(_ file: InspectorFile) -> [(name: String, value: String)] {
    [
      ("ETag", file.tag), ("Cache-Control", "no-cache"),
      ("Content-Security-Policy", contentSecurityPolicy),
      ("Cross-Origin-Opener-Policy", "same-origin"),
    ]
  }
}
