import Cambium
import Synchronization

/// The answers to requests with an `Idempotency-Key`, so that a request which comes again is
/// answered again and not made again.
///
/// They are kept by this process. A request that comes again while the first is still made waits
/// for it no longer than it must: it is refused, and can be sent once more.
final class KeptAnswers: Sendable {
  private struct Kept {
    let request: String
    /// Nil while the first request is made.
    var response: Response?
  }

  private struct State {
    var kept: [String: Kept] = [:]
    /// The keys, the oldest first.
    var order: [String] = []
  }

  /// The most answers; then the oldest go.
  private static let countMax = 10_000
  private static let keyBytesMax = 255
  /// The longest answer that is kept.
  private static let bytesMax = 16 << 10
  private let state = Mutex(State())

  func answered(
    _ request: Request, head: () -> SequenceNumber?, _ body: @Sendable () async -> Response
  ) async -> Response {
    guard let name = request[header: "idempotency-key"] else { return await body() }
    let isVisible = name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    guard isVisible, !name.isEmpty, name.utf8.count <= KeptAnswers.keyBytesMax else {
      return Response(
        400, error: "malformed_key",
        "an Idempotency-Key has 1 to \(KeptAnswers.keyBytesMax) visible ASCII characters")
    }
    let key = "\(request.caller.name ?? "") \(request.caller.scope) \(name)"
    let fingerprint = KeptAnswers.fingerprint(of: request)
    let known: Kept? = state.withLock { state in
      if let kept = state.kept[key] { return kept }
      state.kept[key] = Kept(request: fingerprint)
      state.order.append(key)
      if state.order.count > KeptAnswers.countMax {
        state.kept[state.order.removeFirst()] = nil
      }
      return nil
    }
    if let known { return KeptAnswers.answer(known, fingerprint) }
    let before = head()
    let response = await body()
    let hasChanged = head() != before
    state.withLock { state in
      // An answer that may be another one later is not kept, unless something was changed.
      if response.status >= 500 && !hasChanged {
        state.kept[key] = nil
        state.order.removeAll { $0 == key }
      } else {
        state.kept[key]?.response = KeptAnswers.kept(response)
      }
    }
    return response
  }

  private static func answer(_ kept: Kept, _ fingerprint: String) -> Response {
    if kept.request != fingerprint {
      return Response(
        422, error: "key_reused", "this Idempotency-Key was used for another request",
        hint: "make a new key for each request")
    }
    return kept.response
      ?? Response(
        409, error: "in_progress", "the request with this Idempotency-Key is being made",
        hint: "send it again in a moment")
  }

  /// An answer as it can be given again: one that was sent while it was written is not there any
  /// more.
  private static func kept(_ response: Response) -> Response {
    if case .bytes(let bytes) = response.body, bytes.count <= bytesMax { return response }
    return Response(
      200, json: Array(#"{"v":1,"repeated":true}"#.utf8),
      headers: [("Idempotency-Replayed", "true")])
  }

  private static func fingerprint(of request: Request) -> String {
    let words =
      [request.method.rawValue, request.path] + request.parameters.flatMap { [$0.name, $0.value] }
    let bytes = Array(words.joined(separator: "\u{0}").utf8) + [0] + request.body
    return Blob.digestText(of: bytes)
  }
}
