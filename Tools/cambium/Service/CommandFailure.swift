import Cambium

/// The reason why a request was not answered as it was asked, for HTTP.
package struct CommandFailure: Error, Sendable, Equatable {
  /// The status code.
  package let status: Int
  /// A stable name for programs, in snake case.
  package let code: String
  package let message: String
  package var hint: String?
  /// The place in a text that could not be read, in characters.
  package var position: Int?

  package init(_ status: Int, _ code: String, _ message: String, hint: String? = nil) {
    (self.status, self.code, self.message, self.hint) = (status, code, message, hint)
  }

  /// The failure of a command; nil for one that says no with nothing more to say.
  ///
  /// - Parameters:
  ///   - failure: The command's.
  ///   - isPartial: True if the caller may not see everything.
  ///   - isConditional: True if the request names the transaction that must be the newest.
  init?(_ failure: Failure, isPartial: Bool, isConditional: Bool = false) {
    if failure.message == nil && failure.exit == .negative { return nil }
    guard let text = failure.message else {
      self.init(503, "stopped", "the server stops, or the client has gone")
      return
    }
    // Neighbours of what is asked for are named by hints, and others' records by messages about
    // what a record may hold.
    let tellsOthers = [
      "not_unique", "still_referred", "invalid", "undo_conflict", "merge_conflict",
    ]
    let isSecret = isPartial && tellsOthers.contains(failure.code)
    self.init(
      isConditional && failure.code == "conflict" ? 412 : CommandFailure.status(of: failure),
      failure.code, isSecret ? "what is declared for the records does not allow this" : text)
    hint =
      isPartial && failure.exit != .usage && failure.code != "out_of_scope" ? nil : failure.hint
    position = failure.excerpt.map { excerpt in
      String(decoding: excerpt.text.utf8.prefix(excerpt.offset), as: UTF8.self).count
    }
  }

  private static func status(of failure: Failure) -> Int {
    switch failure.code {
    case "out_of_scope": return 403
    case "compacted": return 410
    case "conflict": return 409
    case "exists", "undo_conflict", "merge_conflict", "not_unique", "still_referred": return 409
    case "transaction_too_large": return 413
    case "no_value": return 404
    case "bad_input": return 400
    case "full": return 507
    case "state_behind", "closed": return 503
    default: break
    }
    switch failure.exit {
    case .usage, .refused: return 400
    case .missing: return 404
    case .busy, .interrupted, .terminated: return 503
    default: return 500
    }
  }

  /// `{"error":{"code":…,"message":…,"hint":…}}`, with a line feed.
  package var json: [UInt8] {
    let error: JSONLine = ["code": code, "message": message, "hint": hint, "position": position]
    return (["error": error] as JSONLine).object + [UInt8(ascii: "\n")]
  }
}
