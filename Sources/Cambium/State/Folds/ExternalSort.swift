// Sorts more entries than memory holds: merge sort, with a file for the entries that do not fit.
//
//     add ──▶ memory ──sorted──▶ run run run … ──16 of a level merged──▶ run of the next level …
//                                        └──────── all that is left, merged ────────▶ entries
//
// An entry is a key and a value, ordered by the bytes of the key; entries with one key come in the
// order in which they were added. Stored, in memory as in a run: length of the key u32, length of
// the value u32, key, value; little-endian. The file has no name, so it disappears however the
// process ends; each level of merging rewrites all of it once. (Knuth, volume 3, 5.4.)

import LMDB

/// Takes entries in any order, and returns them sorted.
///
/// Invariants:
/// 1. Memory stays within `bytesMax`, an eighth of it for each level of runs, and one entry of each
///    run that is merged; by construction.
/// 2. Entries with one key keep the order in which they were added: runs are made and merged in
/// order.
struct ExternalSort: ~Copyable {
  private static let fanIn = 16

  private let bytesMax: Int
  private let directory: String
  private var memory = SortMemory()
  private var file: SortFile?
  /// The runs, by the number of times they were merged; in each level the oldest first.
  private var levels: [[Range<UInt64>]] = []

  /// - Parameters:
  ///   - directory: The directory in which the file is created, if one is needed.
  ///   - bytesMax: The bytes of entries that are kept in memory.
  init(in directory: String = Files.temporaryDirectory, bytesMax: Int = 8 << 20) {
    self.directory = directory
    self.bytesMax = bytesMax
  }

  /// Adds an entry.
  ///
  /// - Throws: ``StorageError`` if the file cannot be written.
  mutating func add(_ key: [UInt8], _ value: [UInt8]) throws {
    memory.add(key, value)
    if memory.bytesCount >= bytesMax { try spill() }
  }

  /// Ends adding.
  ///
  /// - Returns: The entries in order.
  /// - Throws: ``StorageError``.
  consuming func sorted() throws -> SortedEntries {
    if file == nil {
      memory.sort()
      return SortedEntries(memory)
    }
    if !memory.isEmpty { try spill() }
    // The higher the level, the earlier its entries were added.
    return SortedEntries(try merge(levels.reversed().flatMap { $0 }))
  }

  /// Writes the entries in memory as a run, and merges levels that are full.
  private mutating func spill() throws {
    memory.sort()
    let file = try file ?? SortFile(in: directory)
    self.file = file
    try keep(try file.write { add in try memory.forEach(add) }, level: 0)
    memory.removeAll()
  }

  private mutating func keep(_ run: Range<UInt64>, level: Int) throws {
    if level == levels.count { levels.append([]) }
    levels[level].append(run)
    guard levels[level].count == ExternalSort.fanIn, let file else { return }
    var merged = try merge(levels[level])
    levels[level] = []
    let run = try file.write { add in
      while let entry = try merged.next() { try add(entry.key, entry.value) }
    }
    try keep(run, level: level + 1)
  }

  private func merge(_ runs: [Range<UInt64>]) throws -> RunMerge {
    guard let file else { return try RunMerge([]) }
    let bytesCount = max(bytesMax / 8 / ExternalSort.fanIn, 4096)
    return try RunMerge(runs.map { SortRun(file, $0, bufferBytes: bytesCount) })
  }
}

/// Sorted entries, read once from the first to the last.
struct SortedEntries: ~Copyable {
  /// One entry.
  typealias Entry = (key: [UInt8], value: [UInt8])

  private var memory: SortMemory
  private var index = 0
  private var merge: RunMerge?

  fileprivate init(_ memory: SortMemory) { self.memory = memory }

  fileprivate init(_ merge: RunMerge) {
    memory = SortMemory()
    self.merge = merge
  }

  /// The next entry, or nil after the last.
  ///
  /// - Throws: ``StorageError`` if the file cannot be read.
  mutating func next() throws -> Entry? {
    if merge != nil { return try merge?.next() }
    guard index < memory.count else { return nil }
    defer { index += 1 }
    return memory.entry(index)
  }
}

/// Entries in memory, side by side.
private struct SortMemory {
  private var bytes: [UInt8] = []
  private var starts: [Int] = []

  var count: Int { starts.count }
  var isEmpty: Bool { starts.isEmpty }
  var bytesCount: Int { bytes.count + starts.count * MemoryLayout<Int>.size }

  mutating func add(_ key: [UInt8], _ value: [UInt8]) {
    starts.append(bytes.count)
    SortFile.append(key, value, to: &bytes)
  }

  mutating func sort() {
    let bytes = bytes
    bytes.lend { span in
      starts.sort { a, b in
        let (first, second) = (SortMemory.key(span, a), SortMemory.key(span, b))
        let (one, other) = (span.extracting(first), span.extracting(second))
        return one.precedes(other) || a < b && one.equals(other)
      }
    }
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
  }

