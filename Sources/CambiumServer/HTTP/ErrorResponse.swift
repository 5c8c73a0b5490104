// Refusals in JSON, in the form that the interface of the server's own has for them.

import Cambium

extension Response {
  /// A refusal in JSON: `{"error":{"code":…,"message":…,"hint":…}}`.
  init(
    _ status: Int, error code: String, _ message: String, hint: String? = nil,
    headers: [(name: String, value: String)] = []
  ) {
    var members: [(name: String, value: Value)] = [
      ("code", .string(code)), ("message", .string(message)),
    ]
    if let hint { members.append(("hint", .string(hint))) }
    let error = Value.map(["error": .map(ValueMap(members))])
    self.init(status, json: Array(JSONWriter.text(error).utf8), headers: headers)
  }

  /// The answer where there is no room now.
  static func busy(_ message: String) -> Response {
    Response(503, error: "busy", message, hint: "try again", headers: [("Retry-After", "5")])
  }

  /// The answer to what comes while the server stops.
  static var stopping: Response {
    Response(503, error: "stopping", "the server stops", headers: [("Connection", "close")])
  }

  static func tooLong(_ bytesMax: Int) -> Response {
    Response(
      413, error: "too_long", "a request's body may have at most \(bytesMax) bytes",
      hint: "send it in several requests")
  }
}
