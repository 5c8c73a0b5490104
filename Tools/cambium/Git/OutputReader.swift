/// Reads a program's output piece by piece through one large buffer.
///
/// Only what one piece needs is held, so an output of any length is read in constant memory.
///
/// Invariant: `start` ≤ `end` ≤ `buffer.count`, and the bytes between are read and not yet given.
final class OutputReader {
  let process: ChildProcess
  private var buffer: [UInt8]
  private var start = 0
  private var end = 0
  private var isAtEnd = false

  /// The longest piece: nothing that git writes between two delimiters is near it.
  static let pieceBytesMax = 64 << 20

  init(_ process: ChildProcess, bufferBytes: Int = 256 << 10) {
    self.process = process
    buffer = [UInt8](repeating: 0, count: max(1, bufferBytes))
  }

  /// The next byte, which stays unread, or nil at the end.
  func peek() throws -> UInt8? {
    if start == end { try fill() }
    return start < end ? buffer[start] : nil
  }

  /// Passes over one byte that ``peek()`` has shown.
  func skip() {
    if start < end { start += 1 }
  }

  /// The bytes up to a delimiter, which is passed over; nil at the end of the output.
  ///
  /// - Throws: ``GitError/badOutput(_:reason:)`` when the output ends before the delimiter.
  func piece(endedBy delimiter: UInt8) throws -> ArraySlice<UInt8>? {
    var searched = 0
    while true {
      if let found = buffer[(start + searched)..<end].firstIndex(of: delimiter) {
        defer { start = found + 1 }
        return buffer[start..<found]
      }
      searched = end - start
      if searched > OutputReader.pieceBytesMax { throw bad("it has an endless line") }
      try fill()
      guard isAtEnd else { continue }
      if start == end { return nil }
      try process.finish()
      throw bad("it ends in the middle")
    }
  }

  /// At most `count` bytes, as many as there are without waiting twice; empty at the end.
  func bytes(max count: Int) throws -> ArraySlice<UInt8> {
    if start == end { try fill() }
    let given = buffer[start..<min(end, start + count)]
    start = given.endIndex
    return given
  }

  /// Reads once, after what is unread, making room where there is none.
  private func fill() throws {
    if start == end {
      start = 0
      end = 0
    } else if end == buffer.count {
      makeRoom()
    }
    let count = isAtEnd ? 0 : try process.read(into: &buffer, at: end)
    isAtEnd = count == 0
    end += count
  }

  private func makeRoom() {
    if start > 0 {
      buffer.replaceSubrange(0..<(end - start), with: Array(buffer[start..<end]))
      end -= start
      start = 0
    } else {
      buffer += [UInt8](repeating: 0, count: buffer.count)
    }
  }

  /// An error about this output.
  func bad(_ reason: String) -> GitError { .badOutput(process.name, reason: reason) }
}
