/// An aggregate over the records that were seen so far.
///
/// Sums are exact, as those of views are. Values that are not numbers do not count in sums and
/// averages, and null counts nowhere but in the number of records.
struct QueryAccumulator {
  private let kind: QueryAggregate.Kind
  private var count: Int64 = 0
  /// Not an optional: changing one that may fail copies it.
  private var sum = NumberSum()
  /// The least or greatest value so far, as it is ordered and as it is stored.
  private var extreme: (place: [UInt8], value: [UInt8])?

  init(_ kind: QueryAggregate.Kind) { self.kind = kind }

  /// Takes records into account, whatever they have.
  mutating func add(count more: Int = 1) { count += Int64(more) }

  /// Takes a record's value into account; empty where it has none.
  @inline(__always)
  mutating func add(_ value: RawSpan, as type: PropertyType, _ scratch: inout ByteBuffer) throws {
    if try value.isNull { return }
    switch kind {
    case .count: count += 1
    case .sum, .average: try sum.add(value)
    case .minimum, .maximum: try addExtreme(value, type, &scratch)
    }
  }

  /// Removes a record that was added, whatever it has.
  mutating func remove() { count -= 1 }

  /// Removes a record's value that was added; empty where it has none. An extreme cannot: it has
  /// forgotten the other values.
  mutating func remove(_ value: RawSpan) throws {
    if try value.isNull { return }
    switch kind {
    case .count: count -= 1
    case .sum, .average: try sum.remove(value)
    case .minimum, .maximum: assertionFailure("an extreme cannot be taken back")
    }
  }

  private mutating func addExtreme(
    _ value: RawSpan, _ type: PropertyType, _ scratch: inout ByteBuffer
  ) throws {
    scratch.clear()
    try OrderedBytes.append(stored: value, as: type, to: &scratch)
    let isBetter = scratch.lend { place in
      guard let extreme else { return true }
      let order = extreme.place.lend { place.compare($0) }
      return kind == .minimum ? order < 0 : order > 0
    }
    if isBetter { extreme = (scratch.array(), value.array()) }
  }

  /// The aggregate's value; null where there was nothing to compute it from.
  func result() throws -> Value {
    switch kind {
    case .count: .integer(count)
    case .minimum, .maximum: try extreme.map { try $0.value.lend { try Value($0) } } ?? .null
    case .sum: sum.value ?? .null
    case .average: sum.average ?? .null
    }
  }
}

// MARK: Parts of a group

extension QueryAccumulator {
  /// Takes what another one has seen into account, as if it had come later.
  mutating func add(_ other: QueryAccumulator) {
    count += other.count
    sum.add(other.sum)
    guard let theirs = other.extreme else { return }
    let isBetter =
      extreme.map { own in
        kind == .minimum
          ? theirs.place.lexicographicallyPrecedes(own.place)
          : own.place.lexicographicallyPrecedes(theirs.place)
      } ?? true
    if isBetter { extreme = theirs }
  }

  /// Adds the stored form: count u64; a sum; 0 or 1 and an extreme's place and value, each after
  /// its length u32.
  func append(to bytes: inout [UInt8]) {
    bytes.append(littleEndian: count)
    sum.append(to: &bytes)
    bytes.append(extreme == nil ? 0 : 1)
    guard let extreme else { return }
    for part in [extreme.place, extreme.value] {
      bytes.append(littleEndian: UInt32(part.count))
      bytes += part
    }
  }

  /// Reads the stored form.
  init(_ kind: QueryAggregate.Kind, _ bytes: RawSpan, at offset: inout Int) throws {
    self.kind = kind
    count = try bytes.load(Int64.self, at: offset)
    offset += 8
    sum = try NumberSum(bytes, at: &offset)
    let hasExtreme = try bytes.load(UInt8.self, at: offset) == 1
    offset += 1
    if hasExtreme {
      let place = try QueryAccumulator.part(bytes, &offset)
      extreme = (place, try QueryAccumulator.part(bytes, &offset))
    }
  }

  private static func part(_ bytes: RawSpan, _ offset: inout Int) throws -> [UInt8] {
    let count = Int(try bytes.load(UInt32.self, at: offset))
    defer { offset += 4 + count }
    return try bytes.array(offset + 4, count)
  }
}
