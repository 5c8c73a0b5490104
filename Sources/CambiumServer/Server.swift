import Cambium
import Foundation
import Synchronization

/// Serves a database over HTTP: to Firebase's clients, to programs, and to people with a browser.
///
///     let server = Server(database)
///     try server.start()
///     print(server.url ?? "")
///     …
///     await server.stop()
///
/// | Path | Answer |
/// |---|---|
/// | `/PATH.json` | the Firebase Realtime Database's dialect |
/// | `/v1/…` | the interface of its own: what the command line tells, as JSON |
/// | `/` | the inspector |
///
/// Other processes may write to the database meanwhile, and streams tell it.
///
/// One thread waits for all sockets. Requests are answered on up to 64 more, commands of the
/// interface on 64 of their own, and long bodies and streams' long events on 16 each: a thread ends
/// when it had nothing to do for ten seconds. A connection holds up to
/// ``ServerLimits/headBytesMax``, an open stream about 24 KB, and what its client has not taken. A
/// commit is read from the log once, however many streams there are. `benchmark serve` measures
/// requests, streams, and a writer beside them.
///
/// It waits by `epoll`, so it runs on Linux only; ``start()`` says so elsewhere.
///
/// Threads: any.
public final class Server: Sendable {
  private struct Running {
    let http: HTTPServer
    let streams: EventStreams
    let tasks: [Task<Void, Never>]
    let url: String
  }

  private let database: Database
  private let options: ServerOptions
  private let running = Mutex<Running?>(nil)

  /// Prepares to serve a database, which must stay open until ``stop()`` has returned. Nothing is
  /// opened or read yet.
  ///
  /// - Parameters:
  ///   - database: The database. One that is open for reading only serves without
  ///     ``ServerOptions/allowsWriting``.
  ///   - options: The address, who may do what, and the limits.
  public init(_ database: Database, _ options: ServerOptions = ServerOptions()) {
    self.database = database
    self.options = options
  }

  /// The address to open, such as `http://127.0.0.1:8787`; nil while it does not run.
  public var url: String? { running.withLock { $0?.url } }

  /// Begins to serve. It returns once requests are answered: it reads the position of the log and
  /// the files of tokens and certificates, and blocks where the host's name must be asked for.
  ///
  /// - Throws: ``ServerError``, and `DatabaseError` where the log cannot be read. Nothing is
  ///   served then, and it can be called again.
  public func start() throws {
    let (address, isIPv6) = try resolved()
    let tokens = try readTokens()
    try checkSafety(SocketAddress.isLoopback(address, isIPv6: isIPv6), tokens)
    let hub = try CommitHub(database)
    let limits = options.limits
    let streams = EventStreams(
      countMax: limits.streamsMax, countMaxPerClient: limits.streamsMaxPerClient)
    let services = Services(database, hub, streams)
    // Known before the first request comes, but for a port that is yet to be chosen.
    let gate = Mutex(
      Gate(
        hosts: tokens == nil ? hosts(options.port) : nil, tokens: tokens,
        allowsWriting: options.allowsWriting))
    let http = HTTPServer(
      limits, admit: { request in gate.withLock { $0 }.admit(&request) },
      answer: { await services.answer($0) })
    let port = try http.start(address, isIPv6: isIPv6, try identity())
    if tokens == nil { gate.withLock { $0.hosts = hosts(port) } }
    let scheme = options.tls == nil ? "http" : "https"
    let host = options.host.contains(":") ? "[\(options.host)]" : options.host
    running.withLock {
      $0 = Running(
        http: http, streams: streams, tasks: tasks(hub, streams, tokens),
        url: "\(scheme)://\(host):\(port)")
    }
  }

  /// Ends the streams, after they are told, and serves no more. It returns once all is closed,
  /// after at most five seconds; doing it twice does nothing.
  public func stop() async {
    let running = running.withLock { running in
      defer { running = nil }
      return running
    }
    guard let running else { return }
    for task in running.tasks { task.cancel() }
    running.streams.stop()
    await withCheckedContinuation { done in
      Thread.detachNewThread {
        running.http.stop()
        done.resume()
      }
    }
    for task in running.tasks { await task.value }
  }

