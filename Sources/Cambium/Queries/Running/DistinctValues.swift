// Distinct results, in the order in which they come. The values seen so far are kept in memory;
// once that is full, any others are sorted twice in files: by their values, to find the first of
// each, and by their place, to hand them out in order.

/// Finds the distinct ones among results.
struct DistinctValues: ~Copyable {
  private let bytesMax: Int
  private var seen: Set<[UInt8]> = []
  private var bytesCount = 0
  /// Results that memory had no room for, by their values; nil while there are none.
  private var later: ExternalSort?
  private var laterCount: UInt64 = 0

  /// - Parameter bytesMax: The memory for the values seen so far, in bytes.
  init(bytesMax: Int = 32 << 20) { self.bytesMax = bytesMax }

  /// Notes a result's values, and returns true if it is surely the first with them.
  ///
  /// - Returns: False if there was one before, or if that becomes known only at the end.
  mutating func isNew(_ values: [Value]) throws -> Bool {
    var ordered = ByteBuffer()
    for value in values { try OrderedBytes.append(value, to: &ordered) }
    let key = ordered.array()
    if bytesCount < bytesMax {
      guard seen.insert(key).inserted else { return false }
      bytesCount += key.count + 64
      return true
    }
    if seen.contains(key) { return false }
    if later == nil { later = ExternalSort() }
    let entry = [UInt8](bigEndian: laterCount)
    laterCount += 1
    try later?.add(key, entry + Value.array(values).stored())
    return false
  }

  /// Visits the results that ``isNew(_:)`` left for the end, in the order in which they came, until
  /// `body` says that it is enough.
  consuming func forEachLater(_ body: ([Value]) throws -> Bool) throws {
    guard let later = later.take() else { return }
    seen = []
    var byPlace = ExternalSort()
    var byValues = try later.sorted()
    var last: [UInt8]?
    // Of entries with one key the earlier comes first.
    while let entry = try byValues.next() {
      if entry.key != last { try byPlace.add(Array(entry.value[..<8]), Array(entry.value[8...])) }
      last = entry.key
    }
    var results = try byPlace.sorted()
    while let entry = try results.next() {
      guard case .array(let values) = try entry.value.lend({ try Value($0) }) else {
        throw DatabaseError.ioFailure(reason: "a temporary file is damaged")
      }
      if try !body(values) { return }
    }
  }
}
