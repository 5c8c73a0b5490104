import CMicrohttpd
import Foundation
import Synchronization

/// Serves HTTP/1.1 with libmicrohttpd: one thread moves the bytes, workers answer.
///
///     socket ─▶ the thread of EventLoop ─▶ Exchange ─▶ admit ─▶ worker ─▶ Exchange ─▶ socket
///
/// A connection is suspended while its request is answered and while its body's pipe is empty, so
/// that ten thousand idle streams cost no time. `@unchecked`: what is not behind a lock is set by
/// `start` before the first request, and never again.
@safe final class HTTPServer: @unchecked Sendable {
  /// Checks a request whose head has come, and says who it is: it sets the caller, or refuses.
  typealias Admission = @Sendable (inout Request) -> Response?

  /// A certificate and its key, as PEM.
  struct Identity: Sendable {
    let certificate: String
    let key: String
  }

  let limits: ServerLimits
  let connections: Connections
  let admit: Admission
  let workers = Workers()
  let budget = BodyBudget(bytesMax: 256 << 20)
  let answer: @Sendable (Request) async -> Response
  private var daemon: OpaquePointer?
  private let loop = EventLoop()
  private var texts: [UnsafeMutablePointer<CChar>] = unsafe []
  private let isStopping = Mutex(false)

  init(
    _ limits: ServerLimits, admit: @escaping Admission,
    answer: @escaping @Sendable (Request) async -> Response
  ) {
    self.limits = limits
    self.admit = admit
    self.answer = answer
    connections = Connections(limits)
  }

  deinit { unsafe texts.forEach { unsafe free($0) } }

  /// Begins to listen.
  ///
  /// - Parameters:
  ///   - address: The bytes of a `sockaddr`.
  ///   - isIPv6: True if it is one of IPv6.
  ///   - identity: For TLS; nil for none.
  /// - Returns: The port, which the system chooses where the address has 0.
  /// - Throws: ``ServerError/cannotListen(_:)``.
  func start(
    _ address: [UInt8], isIPv6: Bool, _ identity: Identity?
  ) throws(ServerError) -> UInt16 {
    guard http_has_epoll() else {
      throw .cannotListen("it waits by epoll, which this system does not have; serve from Linux")
    }
    var flags =
      MHD_USE_EPOLL.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
      | MHD_USE_SUPPRESS_DATE_NO_CLOCK.rawValue
    if isIPv6 { flags |= MHD_USE_IPv6.rawValue }
    if identity != nil { flags |= MHD_USE_TLS.rawValue }
    SocketAddress.allowDescriptors(limits.connectionsMax + 256)
    let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe daemon = unsafe address.withUnsafeBytes { address in
      var options = unsafe self.options(owner, identity, address)
      return unsafe http_start(flags, 0, Self.handler, owner, &options)
    }
    guard let daemon = unsafe daemon else {
      throw .cannotListen(String(unsafe String(cString: strerror(errno))))
    }
    guard unsafe loop.begin(daemon) else {
      unsafe MHD_stop_daemon(daemon)
      unsafe self.daemon = nil
      throw .cannotListen("too many files are open")
    }
    connections.watch()
    return unsafe http_port(daemon)
  }

  private func options(
    _ owner: UnsafeMutableRawPointer, _ identity: Identity?, _ address: UnsafeRawBufferPointer
  ) -> [MHD_OptionItem] {
    func item(_ option: MHD_OPTION, _ value: Int, _ pointer: UnsafeMutableRawPointer? = nil)
      -> MHD_OptionItem
    { unsafe MHD_OptionItem(option: option, value: value, ptr_value: pointer) }
    var options = unsafe [
      item(.CONNECTION_LIMIT, limits.connectionsMax + 64),
      item(.CONNECTION_MEMORY_LIMIT, limits.headBytesMax),
      item(.CONNECTION_TIMEOUT, limits.requestSeconds),
      item(.LISTEN_BACKLOG_SIZE, 1024),
      item(.SOCK_ADDR, 0, UnsafeMutableRawPointer(mutating: address.baseAddress)),
      item(.URI_LOG_CALLBACK, unsafeBitCast(Self.began, to: Int.self), owner),
      item(.NOTIFY_COMPLETED, unsafeBitCast(Self.completed, to: Int.self), owner),
      item(.NOTIFY_CONNECTION, unsafeBitCast(Self.connected, to: Int.self), owner),
    ]
    if let identity {
      unsafe options.append(item(.HTTPS_MEM_CERT, 0, keep(identity.certificate)))
      unsafe options.append(item(.HTTPS_MEM_KEY, 0, keep(identity.key)))
    }
    unsafe options.append(item(.END, 0))
    return unsafe options
  }

