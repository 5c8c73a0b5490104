import LMDB
import Synchronization

/// One generation of the state: everything that is folded from the log, in an environment that no
/// commit waits for. It can be dropped and rebuilt.
final class State: Sendable {
  let environment: Environment
  let tables: StateTables
  /// The commits that are not in the file yet.
  let behind: WriteBehind
  let generation: UInt64
  /// Found out by walks in the past.
  let arrivalZones = ArrivalZones()
  /// Opened by the first write; see OpenDirectory+Reserve.swift.
  let reserve = Mutex<Reserve?>(nil)

  /// Opens a generation's directory, which exists.
  ///
  /// - Parameters:
  ///   - path: The directory.
  ///   - generation: The generation's number.
  ///   - options: The options of the environment.
  ///   - deferredBytes: The bytes of entries that the file may lack.
  /// - Throws: ``StorageError``, as ``Environment`` does.
  init(
    at path: String, generation: UInt64, _ options: Environment.Options,
    deferredBytes: Int = 0
  ) throws {
    var options = options
    options.tables = StateTables.names
    options.blindTables = StateTables.blind
    options.synced = false
    environment = try Environment(at: path, options)
    tables = try StateForm(environment).tables()
    behind = WriteBehind(environment, bytesMax: deferredBytes)
    self.generation = generation
  }

  /// Lends a short-lived view.
  func read<R>(_ body: (StateReader) throws -> R) throws -> R {
    let transaction = try ReadTransaction(environment, tables: [])
    return try body(StateReader(access: transaction.access, tables: tables))
  }

  /// Ensures that the map has room for a group of writes.
  func makeRoom(for bytes: Int) throws {
    if try !environment.hasRoom(for: bytes) { try environment.growMap(headroom: 2 * bytes) }
  }

  /// Enlarges the map so that everything in it can be changed, for steps that do not make room for
  /// themselves.
  func makeRoomForChanges() throws {
    let bytes = Int(clamping: Files.size(of: "\(environment.path)/data.mdb"))
    try environment.growMap(headroom: 2 * bytes + (64 << 20))
  }

  /// The names that the state has.
  func catalog() throws -> Catalog { try read { try $0.catalog() } }

  /// The newest record that is folded in.
  func applied() throws -> SequenceNumber { try read { try $0.head().applied } }

  /// The name of a generation's directory.
  static func directory(_ generation: UInt64) -> String { "state-\(generation)" }
}

/// The state's tables.
struct StateTables: Sendable {
  /// (parent id u64, key) → the present version of a node; see NodeVersion.swift.
  let tree: Table
  /// Node id → the number of its children at present.
  let counts: Table
  /// (sequence number u64, index u32), big-endian → a superseded version with its tree key.
  let history: Table
  /// (tree key, 0, sequence number u64, index u32), big-endian: the entry of history that holds a
  /// removed version → its ``RemovalFate``.
  let removals: Table
  /// (index id u32, ordered values, record's key) → see IndexEntry.swift.
  let index: Table
  /// (view id u32, …) → the view's content; see ViewKey.swift.
  let views: Table
  /// `head`, the names of the catalog, and what is declared about collections.
  let meta: Table

  static let names = ["tree", "counts", "history", "removals", "index", "views", "meta"]
  /// The tables that folding mostly writes to. Their entries are looked up for a restoration, a
  /// rule of uniqueness or a preview, and by a body that reads the past.
  static let blind: Set<String> = ["history", "removals", "index"]

  /// Takes the tables of an environment.
  ///
  /// - Parameters:
  ///   - environment: The environment.
  ///   - isSealed: True if the entries of the tables without checksums of their own end with one.
  /// - Throws: ``StorageError`` where a table is missing.
  init(_ environment: Environment, isSealed: Bool) throws {
    let seal: Seal = isSealed ? .short : .none
    tree = try environment.table("tree").sealed(.ownLeading)
    counts = try environment.table("counts").sealed(seal)
    history = try environment.table("history").sealed(seal)
    removals = try environment.table("removals").sealed(seal)
    index = try environment.table("index").sealed(seal)
    views = try environment.table("views").sealed(seal)
    meta = try environment.table("meta").sealed(.ownTrailing)
  }

  /// A table by its name.
  subscript(name: String) -> Table? {
    StateTables.names.firstIndex(of: name).map { read[$0] }
  }

