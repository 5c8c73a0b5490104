import CMicrohttpd
import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Addresses to listen on, and of clients; and the descriptors that connections take.
enum SocketAddress {
  /// Resolves a host's name or address.
  ///
  /// - Returns: The bytes of a `sockaddr` with its family, or nil where there is no such host.
  static func resolve(_ host: String, port: UInt16) -> (bytes: [UInt8], isIPv6: Bool)? {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    unsafe hints.ai_flags = AI_PASSIVE
    var list: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(host, String(port), &hints, &list) == 0, let first = unsafe list else {
      return nil
    }
    defer { unsafe freeaddrinfo(list) }
    let bytes = unsafe Array(
      UnsafeRawBufferPointer(
        start: first.pointee.ai_addr, count: Int(first.pointee.ai_addrlen)))
    return unsafe (bytes, first.pointee.ai_family == AF_INET6)
  }

  /// True if only this machine can reach an address.
  static func isLoopback(_ bytes: [UInt8], isIPv6: Bool) -> Bool {
    if !isIPv6 { return bytes.count >= 8 && bytes[4] == 127 }
    return bytes.count >= 24 && bytes[8..<23].allSatisfy { $0 == 0 } && bytes[23] == 1
  }

  /// An address in numbers, without the port; empty where there is none.
  static func text(_ address: UnsafePointer<sockaddr>?) -> String {
    guard let address = unsafe address else { return "" }
    let isIPv6 = unsafe Int32(address.pointee.sa_family) == AF_INET6
    let length = socklen_t(isIPv6 ? 28 : 16)
    var text = [UInt8](repeating: 0, count: 64)
    let isTold = unsafe text.withUnsafeMutableBytes { text in
      unsafe getnameinfo(
        address, length, text.assumingMemoryBound(to: CChar.self).baseAddress,
        socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
    }
    return isTold ? String(decoding: text.prefix { $0 != 0 }, as: UTF8.self) : ""
  }

  /// Lets the process open so many descriptors, as far as it may.
  static func allowDescriptors(_ count: Int) {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0,
      limit.rlim_cur < count
    else { return }
    limit.rlim_cur = min(rlim_t(count), limit.rlim_max)
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
