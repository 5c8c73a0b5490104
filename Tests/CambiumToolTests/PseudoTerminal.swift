import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A terminal for a program's output, and what it was sent. It holds a few KB only.
final class PseudoTerminal {
  /// Where to write.
  let descriptor: Int32
  private let controller: Int32
  private var isOpen = true

  init(columns: Int) throws {
    var ends: (controller: Int32, terminal: Int32) = (-1, -1)
    var size = winsize(ws_row: 30, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    let result = unsafe openpty(&ends.controller, &ends.terminal, nil, nil, &size)
    try #require(result == 0)
    (descriptor, controller) = (ends.terminal, ends.controller)
  }

  deinit {
    if isOpen { close(descriptor) }
    close(controller)
  }

  /// Closes the terminal, and returns all that was written to it.
  func read() -> String {
    close(descriptor)
    isOpen = false
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = systemRead(controller, &buffer)
      if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer[..<count]
    }
  }
}

private func systemRead(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int {
  unsafe read(descriptor, &buffer, buffer.count)
}