  /// The tables that readers touch.
  var read: [Table] { [tree, counts, history, removals, index, views, meta] }
}

/// The state's position in the log, and its counters.
struct StateHead: Equatable, Sendable {
  /// The newest record that is folded in: the state's position.
  var applied = SequenceNumber.zero
  /// The next node id; ids are never reused. 1 is the root's.
  var nextNode: UInt64 = StateHead.root + 1
  /// The number of names in the catalog.
  var names: UInt32 = 0
  /// The number of declarations of collections so far.
  var declarations: UInt32 = 0
  /// The number of the next index or view; numbers are never reused.
  var nextProjection: UInt32 = 1
  /// The number of unfinished indexes and views; the log has no record of it.
  var unfinished: UInt32 = 0

  /// The root's node id.
  static let root: UInt64 = 1
  static let name = Array("head".utf8)
  /// The entry with the horizon up to which history is cut; absent while history is complete.
  static let cutName = Array("cut".utf8)

  init() {}

  init(_ bytes: RawSpan) throws {
    applied = SequenceNumber(try bytes.load(UInt64.self, at: 0))
    nextNode = try bytes.load(UInt64.self, at: 8)
    names = try bytes.load(UInt32.self, at: 16)
    if bytes.byteCount == 20 { return }  // written before collections could be declared
    declarations = try bytes.load(UInt32.self, at: 20)
    nextProjection = try bytes.load(UInt32.self, at: 24)
    if bytes.byteCount > 28 { unfinished = try bytes.load(UInt32.self, at: 28) }
  }

  func stored() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(32)
    bytes.append(littleEndian: applied.rawValue)
    bytes.append(littleEndian: nextNode)
    bytes.append(littleEndian: names)
    bytes.append(littleEndian: declarations)
    bytes.append(littleEndian: nextProjection)
    if unfinished > 0 { bytes.append(littleEndian: unfinished) }
    return bytes
  }
}

/// A view of the state at one moment.
struct StateReader {
  let access: Access
  let tables: StateTables

  /// The state's position and counters.
  func head() throws -> StateHead { try entry(StateHead.name) { try StateHead($0) } ?? StateHead() }

  /// Reads an entry of the `meta` table; nil where there is none.
  @inline(__always)
  func entry<R>(_ name: [UInt8], _ body: (RawSpan) throws -> R) throws -> R? {
    try name.lend { key in
      try access.get(tables.meta, key) { try MetaEntry.open($0, name: name, body) }
    }
  }

  /// The catalog as of this state.
  func catalog() throws -> Catalog {
    var catalog = Catalog()
    try complete(&catalog, to: try head())
    return catalog
  }

  /// Brings a catalog up to this state.
  func complete(_ catalog: inout Catalog, to head: StateHead) throws {
    try completeNames(&catalog, count: head.names)
    if catalog.collections.version != head.declarations {
      catalog.collections = try collections(catalog, version: head.declarations)
    }
    catalog.collections.unfinished = head.unfinished > 0 ? try unfinished() : [:]
  }

  private func completeNames(_ catalog: inout Catalog, count: UInt32) throws {
    while catalog.count < Int(count) {
      let id = NameID(catalog.count)
      let name = try entry(StateReader.nameKey(id)) { try $0.string(0, $0.byteCount) }
      guard let name else { throw DatabaseError.corrupt(reason: "the name \(id) is missing") }
      try catalog.define(name, as: id)
    }
  }

  /// The key of a name in the state's `meta` table.
  static func nameKey(_ id: NameID) -> [UInt8] {
    namePrefix + [UInt8](bigEndian: id)
  }

  private static let namePrefix = Array("name/".utf8)

  /// The name whose entry has a key; nil for an entry of another kind.
  static func name(ofKey key: [UInt8]) -> NameID? {
    guard key.starts(with: namePrefix), key.count == namePrefix.count + 4 else { return nil }
    return key.suffix(4).reduce(0) { $0 << 8 | NameID($1) }
  }

  /// The number of children of a node at present.
  func childCount(_ node: UInt64) throws -> Int {
    let key: InlineArray<1, _> = [node.bigEndian]
    let count = try key.lend { key in
      try access.get(tables.counts, key) { try $0.load(UInt64.self, at: 0) }
    }
    return Int(clamping: count ?? 0)
  }
}
