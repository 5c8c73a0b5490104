import CMicrohttpd
import Foundation
import Synchronization

/// One request and its answer, on libmicrohttpd's side.
///
///     target ─▶ head ─▶ body … ─▶ suspended, while a worker answers ─▶ answered ─▶ completed
///
/// libmicrohttpd calls from its own thread, for one step at a time; `answer` comes from a worker.
/// `@unchecked`: what both touch is behind the lock, the rest is the thread's of libmicrohttpd.
@safe final class Exchange: @unchecked Sendable {
  private enum State {
    case reading
    case suspended
    case answered(Response)
    case over
  }

  private enum Head {
    case unread, refused
    case read(Request)
  }

  let connection: OpaquePointer
  /// The connection's number among the open ones.
  var number: Int { unsafe Int(bitPattern: connection) }
  private let target: String
  private var head = Head.unread
  private var body: [UInt8] = []
  /// The bytes of a body that is too long; nil for one that is not.
  private var discarded: Int?
  /// True where the body was discarded since all of them are too much.
  private var isBusy = false
  let loop: EventLoop
  private let budget: BodyBudget
  /// The bytes of the body that the budget has given.
  private var budgeted = 0
  private let state = Mutex(State.reading)
  private var pipe: BodyPipe?

  init(
    _ connection: OpaquePointer, target: String, _ loop: EventLoop, _ budget: BodyBudget
  ) {
    self.loop = loop
    self.budget = budget
    unsafe self.connection = connection
    self.target = target
  }

  /// True once the head is read.
  var hasHead: Bool { if case .unread = head { false } else { true } }

  /// Reads the head, and asks who it is.
  ///
  /// - Parameters:
  ///   - method: The method's name.
  ///   - bodyBytesMax: The most bytes of a body.
  ///   - admit: Checks the request; see ``HTTPServer/Admission``.
  /// - Returns: A refusal, which is sent before a body is read; nil where the request may go on.
  func readHead(_ method: String, bodyBytesMax: Int, _ admit: HTTPServer.Admission) -> Response? {
    let refusal = refusal(method, bodyBytesMax: bodyBytesMax, admit)
    if refusal != nil { head = .refused }
    return refusal
  }

  private func refusal(
    _ method: String, bodyBytesMax: Int, _ admit: HTTPServer.Admission
  ) -> Response? {
    if ["TRACE", "CONNECT", "QUERY"].contains(method) {
      return Response(
        405, error: "method_not_allowed", "\(method) is not allowed here",
        headers: [("Allow", "GET, HEAD, PUT, PATCH, POST, DELETE, OPTIONS")])
    }
    guard let method = Request.Method(rawValue: method) else {
      return Response(501, error: "not_implemented", "the method \(method) is not known")
    }
    guard var request = Request(method, target: target) else {
      return Response(400, error: "bad_target", "the address is not percent-encoded UTF-8")
    }
    guard let headers = headers() else {
      return Response(400, error: "bad_header", "a header is not UTF-8")
    }
    request.headers = headers
    request.clientAddress = clientAddress
    if let length = headers["content-length"].flatMap(Int.init), length > bodyBytesMax {
      return .tooLong(bodyBytesMax)
    }
    if let refusal = admit(&request) { return refusal }
    head = .read(request)
    return nil
  }

  /// Takes a piece of the body. Too long a one is read to its end, since only then can the client
  /// be answered, but not kept; false where it does not end.
  func take(_ piece: UnsafeRawBufferPointer, bodyBytesMax: Int) -> Bool {
    if let discarded {
      self.discarded = discarded + piece.count
      return discarded < 4 * bodyBytesMax
    }
    guard case .read(let request) = head else { return false }
    // A body without a meaning takes no memory.
    if request.isRead { return true }
    let isTooLong = body.count + piece.count > bodyBytesMax
    if isTooLong || !budget.take(piece.count) {
      isBusy = !isTooLong
      discarded = body.count + piece.count
      body = []
    } else {
      budgeted += piece.count
      unsafe body.append(contentsOf: piece)
    }
    return true
  }

  /// Has the request answered by a worker, and suspends the connection until then.
  func begin(_ workers: Workers, _ answer: @escaping @Sendable (Request) async -> Response) {
    guard case .read(var request) = head else { return }
    request.body = body
    body = []
    // Suspended before anybody can answer, who would wake it.
    unsafe MHD_suspend_connection(connection)
    state.withLock { $0 = .suspended }
    Task(executorPreference: workers) { [self, request] in respond(await answer(request)) }
  }

  /// The answer, once; nil while there is none.
  func takeResponse(bodyBytesMax: Int) -> Response? {
    if discarded != nil { return isBusy ? .busy("too many bodies") : .tooLong(bodyBytesMax) }
    return state.withLock { state in
      guard case .answered(let response) = state else { return nil }
      state = .over
      if case .pipe(let pipe) = response.body { self.pipe = pipe }
      return response
    }
  }

  /// Answers, from any thread. Only the first answer counts.
  func respond(_ response: Response) {
    let isFirst = state.withLock { state in
      guard case .suspended = state else { return false }
      state = .answered(response)
      return true
    }
    if isFirst { return unsafe loop.resume(connection) }
    if case .pipe(let pipe) = response.body { pipe.abandon() }
  }

  /// Gives up an answer that is being sent.
  func breakOff() { state.withLock { _ in pipe }?.abandon() }

  /// Ends the exchange, be the answer sent or not.
  func complete() {
    let unsent: Response? = state.withLock { state in
      defer { state = .over }
      if case .answered(let response) = state { return response }
      return nil
    }
    if case .pipe(let pipe)? = unsent?.body { pipe.abandon() }
    pipe?.abandon()
    budget.giveBack(budgeted)
    budgeted = 0
  }
}

/// The head, as libmicrohttpd has it.
extension Exchange {
  /// The headers by their names in lower case, or nil where one is not UTF-8.
  private func headers() -> [String: String]? {
    var headers = Headers()
    return unsafe withUnsafeMutablePointer(to: &headers) { headers in
      unsafe _ = MHD_get_connection_values(
        connection, .HEADER_KIND, { unsafe Headers.add($0, $2, $3) }, headers)
      return unsafe headers.pointee.isWhole ? headers.pointee.values : nil
    }
  }

  /// The address of the client without the port, in numbers.
  private var clientAddress: String { unsafe SocketAddress.text(http_client(connection)) }
}

/// The headers that libmicrohttpd hands over one by one.
private struct Headers {
  var values: [String: String] = [:]
  var isWhole = true

  static func add(
    _ owner: UnsafeMutableRawPointer?, _ name: UnsafePointer<CChar>?,
    _ value: UnsafePointer<CChar>?
  ) -> MHD_Result {
    guard let owner = unsafe owner?.assumingMemoryBound(to: Headers.self),
      let name = unsafe name
    else { return .NO }
    let value = unsafe value.map { unsafe String(validatingCString: $0) } ?? ""
    guard let name = unsafe String(validatingCString: name)?.lowercased(), let value else {
      unsafe owner.pointee.isWhole = false
      return .NO
    }
    let earlier = unsafe owner.pointee.values[name]
    unsafe owner.pointee.values[name] = earlier.map { $0 + ", " + value } ?? value
    return .YES
  }
}
