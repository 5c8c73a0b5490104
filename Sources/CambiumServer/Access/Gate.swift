import Cambium

/// Decides who a request comes from, and whether a browser was tricked into sending it.
///
/// 1. **Host**: without tokens, a page of a stranger could have its own name lead to this machine
///    (DNS rebinding) and read everything. So a request must name an address that the server is
///    known by.
/// 2. **Origin**: a page of another origin may neither write nor read. A browser says where a
///    request comes from (`Origin`, `Sec-Fetch-Site`); other clients do not, and need not.
/// 3. **Token**: `Authorization: Bearer TOKEN`, or `auth=` or `access_token=` behind the `?`, as
///    Firebase's clients send it. The inspector's own files hold no data and need none.
/// 4. **Writing** must be allowed, for the server and for the token.
struct Gate: Sendable {
  /// The hosts, with and without port, that a request may name; nil for any.
  var hosts: Set<String>?
  /// Nil where there are none: all may do everything that the server allows.
  var tokens: Tokens?
  var allowsWriting: Bool

  /// Sets the request's caller, or refuses it.
  func admit(_ request: inout Request) -> Response? {
    if let refusal = hostRefusal(request) ?? originRefusal(request) { return refusal }
    guard let tokens else {
      request.caller = Caller(scope: .root, canWrite: allowsWriting)
      return nil
    }
    if let token = Gate.token(of: request) {
      guard var caller = tokens.caller(token) else {
        return Gate.refusal(request, 401, "unknown_token", "the token is not known")
      }
      caller.canWrite = caller.canWrite && allowsWriting
      request.caller = caller
      return nil
    }
    if request.isRead, !Gate.isData(request.path) {
      request.caller = .nobody
      return nil
    }
    return Gate.refusal(
      request, 401, "token_needed", "a token is needed",
      hint: "send it as Authorization: Bearer TOKEN, or as ?auth=TOKEN")
  }

  private func hostRefusal(_ request: Request) -> Response? {
    guard let hosts else { return nil }
    let host = (request[header: "host"] ?? "").lowercased()
    if hosts.contains(host) { return nil }
    return Gate.refusal(
      request, 421, "wrong_host", "the server is not known as “\(host)”",
      hint: "use the address that it prints when it starts")
  }

  private func originRefusal(_ request: Request) -> Response? {
    let host = request[header: "host"] ?? ""
    if let origin = request[header: "origin"], origin != "http://\(host)",
      origin != "https://\(host)"
    {
      return Gate.refusal(
        request, 403, "wrong_origin", "pages of “\(origin)” may not use this server")
    }
    let site = request[header: "sec-fetch-site"] ?? "none"
    if site == "same-origin" || site == "none" { return nil }
    // A link from elsewhere may open the inspector, and nothing more.
    let opens = request.method == .get && !Gate.isData(request.path)
    if opens, request[header: "sec-fetch-mode"] == "navigate" { return nil }
    return Gate.refusal(request, 403, "wrong_site", "pages of other sites may not use this server")
  }

  /// True for a path that answers with data.
  static func isData(_ path: String) -> Bool { path.hasPrefix("/v1") || path.hasSuffix(".json") }

  static func token(of request: Request) -> String? {
    if let header = request[header: "authorization"] {
      let words = header.split(separator: " ", maxSplits: 1)
      if words.count == 2, words[0].lowercased() == "bearer" { return String(words[1]) }
    }
    return request[parameter: "auth"] ?? request[parameter: "access_token"]
  }

  /// A refusal in the form that the clients of the path expect.
  private static func refusal(
    _ request: Request, _ status: Int, _ code: String, _ message: String, hint: String? = nil
  ) -> Response {
    if request.path.hasSuffix(".json"), !request.path.hasPrefix("/v1/") {
      let error = Value.map(["error": .string(message)])
      return Response(status, json: Array(JSONWriter.text(error).utf8))
    }
    let headers = status == 401 ? [(name: "WWW-Authenticate", value: "Bearer")] : []
    return Response(status, error: code, message, hint: hint, headers: headers)
  }
}