  func entry(_ index: Int) -> SortedEntries.Entry {
    let start = starts[index]
    let key = bytes.lend { SortMemory.key($0, start) }
    let count = bytes.lend { SortMemory.number($0, start + 4) }
    return (Array(bytes[key]), Array(bytes[key.upperBound..<(key.upperBound + count)]))
  }

  func forEach(_ body: ([UInt8], [UInt8]) throws -> Void) throws {
    for index in starts.indices {
      let entry = entry(index)
      try body(entry.key, entry.value)
    }
  }

  private static func key(_ bytes: RawSpan, _ start: Int) -> Range<Int> {
    (start + SortFile.headBytes)..<(start + SortFile.headBytes + number(bytes, start))
  }

  /// A length that this type has written.
  private static func number(_ bytes: RawSpan, _ offset: Int) -> Int {
    Int((try? bytes.load(UInt32.self, at: offset)) ?? 0)
  }
}

/// The file that holds the runs.
private final class SortFile {
  static let headBytes = 8
  private static let bufferBytes = 256 << 10

  private let file: TemporaryFile
  private var count: UInt64 = 0

  init(in directory: String) throws { file = try TemporaryFile(in: directory) }

  static func append(_ key: [UInt8], _ value: [UInt8], to bytes: inout [UInt8]) {
    bytes.append(littleEndian: UInt32(key.count))
    bytes.append(littleEndian: UInt32(value.count))
    bytes += key
    bytes += value
  }

  /// Writes the entries that `body` adds, as a run.
  func write(
    _ body: (_ add: ([UInt8], [UInt8]) throws -> Void) throws -> Void
  ) throws -> Range<UInt64> {
    let start = count
    var buffer: [UInt8] = []
    func flush() throws {
      try file.append(buffer)
      count += UInt64(buffer.count)
      buffer.removeAll(keepingCapacity: true)
    }
    try body { key, value in
      SortFile.append(key, value, to: &buffer)
      if buffer.count >= SortFile.bufferBytes { try flush() }
    }
    try flush()
    return start..<count
  }

  func read(at offset: UInt64, count: Int) throws -> [UInt8] {
    try file.read(at: offset, count: count)
  }
}

/// A run that is read from its start to its end.
private final class SortRun {
  private let file: SortFile
  private let bufferBytes: Int
  private var rest: Range<UInt64>
  private var buffer: [UInt8] = []
  private var offset = 0
  /// The entry that comes next; nil after the last.
  private(set) var entry: SortedEntries.Entry?

  init(_ file: SortFile, _ range: Range<UInt64>, bufferBytes: Int) {
    self.file = file
    self.bufferBytes = bufferBytes
    rest = range
  }

  /// Advances to the next entry.
  func advance() throws {
    guard try fill(SortFile.headBytes) else {
      entry = nil
      return
    }
    let start = offset
    let (keyCount, valueCount) = try buffer.lend { bytes in
      (Int(try bytes.load(UInt32.self, at: start)), Int(try bytes.load(UInt32.self, at: start + 4)))
    }
    guard try fill(SortFile.headBytes + keyCount + valueCount) else {
      throw DatabaseError.ioFailure(reason: "a temporary file ends early")
    }
    let key = offset + SortFile.headBytes
    let value = key + keyCount
    entry = (Array(buffer[key..<value]), Array(buffer[value..<(value + valueCount)]))
    offset = value + valueCount
  }

  /// Fills the buffer with at least `count` bytes, as far as the run has them.
  ///
  /// - Returns: True if the run has as many.
  private func fill(_ count: Int) throws -> Bool {
    if buffer.count - offset >= count { return true }
    buffer.removeFirst(offset)
    offset = 0
    let wanted = min(UInt64(max(bufferBytes, count - buffer.count)), UInt64(rest.count))
    let bytes = try file.read(at: rest.lowerBound, count: Int(wanted))
    rest = (rest.lowerBound + UInt64(bytes.count))..<rest.upperBound
    buffer += bytes
    return buffer.count >= count
  }
}

/// Merges runs: a heap of them, the one with the smallest entry on top.
private struct RunMerge {
  /// The runs, each with its place, which decides between equal keys.
  private typealias Element = (run: SortRun, place: Int)
  private var heap: [Element] = []

  init(_ runs: [SortRun]) throws {
    for (place, run) in runs.enumerated() {
      try run.advance()
      if run.entry != nil { heap.append((run, place)) }
    }
    for index in heap.indices.reversed() { heap.sink(index, RunMerge.precedes) }
  }

  mutating func next() throws -> SortedEntries.Entry? {
    guard let top = heap.first?.run, let entry = top.entry else { return nil }
    try top.advance()
    if top.entry == nil {
      heap.swapAt(0, heap.count - 1)
      heap.removeLast()
    }
    heap.sink(0, RunMerge.precedes)
    return entry
  }

  private static func precedes(_ a: Element, _ b: Element) -> Bool {
    guard let one = a.run.entry?.key, let other = b.run.entry?.key else { return false }
    if one == other { return a.place < b.place }
    return one.lend { one in other.lend { one.precedes($0) } }
  }
}