  /// The work beside the requests: reading the feed, keeping streams alive, looking at the tokens.
  private func tasks(
    _ hub: CommitHub, _ streams: EventStreams, _ tokens: Tokens?
  ) -> [Task<Void, Never>] {
    let log = options.log
    var tasks = [
      Task { await Server.follow(hub, streams, log) },
      Task { do { try await streams.run() } catch {} },
    ]
    if let tokens, let path = options.tokenPath {
      let fixed = options.tokens ?? ""
      tasks.append(Task { await Server.follow(path, fixed, tokens, log) })
    }
    return tasks
  }
}

/// The checks before strangers are let near.
extension Server {
  private func resolved() throws(ServerError) -> (bytes: [UInt8], isIPv6: Bool) {
    guard let address = SocketAddress.resolve(options.host, port: options.port) else {
      throw .cannotListen("there is no host \(options.host)")
    }
    return address
  }

  private func checkSafety(_ isLoopback: Bool, _ tokens: Tokens?) throws(ServerError) {
    if isLoopback { return }
    if tokens == nil {
      throw .refused(
        "\(options.host) can be reached from other machines: give a file of tokens, or serve "
          + "127.0.0.1")
    }
    if options.tls == nil && !options.isInsecure {
      throw .refused(
        "tokens would be sent to \(options.host) for all to read: give a certificate and its key, "
          + "or say that this is meant to be insecure")
    }
  }

  /// The names by which a browser on this machine reaches the server.
  private func hosts(_ port: UInt16) -> Set<String> {
    let names = ["127.0.0.1", "localhost", "[::1]", options.host.lowercased()]
    return Set(names.flatMap { ["\($0):\(port)", $0] })
  }

  private func identity() throws(ServerError) -> HTTPServer.Identity? {
    guard let tls = options.tls else { return nil }
    return HTTPServer.Identity(
      certificate: try Server.text(tls.certificatePath), key: try Server.text(tls.keyPath))
  }

  private func readTokens() throws(ServerError) -> Tokens? {
    let texts = [try options.tokenPath.map(Server.text), options.tokens].compactMap { $0 }
    if texts.isEmpty { return nil }
    let tokens = try Tokens(texts.joined(separator: "\n"))
    if tokens.isEmpty { throw .badFile("there is no token in it") }
    return tokens
  }

  private static func text(_ path: String) throws(ServerError) -> String {
    guard let bytes = try? Data(contentsOf: URL(filePath: path)) else {
      throw .badFile("\(path) cannot be read")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw .badFile("\(path) is not UTF-8")
    }
    return text
  }

  /// Hands out commits until the task is cancelled. After an error the streams are ended, so that
  /// their clients come back and say what they have seen, and the hub begins again.
  private static func follow(
    _ hub: CommitHub, _ streams: EventStreams, _ log: @escaping @Sendable (String) -> Void
  ) async {
    while !Task.isCancelled {
      do { return try await hub.run() } catch is CancellationError { return } catch {
        log("streams begin again: \(error)")
        streams.endAll()
      }
      do { try await Task.sleep(for: .seconds(1)) } catch { return }
      hub.skipCompacted()
    }
  }

  /// Takes the tokens of a file whenever it changes; tokens that have gone are withdrawn. A file
  /// that cannot be read or understood changes nothing.
  private static func follow(
    _ path: String, _ fixed: String, _ tokens: Tokens, _ log: @escaping @Sendable (String) -> Void
  ) async {
    var last = try? text(path)
    while (try? await Task.sleep(for: .seconds(1))) != nil {
      guard let now = try? text(path), now != last else { continue }
      last = now
      do {
        try tokens.replace(now + "\n" + fixed)
        log("the tokens of \(path) were read again")
      } catch {
        log("the tokens stay as they were: \(error)")
      }
    }
  }
}
