/// The names of properties, each with a small number that replaces it in stored records; and the
/// declarations of collections.
///
/// Names are only ever added, by `define` operations in the log, so a newer catalog reads older
/// records. Names are equal when their bytes are. Looking one up is the first step of reading a
/// property, so it is a hash table of its own: 20 ns, no allocation.
struct Catalog: Sendable, Refinable {
  /// The declared collections.
  var collections = Collections()
  private(set) var names: [String] = []
  private var hashes: [UInt64] = []
  /// The first eight bytes of each name, which decide most comparisons.
  private var beginnings: [UInt64] = []
  /// Open addressing: a name's number plus one, or 0 for a free slot. At most half full.
  private var table = [UInt32](repeating: 0, count: 16)

  /// The objects of higher layers that are valid for exactly these names and declarations.
  var slots: Slots { collections.slots }

  /// A copy for one of these objects, which would retain itself otherwise.
  var withoutSlots: Catalog {
    changed { $0.collections.slots = Slots() }
  }

  /// The number of names.
  var count: Int { names.count }

  /// True if it has more names or later declarations than another one of the same state.
  func isNewer(than other: Catalog) -> Bool {
    (count, collections.version) > (other.count, other.collections.version)
  }

  /// The number of a name, or nil if it is not defined.
  func id(of name: String) -> NameID? {
    let hash = Catalog.hash(name)
    var slot = Int(truncatingIfNeeded: hash) & (table.count - 1)
    while table[slot] != 0 {
      let id = table[slot] - 1
      if hashes[Int(id)] == hash, ByteOrder.areEqual(names[Int(id)], name) { return id }
      slot = (slot + 1) & (table.count - 1)
    }
    return nil
  }

  /// The name of a number that a stored record holds.
  func name(of id: NameID) throws -> String {
    guard Int(id) < names.count else {
      throw DatabaseError.corrupt(reason: "a record uses the name \(id), which is not defined")
    }
    return names[Int(id)]
  }

  /// True if one name's bytes come before another's; both must be defined.
  @inline(__always)
  func areInOrder(_ a: NameID, _ b: NameID) -> Bool {
    let (first, second) = (beginnings[Int(a)], beginnings[Int(b)])
    return first == second
      ? ByteOrder.compare(names[Int(a)], names[Int(b)]) < 0 : first < second
  }

  /// Adds a new name; its number must be the next one.
  mutating func define(_ name: String, as id: NameID) throws {
    guard Int(id) == names.count, self.id(of: name) == nil else {
      throw DatabaseError.corrupt(reason: "the name \(name) is defined twice or out of order")
    }
    collections.slots = Slots()
    names.append(name)
    hashes.append(Catalog.hash(name))
    beginnings.append(Catalog.beginning(name))
    if names.count * 2 > table.count { grow() } else { insert(id) }
  }

  private mutating func grow() {
    table = [UInt32](repeating: 0, count: table.count * 2)
    for id in names.indices { insert(NameID(id)) }
  }

  private mutating func insert(_ id: NameID) {
    var slot = Int(truncatingIfNeeded: hashes[Int(id)]) & (table.count - 1)
    while table[slot] != 0 { slot = (slot + 1) & (table.count - 1) }
    table[slot] = id + 1
  }

  /// The first eight bytes as a number with the same order; a shorter name is padded with zeros.
  private static func beginning(_ name: String) -> UInt64 {
    var number: UInt64 = 0
    for byte in name.utf8.prefix(8) { number = number << 8 | UInt64(byte) }
    return number << UInt64(8 * (8 - min(name.utf8.count, 8)))
  }

  private static func hash(_ name: String) -> UInt64 { Checksum.of(text: name) }
}

extension ValueMap {
  /// Reads a stored record.
  init(stored record: RawSpan, _ catalog: Catalog) throws {
    let table = try RecordTable(record)
    var pairs: [(String, Value)] = []
    pairs.reserveCapacity(table.count)
    // Properties are stored in the order in which their names were defined, which may differ from
    // that of the names' bytes.
    var (ascends, last) = (true, NameID(0))
    for index in 0..<table.count {
      let range = try table.value(record, index)
      let id = try table.name(record, index)
      let name = try catalog.name(of: id)
      ascends = ascends && (index == 0 || catalog.areInOrder(last, id))
      last = id
      pairs.append((name, try Value(record.extracting(range))))
    }
    if ascends { self.init(sorted: pairs) } else { self.init(pairs: pairs) }
  }
}

extension Value {
  /// The value that an app gets for what a node holds; nil for nothing of its own.
  @inline(__always)
  init?(
    _ content: RawSpan, _ kind: ContentKind, _ names: @autoclosure () throws -> Catalog
  ) throws {
    switch kind {
    case .none: return nil
    case .scalar: try self.init(content)
    case .record: self = .map(try ValueMap(stored: content, names()))
    }
  }
}
