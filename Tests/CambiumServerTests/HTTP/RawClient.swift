import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A client that sends any bytes to a port of this machine, and reads what comes: HTTP that no
/// library would send.
final class RawClient {
  struct Closed: Error {}

  private let socket: Int32
  private var pending: [UInt8] = []

  init(port: Int, secondsMax: Int = 20) throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port).bigEndian)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var patience = timeval(tv_sec: secondsMax, tv_usec: 0)
    unsafe setsockopt(
      socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(socket, $0, size)
      }
    }
    if result != 0 { throw Closed() }
  }

  deinit { close(socket) }

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = unsafe Array(bytes[sent...]).withUnsafeBytes {
        unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { throw Closed() }
      sent += count
    }
  }

  /// Reads until `marker` has come, and returns all up to its end; throws at the end.
  func read(until marker: String) throws -> String {
    let wanted = Array(marker.utf8)
    while true {
      if let range = pending.firstRange(of: wanted) {
        defer { pending.removeSubrange(..<range.upperBound) }
        return String(decoding: pending[..<range.upperBound], as: UTF8.self)
      }
      try fill()
    }
  }

  /// Reads to the end of the connection.
  func readToEnd() -> String {
    while (try? fill()) != nil {}
    defer { pending = [] }
    return String(decoding: pending, as: UTF8.self)
  }

  private func fill() throws {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let count = unsafe recv(socket, &buffer, buffer.count, 0)
    if count <= 0 { throw Closed() }
    pending += buffer.prefix(count)
  }

  /// An answer with a length: its status, its head and its body.
  func response() throws -> (status: Int, head: String, body: String) {
    let head = try read(until: "\r\n\r\n")
    let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    let lines = head.lowercased().split(separator: "\r\n")
    let length = lines.first { $0.hasPrefix("content-length:") }
    let count = length.flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
    while pending.count < count { try fill() }
    defer { pending.removeFirst(count) }
    return (status, head, String(decoding: pending.prefix(count), as: UTF8.self))
  }
}