  /// A text that lives as long as the server.
  private func keep(_ text: String) -> UnsafeMutableRawPointer? {
    guard let copy = unsafe strdup(text) else { return nil }
    unsafe texts.append(copy)
    return UnsafeMutableRawPointer(copy)
  }

  /// Takes no more connections, waits for at most five seconds until the requests that have come
  /// are answered, and closes. Streams must have been ended before.
  func stop() {
    let wasStopping = isStopping.withLock { isStopping in
      defer { isStopping = true }
      return isStopping
    }
    guard !wasStopping, let daemon = unsafe daemon else { return }
    let listener = unsafe MHD_quiesce_daemon(daemon)
    // It stays open until the daemon's thread has ended: that may be about to take it out of what
    // it waits for, and ends the process where that fails.
    if listener >= 0 { shutdown(listener, Int32(SHUT_RD)) }
    let deadline = ContinuousClock.now + .seconds(5)
    while connections.exchangeCount > 0 && ContinuousClock.now < deadline { usleep(2000) }
    connections.closeWaiting()
    // libmicrohttpd must not be stopped while a connection is suspended.
    while connections.abandonExchanges() > 0 { usleep(2000) }
    loop.end()
    unsafe MHD_stop_daemon(daemon)
    if listener >= 0 { close(listener) }
    unsafe self.daemon = nil
    connections.unwatch()
  }
}

/// The calls of libmicrohttpd. They capture nothing: the server is their first argument.
extension HTTPServer {
  private static func server(_ owner: UnsafeMutableRawPointer?) -> HTTPServer? {
    unsafe owner.map { unsafe Unmanaged<HTTPServer>.fromOpaque($0).takeUnretainedValue() }
  }

  /// The first line of a request has come: its target, which is the only place that has it whole.
  private static let began:
    @convention(c) (
      UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?
    ) -> UnsafeMutableRawPointer? = { owner, target, connection in
      guard let server = unsafe server(owner), let connection = unsafe connection else {
        return nil
      }
      let target = unsafe target.flatMap { unsafe String(validatingCString: $0) } ?? ""
      let exchange = unsafe Exchange(connection, target: target, server.loop, server.budget)
      server.connections.begin(exchange)
      return unsafe Unmanaged.passRetained(exchange).toOpaque()
    }

  private static let completed:
    @convention(c) (
      UnsafeMutableRawPointer?, OpaquePointer?,
      UnsafeMutablePointer<UnsafeMutableRawPointer?>?, MHD_RequestTerminationCode
    ) -> Void = { owner, _, place, _ in
      guard let box = unsafe place?.pointee else { return }
      unsafe place?.pointee = nil
      let exchange = unsafe Unmanaged<Exchange>.fromOpaque(box).takeRetainedValue()
      exchange.complete()
      unsafe server(owner)?.connections.complete(exchange)
    }

  private static let connected:
    @convention(c) (
      UnsafeMutableRawPointer?, OpaquePointer?,
      UnsafeMutablePointer<UnsafeMutableRawPointer?>?, MHD_ConnectionNotificationCode
    ) -> Void = { owner, connection, _, code in
      guard let server = unsafe server(owner), let connection = unsafe connection else { return }
      if code == .CONNECTION_NOTIFY_STARTED {
        unsafe server.connections.open(
          Int(bitPattern: connection), http_socket(connection),
          SocketAddress.text(http_client(connection)))
      } else if let forgotten = server.connections.close(Int(bitPattern: connection)) {
        // libmicrohttpd does not complete a request whose head takes all of the memory that it may.
        forgotten.complete()
        unsafe Unmanaged.passUnretained(forgotten).release()
      }
    }

