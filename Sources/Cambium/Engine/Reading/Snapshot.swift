import FoundationEssentials
import LMDB
import Synchronization

/// A moment to read at.
public enum Moment: Hashable, Sendable {
  /// The newest transaction.
  case now
  /// Right after a transaction.
  case sequence(SequenceNumber)
  /// Right after the last transaction at or before a time of day.
  case time(Date)
  /// The moment that `Database.tag` gave a name.
  case tag(String)
}

/// The whole database at one moment, present or past, which never changes.
///
///     let before = try database.snapshot(at: .sequence(41))
///     print(try before["users/ada/name"].value)
///
/// Any thread may read it, several at once. While it lives its pages cannot be used again, so the
/// file grows under later writes: let it go soon. One held for longer than
/// ``Database/Options/snapshotAgeMax`` is reported.
public final class Snapshot: Sendable {
  /// The last transaction that this snapshot sees.
  public let sequence: SequenceNumber

  /// The moment as the tree's versions know it, or nil for the newest.
  let moment: UInt64?
  let directory: OpenDirectory?
  private let state: State
  private let catalog: Catalog
  private let access: Access?
  /// Keeps the pages that `access` looks at.
  private let transaction: ReadTransaction?
  let writing: Writing?
  private let age: SnapshotAges.Ticket?
  /// The node id of the path that was resolved last.
  private let resolved = Mutex<(path: Path, node: UInt64)?>(nil)

  /// A reader's snapshot.
  init(
    _ transaction: consuming ReadTransaction, _ state: State, _ catalog: Catalog,
    _ directory: OpenDirectory,
    sequence: SequenceNumber, moment: UInt64?, age: SnapshotAges.Ticket?
  ) {
    access = transaction.access
    self.transaction = consume transaction
    self.state = state
    self.catalog = catalog
    self.directory = directory
    self.sequence = sequence
    self.moment = moment
    self.age = age
    writing = nil
  }

  /// Makes the snapshot through which an open write transaction reads.
  init(_ writing: Writing, _ state: State, _ directory: OpenDirectory, sequence: SequenceNumber) {
    self.writing = writing
    self.state = state
    self.directory = directory
    self.sequence = sequence
    catalog = Catalog()
    access = nil
    transaction = nil
    moment = nil
    age = nil
  }

  /// The node at a path, there or not. Nothing is read until the node is asked.
  public subscript(path: Path) -> Node { Node(self, base: path, key: nil, version: nil) }

  /// The node above all others, which has children and no value.
  public var root: Node { self[.root] }

  /// True if it reads an open write transaction, whose content may still change.
  var isLive: Bool { writing != nil }

  var reader: StateReader {
    @inline(__always)
    get throws {
      if let access { return StateReader(access: access, tables: state.tables) }
      guard let writing else { throw DatabaseError.closed(reason: "the snapshot has ended") }
      return try writing.reader(for: sequence)
    }
  }

  /// The names, as this snapshot knows them.
  var names: Catalog {
    get throws { try writing.map { try $0.catalog(for: sequence) } ?? catalog }
  }

  /// The objects of the layers above that hold for the catalog as this snapshot knows it.
  var slots: Slots { get throws { writing == nil ? catalog.slots : try names.slots } }

  /// The names of all properties that were ever set, in the order in which they were defined.
  package var propertyNames: [String] { get throws { try names.names } }

  /// The number of a property's name, or nil where no record has ever had it.
  @inline(__always)
  func nameID(_ name: String) throws -> Catalog.NameID? {
    if writing == nil { return catalog.id(of: name) }
    return try names.id(of: name)
  }

  /// How many children a node has at present.
  func childCount(_ node: UInt64) throws -> Int {
    if let writing { return try writing.childCount(node, for: sequence) }
    return try reader.childCount(node)
  }

  /// The node id of the node at a path, or nil where it is not there or never had children.
  func node(at path: Path) throws -> UInt64? {
    if path.isRoot { return StateHead.root }
    if !isLive, let node = resolved.withLock({ $0?.path == path ? $0?.node : nil }) { return node }
    let reader = try reader
    var node = StateHead.root
    var offset = 0
    while offset < path.bytes.count {
      let key = Key(terminatedIn: path.bytes, at: &offset)
      let next = try key.lendTreeKey(parent: node) {
        try reader.version($0, asOf: moment) { header, _ in header.node }
      }
      guard let next, next != 0 else { return nil }
      node = next
    }
    if !isLive { resolved.withLock { $0 = (path, node) } }
    return node
  }

}
