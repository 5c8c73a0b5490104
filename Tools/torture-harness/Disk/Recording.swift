/// The notes of the recorder: every call that changes what a disk holds, in order, and marks.
///
/// A record is 40 bytes, the two paths, and the bytes of a write or mark; see recorder.c.
struct Recording {
  /// One call, or a mark.
  struct Call {
    enum Kind: UInt8 {
      case open = 1, write, truncate, sync, rename, link, unlink, makeDirectory, removeDirectory
      case mark
      /// Gives a file disk blocks, and leaves its size and content as they are.
      case allocate
    }

    let kind: Kind
    fileprivate let flags: UInt8
    /// Relative to the directory that was recorded.
    let path: String
    /// The second path of `rename` and `link`.
    let target: String
    let process: UInt32
    let inode: UInt64
    let offset: Int
    /// A file's new size, for `truncate`.
    let size: Int
    let bytes: ArraySlice<UInt8>

    var isNew: Bool { flags & 1 != 0 }
    /// True if the descriptor makes each write durable by itself (`O_DSYNC`).
    var isSynced: Bool { flags & 2 != 0 }
    var hasFailed: Bool { flags & 4 != 0 }
    var isDirectory: Bool { flags & 8 != 0 }
    /// True if what the call was to make durable never will be, since the disk refused it.
    var isDropped: Bool { flags & 32 != 0 }
    /// True if it is a mark of one kind; see `Marks`.
    func isMark(_ letter: Unicode.Scalar) -> Bool {
      kind == .mark && bytes.first == UInt8(ascii: letter)
    }
    /// True if the recorder counts it among the calls at which it kills or fails.
    var isCounted: Bool { flags & 16 != 0 }
  }

  let calls: [Call]

  private static let magic = 0x4552_5554
  private static let fixedCount = 40

  /// Reads the recording of the directory `disk` beside it.
  init(_ file: String) throws {
    let root = Recording.root(of: file)
    let bytes = System.read(file)
    var calls: [Call] = []
    var offset = 0
    func number(_ at: Int, _ count: Int) -> Int {
      bytes[(offset + at)..<(offset + at + count)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    func text(_ start: Int, _ count: Int) -> String {
      let text = String(decoding: bytes[start..<(start + count)], as: UTF8.self)
      return text.hasPrefix(root) ? String(text.dropFirst(root.count).drop { $0 == "/" }) : text
    }
    while offset + Recording.fixedCount <= bytes.count {
      let known = Call.Kind(rawValue: bytes[offset + 4])
      guard number(0, 4) == Recording.magic, let kind = known else {
        throw Failure("\(file) is no recording at byte \(offset)")
      }
      let (pathCount, targetCount, count) = (number(6, 2), number(8, 2), number(32, 8))
      let paths = offset + Recording.fixedCount
      let content = paths + pathCount + targetCount
      let end = content + (kind == .write || kind == .mark ? count : 0)
      guard end <= bytes.count else { break }
      calls.append(
        Call(
          kind: kind, flags: bytes[offset + 5], path: text(paths, pathCount),
          target: text(paths + pathCount, targetCount), process: UInt32(number(12, 4)),
          inode: UInt64(number(16, 8)), offset: number(24, 8), size: count,
          bytes: bytes[content..<end]))
      offset = end
    }
    self.calls = calls
  }

  /// The place of the call that an order is about; the end where there are fewer.
  func index(of order: FaultOrder) -> Int {
    let first = calls.first { $0.isCounted }?.process
    var left = order.number
    for (index, call) in calls.enumerated() where call.isCounted && call.process == first {
      if let path = order.path, call.path != path { continue }
      left -= 1
      if left == 0 { return index }
    }
    return calls.count
  }

  /// The directory that a recording is of.
  static func root(of file: String) -> String { file.dropLast("recording".count) + "disk" }

  /// The calls that killing and failing count, of the process that made the first one.
  var counted: [Call] {
    let first = calls.first { $0.isCounted }?.process
    return calls.filter { $0.isCounted && $0.process == first }
  }
}
