#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Many connections of one thread to a server of this machine: requests one after another on each,
/// or a stream of events on each.
final class HTTPLoad {
  private struct Connection {
    let socket: Int32
    var received: [UInt8] = []
  }

  private var connections: [Connection] = []

  init(port: Int, count: Int) throws {
    for _ in 0..<count { connections.append(Connection(socket: try HTTPLoad.connect(port))) }
  }

  deinit { for connection in connections { close(connection.socket) } }

  /// Sends a request on each connection, and another when its answer has come, for some seconds.
  ///
  /// - Returns: The answers per second, and a digest of the last body.
  func requests(_ target: String, for seconds: Int) throws -> (rate: Double, digest: Digest) {
    let request = HTTPLoad.request(target)
    for connection in connections { try HTTPLoad.send(request, to: connection.socket) }
    let all = Array(connections.indices)
    let start = ContinuousClock.now
    var (answers, digest) = (0, Digest())
    while ContinuousClock.now - start < .seconds(seconds) {
      for index in try ready(all, for: 1_000) {
        try receive(index)
        while let body = try takeAnswer(index) {
          answers += 1
          digest = Digest()
          for byte in body { digest.add(UInt64(byte)) }
          try HTTPLoad.send(request, to: connections[index].socket)
        }
      }
    }
    let rate = Double(answers) / benchmark.seconds(since: start)
    try drain()
    return (rate, digest)
  }

  /// Takes the answers that are still under way.
  private func drain() throws {
    var waiting = Set(connections.indices)
    while !waiting.isEmpty {
      for index in try ready(Array(waiting), for: 5_000) {
        try receive(index)
        if try takeAnswer(index) != nil { waiting.remove(index) }
      }
    }
  }

  /// Opens a stream on each connection, some at a time, and waits until each has its first event.
  func follow(_ target: String) throws {
    let request = HTTPLoad.request(target, accepting: "text/event-stream")
    for start in stride(from: 0, to: connections.count, by: 256) {
      let some = start..<min(start + 256, connections.count)
      for index in some { try HTTPLoad.send(request, to: connections[index].socket) }
      try awaitEvents(of: 1, on: some)
    }
  }

  /// Waits until each connection, or each of some, has so many events more.
  func awaitEvents(of count: Int, on some: Range<Int>? = nil) throws {
    let some = some ?? connections.indices
    var missing = Dictionary(uniqueKeysWithValues: some.map { ($0, count) })
    while !missing.isEmpty {
      let indexes = try ready(Array(missing.keys), for: 20_000)
      if indexes.isEmpty {
        throw BenchmarkError("\(missing.count) streams got no event within 20 s")
      }
      for index in indexes {
        try receive(index)
        let left = missing[index, default: 0] - takeEvents(index)
        missing[index] = left > 0 ? left : nil
      }
    }
  }

  /// The events that have come whole. They are counted by their data.
  private func takeEvents(_ index: Int) -> Int {
    let text = connections[index].received
    guard let end = text.lastIndex(of: UInt8(ascii: "\n")) else { return 0 }
    connections[index].received.removeFirst(end + 1)
    return text[..<end].ranges(of: Array("data: ".utf8)).count
  }

  /// The body of an answer that has come whole.
  private func takeAnswer(_ index: Int) throws -> [UInt8]? {
    let bytes = connections[index].received
    guard let head = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    let text = String(decoding: bytes[..<head.lowerBound], as: UTF8.self)
    guard text.hasPrefix("HTTP/1.1 200") else { throw BenchmarkError("answered \(text)") }
    guard let end = try HTTPLoad.end(of: text.lowercased(), bytes, head.upperBound) else {
      return nil
    }
    connections[index].received.removeFirst(end)
    return Array(bytes[head.upperBound..<end])
  }

  /// The end of a body, by its length or its last chunk; nil where it has not come.
  private static func end(of head: String, _ bytes: [UInt8], _ start: Int) throws -> Int? {
    let lengths = head.split(separator: "\r\n").filter { $0.hasPrefix("content-length: ") }
    if let length = lengths.first.flatMap({ Int($0.dropFirst(16)) }) {
      return bytes.count >= start + length ? start + length : nil
    }
    return bytes[start...].firstRange(of: Array("0\r\n\r\n".utf8))?.upperBound
  }
}

/// Sockets.
extension HTTPLoad {
  /// The indexes of the connections that have something to read, after at most some milliseconds.
  private func ready(_ indexes: [Int], for milliseconds: Int32) throws -> [Int] {
    var states = indexes.map {
      pollfd(fd: connections[$0].socket, events: Int16(POLLIN), revents: 0)
    }
    let count = unsafe poll(&states, nfds_t(states.count), milliseconds)
    if count < 0 && errno != EINTR { throw BenchmarkError("poll: error \(errno)") }
    return zip(indexes, states).filter { $0.1.revents != 0 }.map(\.0)
  }

  private func receive(_ index: Int) throws {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let count = unsafe recv(connections[index].socket, &buffer, buffer.count, 0)
    if count <= 0 { throw BenchmarkError("the server has closed a connection") }
    connections[index].received += buffer.prefix(count)
  }

  private static func request(_ target: String, accepting type: String = "*/*") -> [UInt8] {
    Array("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: \(type)\r\n\r\n".utf8)
  }

  private static func send(_ bytes: [UInt8], to socket: Int32) throws {
    let count = unsafe write(socket, bytes, bytes.count)
    if count != bytes.count { throw BenchmarkError("a request cannot be sent") }
  }

  private static func connect(_ port: Int) throws -> Int32 {
    #if canImport(Darwin)
      let socket = socket(AF_INET, SOCK_STREAM, 0)
    #else
      let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port).bigEndian)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let code = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe systemConnect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if socket < 0 || code != 0 { throw BenchmarkError("cannot connect: error \(errno)") }
    return socket
  }
}

private func systemConnect(
  _ socket: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t
) -> Int32 { unsafe connect(socket, address, size) }

/// The descriptors that the process may have open.
enum Descriptors {
  /// Allows so many, as far as the system lets it.
  static func allow(_ count: Int) {
    #if canImport(Glibc)
      let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let kind = RLIMIT_NOFILE
    #endif
    var limit = rlimit()
    guard unsafe getrlimit(kind, &limit) == 0, limit.rlim_cur < count else { return }
    limit.rlim_cur = min(rlim_t(count), limit.rlim_max)
    unsafe _ = setrlimit(kind, &limit)
  }
}
