// The postings of a list in blocks: a posting is a record's key with what the list knows of the
// record, in the order of the keys.
//
//     block     number of postings (varint), then each posting
//     posting   head (varint) | [added (varint)] | [kept (varint)] | bytes of the key | payload
//     head      bit 0 the key is as long as the one before; if not, `kept` follows: the number of
//               bytes with which both begin
//               bits 1 and 2 the number of bytes of the key behind those; 3 if `added` says it
//               from bit 3 the size of the payload
//
// Before the first posting is the key that the block begins with. So most postings of a list have
// three to five bytes: one for the head, one or two of the key, one or two of the payload.
//
// One record in 64, chosen by a checksum of its key, begins a block of its own wherever it has a
// posting. So the blocks depend on the list's content alone, not on the order in which it came, and
// a fold that is made again has the same bytes; see Folds. (Content-defined chunking:
// Muthitacharoen and others, 2001; the trees of Noms and Dolt.)

/// The rule by which records begin blocks.
enum PostingBlock {
  /// The mean number of postings in a block.
  static let postingsMean: UInt64 = 64

  /// True if a record begins a block.
  static func begins(at place: RawSpan) -> Bool { Checksum.of(place) % postingsMean == 0 }
}

/// Reads the postings of a block, in order.
struct PostingReader: ~Copyable {
  private var block = ByteBuffer()
  private var offset = 0
  private var left = 0
  /// The key of the posting that was read last.
  private var key = ByteBuffer(capacity: 64)
  private var payload = 0..<0

  /// Begins to read a block.
  ///
  /// - Parameters:
  ///   - block: The block, which is copied.
  ///   - place: The key that it begins with; empty for the first of a list.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  mutating func open(_ block: RawSpan, beginningAt place: RawSpan) throws {
    self.block.clear()
    self.block.append(block)
    key.clear()
    key.append(place)
    offset = 0
    left = try PostingReader.count(in: block, &offset)
  }

  /// The number of postings in a block.
  static func count(in block: RawSpan, _ offset: inout Int) throws -> Int {
    try block.length(at: &offset)
  }

  /// Reads the next posting.
  ///
  /// - Returns: False after the last.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  mutating func next() throws -> Bool {
    if left == 0 { return false }
    left -= 1
    try block.lend { block in
      let head = try block.varint(at: &offset)
      var added = Int(head >> 1 & 3)
      if added == 3 { added = Int(clamping: try block.varint(at: &offset)) }
      let kept = head & 1 == 1 ? key.count - added : Int(clamping: try block.varint(at: &offset))
      guard kept >= 0, kept <= key.count else {
        throw DatabaseError.corrupt(reason: "a posting's key is longer than it can be")
      }
      try block.check(offset, added)
      key.cut(to: kept)
      key.append(block.extracting(offset..<(offset + added)))
      let (start, count) = (offset + added, Int(clamping: head >> 3))
      try block.check(start, count)
      offset = start + count
      payload = start..<offset
    }
    return true
  }

  /// Reads on until a posting that is not before a record's.
  ///
  /// - Returns: False if there is none.
  mutating func seek(_ place: RawSpan) throws -> Bool {
    while try next() { if !precedes(place) { return true } }
    return false
  }

  /// Lends the key of the posting that was read last.
  @inline(__always)
  func lendPlace<R>(_ body: (RawSpan) throws -> R) rethrows -> R { try key.lend(body) }

  /// Lends the payload of the posting that was read last.
  @inline(__always)
  func lendPayload<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    try block.lend { try body($0.extracting(payload)) }
  }

  /// True if the posting that was read last is before a record's.
  @inline(__always)
  func precedes(_ place: RawSpan) -> Bool { key.lend { $0.precedes(place) } }

  /// Adds the posting that was read last to another block, and those behind it up to a record's.
  /// All but the first are copied as they are.
  ///
  /// - Returns: False if none is left; else the one that was read last is not before the record's.
  mutating func copy(upTo place: RawSpan, to writer: inout PostingWriter) throws -> Bool {
    lendPlace { place in lendPayload { writer.add(place, $0) } }
    let start = offset
    var end = start
    var count = 0
    while true {
      lendPlace { writer.take(last: $0) }
      guard try next(), precedes(place) else { break }
      (end, count) = (offset, count + 1)
    }
    block.lend { writer.add(count, $0.extracting(start..<end)) }
    return end < offset
  }

  /// Adds the posting that was read last to another block, and all behind it, which ends it.
  mutating func copyRest(to writer: inout PostingWriter) throws {
    lendPlace { place in lendPayload { writer.add(place, $0) } }
    block.lend { writer.add(left, $0.extracting(droppingFirst: offset)) }
    left = 0
  }
}

/// Writes the postings of a block, in order.
struct PostingWriter: ~Copyable {
  private var start = ByteBuffer(capacity: 64)
  private var last = ByteBuffer(capacity: 64)
  private var bytes = ByteBuffer()
  private(set) var count = 0

  /// Begins a block.
  ///
  /// - Parameter place: The key that it begins with; empty for the first of a list.
  mutating func restart(at place: RawSpan) {
    start.clear()
    start.append(place)
    take(last: place)
    bytes.clear()
    count = 0
  }

  /// Lends the key that the block begins with.
  func lendStart<R>(_ body: (RawSpan) throws -> R) rethrows -> R { try start.lend(body) }

  /// Adds a posting.
  mutating func add(_ place: RawSpan, _ payload: RawSpan) {
    assert(count == 0 || last.lend { $0.precedes(place) }, "postings are out of order")
    let kept = last.lend { $0.sharedPrefix(with: place) }
    let added = place.byteCount - kept
    let isSameLength = place.byteCount == last.count
    let head = payload.byteCount << 3 | min(added, 3) << 1 | (isSameLength ? 1 : 0)
    bytes.append(varint: UInt64(head))
    if added >= 3 { bytes.append(varint: UInt64(added)) }
    if !isSameLength { bytes.append(varint: UInt64(kept)) }
    bytes.append(place.extracting(droppingFirst: kept))
    bytes.append(payload)
    last.cut(to: kept)
    last.append(place.extracting(droppingFirst: kept))
    count += 1
  }

  /// Adds postings in their stored form; before the next one, `take(last:)` must be called.
  fileprivate mutating func add(_ count: Int, _ postings: RawSpan) {
    bytes.append(postings)
    self.count += count
  }

  /// Takes the key of the last of the postings that are added in their stored form.
  @inline(__always)
  fileprivate mutating func take(last place: RawSpan) {
    last.clear()
    last.append(place)
  }

  /// The block.
  var stored: [UInt8] {
    var block: [UInt8] = []
    block.reserveCapacity(bytes.count + 2)
    block.append(varint: UInt64(count))
    bytes.lend { block.append($0) }
    return block
  }
}
