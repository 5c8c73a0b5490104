/// An input's bytes, a buffer at a time, in constant memory, as often as needed.
///
///     buffer   │ consumed │ position … end: still wanted │ free │
///              └ origin: the place of this byte in the input
///
/// A reader looks at `buffer[position..<end]`. Where that ends too early, it calls ``more()``,
/// which drops what was consumed, moves the rest to the front, and reads on; a rest that fills the
/// buffer doubles it, so whoever calls must have a limit. Lines are counted when bytes are dropped
/// and when somebody asks for a place, so knowing them costs a reader nothing.
///
/// Invariants:
/// 1. `position` ≤ `end` ≤ `buffer.count`. ``more()`` and ``rewind()`` keep it; a reader moves
///    `position` forward only, up to `end`.
/// 2. `origin` is the place of `buffer[0]`. Only ``more()`` and ``rewind()`` drop bytes.
package struct ByteSource: ~Copyable {
  /// The number of bytes that are read at once.
  package static let bufferBytes = 256 << 10

  /// The name of the input in messages.
  package let name: String
  /// The input's length in bytes, as far as the system knows it; for a progress bar.
  package let size: UInt64
  /// Bytes read and not yet dropped.
  package private(set) var buffer: [UInt8]
  /// The end of the read bytes in `buffer`.
  package private(set) var end = 0
  /// The first byte that is not consumed.
  package var position = 0
  /// True if nothing follows `buffer[..<end]`.
  package private(set) var isAtEnd = false

  private let storage: Storage
  private var readBytes: UInt64 = 0
  private var origin = InputError.Place()

  private enum Storage: ~Copyable {
    case file(InputFile)
    case memory([UInt8])
  }

  /// Opens a file. A pipe or a device is copied to a temporary file first, since readers read
  /// twice.
  ///
  /// - Throws: ``InputError`` when it does not exist, is a folder, or may not be read.
  package init(path: String, bufferBytes: Int = bufferBytes) throws(InputError) {
    self.init(try InputFile(path: path), name: path, bufferBytes: bufferBytes)
  }

  /// Takes standard input, from its current position. Unless it is a file, it is copied to a
  /// temporary file.
  package static func standardInput() throws(InputError) -> ByteSource {
    let name = "standard input"
    return ByteSource(try InputFile(sharing: 0, name: name), name: name, bufferBytes: bufferBytes)
  }

  /// Takes bytes that are in memory, such as an argument; tests choose a small buffer.
  package init(bytes: [UInt8], name: String, bufferBytes: Int = bufferBytes) {
    self.name = name
    size = UInt64(bytes.count)
    buffer = [UInt8](repeating: 0, count: max(1, bufferBytes))
    storage = .memory(bytes)
  }

  private init(_ file: consuming InputFile, name: String, bufferBytes: Int) {
    self.name = name
    size = file.size
    buffer = [UInt8](repeating: 0, count: max(1, bufferBytes))
    storage = .file(file)
  }
}

extension ByteSource {
  /// The number of bytes of the input that have been consumed.
  package var offset: UInt64 { origin.offset + UInt64(position) }

  /// Drops the consumed bytes and reads more; at the end of the input, sets `isAtEnd`.
  package mutating func more() throws(InputError) {
    if isAtEnd { return }
    dropConsumed()
    if end == buffer.count { buffer.append(contentsOf: repeatElement(0, count: buffer.count)) }
    let count = try read()
    if count == 0 { isAtEnd = true }
    end += count
    readBytes += UInt64(count)
  }

  /// Goes back to the first byte.
  package mutating func rewind() {
    position = 0
    end = 0
    isAtEnd = false
    readBytes = 0
    origin = InputError.Place()
  }

  /// The place of `buffer[index]` in the input.
  ///
  /// - Complexity: O(`index`); for messages, not for every record.
  package func place(at index: Int) -> InputError.Place {
    origin.advanced(over: buffer.span.extracting(0..<index))
  }

  /// Makes an error about `buffer[index]`.
  package func error(at index: Int, _ reason: String, hint: String? = nil) -> InputError {
    InputError(input: name, place: place(at: index), reason: reason, hint: hint)
  }

  /// Makes an error about a byte that may have been dropped. The input is read again up to there,
  /// so nothing can follow but ``rewind()``.
  package mutating func error(atOffset offset: UInt64, _ reason: String, hint: String? = nil)
    -> InputError
  {
    do {
      rewind()
      try skipByteOrderMark()
      while origin.offset + UInt64(end) < offset && !isAtEnd {
        position = end
        try more()
      }
      return error(at: min(end, Int(offset - origin.offset)), reason, hint: hint)
    } catch {
      return InputError(input: name, place: nil, reason: reason, hint: hint)
    }
  }

  /// Passes over a byte order mark at the start, which is no character of the first line.
  package mutating func skipByteOrderMark() throws(InputError) {
    while end - position < 3 && !isAtEnd { try more() }
    guard offset == 0, end >= 3, buffer[..<3].elementsEqual([0xEF, 0xBB, 0xBF]) else { return }
    position = 3
    origin.column = 0
  }

  private mutating func dropConsumed() {
    if position == 0 { return }
    origin = place(at: position)
    for index in position..<end { buffer[index - position] = buffer[index] }
    end -= position
    position = 0
  }

  private mutating func read() throws(InputError) -> Int {
    switch storage {
    case .memory(let bytes):
      let chunk = bytes[Int(readBytes)...].prefix(buffer.count - end)
      for (index, byte) in zip(end..., chunk) { buffer[index] = byte }
      return chunk.count
    case .file(let file):
      return try file.read(into: &buffer, from: end, at: readBytes, name)
    }
  }
}
