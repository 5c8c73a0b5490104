import Cambium
import CambiumCommands
import Synchronization

/// The answer to one request, as a command writes it.
///
///     command ──write──▶ kept, up to 128 KiB ──end──▶ an answer with its length
///                          └── more ──▶ an answer whose body is a pipe, for which it waits
///
/// So an error has its status as long as little was written, and a long list needs no memory.
final class CommandAnswering: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Response, Never>?
    var headers: [(name: String, value: String)] = []
    var isObject = false
    var kept: [UInt8] = []
    var pipe: BodyPipe?
  }

  /// As much is kept before the answer begins.
  private static let keptMax = 128 << 10
  /// A command that has written nothing to send after this time is given up.
  private static let patience = Duration.seconds(60)

  private let caller: Caller
  private let deadline = ContinuousClock.now + CommandAnswering.patience
  private let state = Mutex(State())

  init(_ caller: Caller) { self.caller = caller }

  /// The answer, once `continuation` gets it.
  func begin(_ continuation: CheckedContinuation<Response, Never>) {
    state.withLock { $0.continuation = continuation }
  }

  /// Takes what is known before the command runs.
  func begin(_ answer: CommandAnswer) {
    state.withLock { state in
      state.isObject = answer.mediaType == "application/json"
      state.headers = answer.headers
    }
  }

  /// True once the command may stop: nobody reads, or it has taken too long.
  var isAbandoned: Bool {
    let pipe = state.withLock { $0.pipe }
    return caller.withdrawal.isDone || pipe?.isAbandoned ?? (ContinuousClock.now > deadline)
  }

  /// Takes a piece of the body, and waits for the client where much is on its way.
  func write(_ piece: [UInt8]) throws {
    let (pipe, rest) = state.withLock { state -> (BodyPipe?, [UInt8]) in
      if let pipe = state.pipe { return (pipe, piece) }
      state.kept += piece
      if state.kept.count <= CommandAnswering.keptMax { return (nil, []) }
      let pipe = BodyPipe()
      state.pipe = pipe
      defer { state.kept = [] }
      state.continuation?.resume(
        returning: Response(200, headers: state.headers, body: .pipe(pipe)))
      state.continuation = nil
      return (pipe, state.kept)
    }
    try pipe?.write(rest)
  }

  /// Ends the answer; `next` makes the address of what follows a page.
  func end(_ ending: CommandEnding, next: ([(name: String, value: String)]) -> String) {
    var problem: CommandFailure?
    var last: [UInt8] = []
    switch ending {
    case .done(let parameters?):
      let line: ValueMap = ["v": 1, "next": .string(next(parameters))]
      last = Array((JSONWriter.text(.map(line)) + "\n").utf8)
    case .done(nil): break
    case .nothing:
      let isEmpty = state.withLock { $0.isObject && $0.kept.isEmpty && $0.pipe == nil }
      if isEmpty { last = Array(#"{"v":1,"found":false}"#.utf8) + [UInt8(ascii: "\n")] }
    case .failed(let failure):
      problem = failure
      last = failure.json
    }
    let pipe = state.withLock { state -> BodyPipe? in
      if let pipe = state.pipe { return pipe }
      let body = state.kept + last
      let response =
        problem.map { Response($0, tooSlow: ContinuousClock.now > deadline) }
        ?? Response(200, headers: state.headers, body: .bytes(body))
      state.continuation?.resume(returning: response)
      state.continuation = nil
      return nil
    }
    guard let pipe else { return }
    try? pipe.write(last)
    pipe.finish(isBroken: problem != nil)
  }
}

extension CommandAnswer {
  var headers: [(name: String, value: String)] {
    let headers = [
      (name: "Content-Type", value: mediaType), ("Cambium-Sequence", "\(sequence)"),
      ("Cache-Control", "no-store"),
    ]
    let isFile = mediaType == "application/octet-stream"
    return isFile ? headers + [("Content-Disposition", "attachment")] : headers
  }
}

extension Response {
  /// A command's failure.
  init(_ failure: CommandFailure, tooSlow: Bool = false) {
    if tooSlow && failure.code == "stopped" {
      self.init(
        503, error: "too_slow", "the answer took longer than a minute",
        hint: "ask for less, or with an index", headers: [("Retry-After", "60")])
      return
    }
    var headers: [(name: String, value: String)] = [("Cache-Control", "no-store")]
    if failure.status == 503 { headers.append(("Retry-After", "5")) }
    self.init(failure.status, json: failure.json, headers: headers)
  }
}