  private static let handler: MHD_AccessHandlerCallback = {
    owner, connection, _, method, _, data, size, place in
    guard let server = unsafe server(owner), let connection = unsafe connection,
      let box = unsafe place?.pointee, let size = unsafe size, let method = unsafe method
    else { return .NO }
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(box).takeUnretainedValue()
    let piece = unsafe UnsafeRawBufferPointer(start: data, count: size.pointee)
    unsafe size.pointee = 0
    return unsafe server.step(exchange, String(cString: method), piece, connection)
  }

  /// One step of a request: its head, a piece of its body, its end, or its answer.
  private func step(
    _ exchange: Exchange, _ method: String, _ piece: UnsafeRawBufferPointer,
    _ connection: OpaquePointer
  ) -> MHD_Result {
    let bodyBytesMax = limits.bodyBytesMax
    if !exchange.hasHead {
      let refusal =
        connections.refusal(of: exchange)
        ?? exchange.readHead(method, bodyBytesMax: bodyBytesMax, admit)
      guard let refusal else { return .YES }
      return unsafe send(refusal, exchange, connection)
    }
    if unsafe !piece.isEmpty {
      return unsafe exchange.take(piece, bodyBytesMax: bodyBytesMax) ? .YES : .NO
    }
    if let response = exchange.takeResponse(bodyBytesMax: bodyBytesMax) {
      return unsafe send(response, exchange, connection)
    }
    // The exchange is among those that `stop` waits for before it is asked if there is a stop: so
    // none is suspended after the last look.
    if isStopping.withLock({ $0 }) {
      return unsafe send(.stopping, exchange, connection)
    }
    connections.answering(exchange)
    exchange.begin(workers, answer)
    return .YES
  }

  private func send(
    _ response: Response, _ exchange: Exchange, _ connection: OpaquePointer
  ) -> MHD_Result {
    connections.answering(exchange)
    guard let message = unsafe message(response, exchange) else { return .NO }
    defer { unsafe MHD_destroy_response(message) }
    for (name, value) in response.headers + Self.headersOfAll {
      unsafe _ = MHD_add_response_header(message, name, value)
    }
    return unsafe MHD_queue_response(connection, UInt32(response.status), message)
  }

  private static let headersOfAll: [(name: String, value: String)] = [
    ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
  ]

  private func message(_ response: Response, _ exchange: Exchange) -> OpaquePointer? {
    switch response.body {
    case .bytes(var bytes):
      return unsafe bytes.withUnsafeMutableBytes {
        unsafe MHD_create_response_from_buffer($0.count, $0.baseAddress, .RESPMEM_MUST_COPY)
      }
    case .pipe(let pipe):
      let box = unsafe Unmanaged.passRetained(PipeReader(pipe, exchange)).toOpaque()
      return unsafe MHD_create_response_from_callback(
        UInt64.max, pipe.blockBytes, PipeReader.read, box, PipeReader.release)
    }
  }
}

/// Takes what a pipe has when the connection can send it. `@unchecked`: the connection is that of
/// libmicrohttpd, which lets any thread resume it.
@safe private final class PipeReader: @unchecked Sendable {
  private let pipe: BodyPipe
  private let connection: OpaquePointer
  private let loop: EventLoop

  init(_ pipe: BodyPipe, _ exchange: Exchange) {
    self.pipe = pipe
    unsafe connection = exchange.connection
    loop = exchange.loop
  }

  static let read: MHD_ContentReaderCallback = { box, _, buffer, count in
    guard let box = unsafe box, let buffer = unsafe buffer else { return -2 }
    let reader = unsafe Unmanaged<PipeReader>.fromOpaque(box).takeUnretainedValue()
    let target = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: count)
    let reading = unsafe reader.pipe.read(
      into: target, suspend: { unsafe MHD_suspend_connection(reader.connection) },
      wake: { unsafe reader.loop.resume(reader.connection) })
    switch reading {
    case .bytes(let count): return count
    case .nothing: return 0
    case .end: return -1
    case .broken: return -2
    }
  }

  static let release: MHD_ContentReaderFreeCallback = { box in
    if let box = unsafe box { unsafe Unmanaged<PipeReader>.fromOpaque(box).release() }
  }
}
