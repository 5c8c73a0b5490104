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
  /// The moment that `Database.tag` has named.
  case tag(String)
}

/// The whole database at one moment, present or past, which never changes.
///
///     let before = try database.snapshot(at: .sequence(41))
///     print(try before["users/ada/name"].value)
///
/// Any thread may read it, several at once. While it lives its pages cannot be reused, so the file
/// grows under later writes: release it soon. One held for longer than
/// ``Database/Options/snapshotAgeMax`` is reported.
public final class Snapshot: Sendable {
  /// The last transaction that this snapshot sees.
  public let sequence: SequenceNumber

  /// The moment as compared with the tree's versions, or nil for the newest.
  let moment: UInt64?
  /// Nil where the past is not read, or by an open transaction.
  let arrivalZones: ViewedZones?
  let directory: OpenDirectory
  private let source: Source
  private let tables: StateTables
  /// The names as of a commit; a transaction has its own.
  private let catalog: Catalog
  /// The node id of the path that was resolved last.
  private let resolved = Mutex<(path: NodePath, node: UInt64)?>(nil)

  /// The source of a snapshot.
  private enum Source {
    /// The state after a commit, whose pages the ticket keeps.
    case commit(Access, SnapshotAges.Ticket)
    /// An open transaction, including its changes so far.
    case transaction(RunningTransaction)
  }

  /// A reader's snapshot.
  init(
    _ access: Access, _ ticket: SnapshotAges.Ticket, _ state: State, _ catalog: Catalog,
    _ directory: OpenDirectory, sequence: SequenceNumber, moment: UInt64?,
    zones: ViewedZones?
  ) {
    source = .commit(access, ticket)
    tables = state.tables
    arrivalZones = zones
    self.catalog = catalog
    self.directory = directory
    self.sequence = sequence
    self.moment = moment
  }

  /// The snapshot through which an open transaction reads: with its changes so far, or as of an
  /// earlier moment.
  init(_ transaction: RunningTransaction, asOf past: SequenceNumber? = nil) {
    source = .transaction(transaction)
    tables = transaction.group.state.tables
    catalog = Catalog()
    directory = transaction.directory
    sequence = past ?? transaction.sequence
    moment = past?.rawValue
    arrivalZones = nil
  }

  /// The view of a reader's snapshot, at another moment of its past, from its horizon on.
  init(_ other: Snapshot, asOf sequence: SequenceNumber) {
    (source, tables, catalog) = (other.source, other.tables, other.catalog)
    (directory, arrivalZones) = (other.directory, other.arrivalZones)
    self.sequence = sequence
    moment = sequence.rawValue
  }

  /// The node at a path, existing or not. Nothing is read until the node is used.
  public subscript(path: NodePath) -> Node { Node(self, base: path, key: nil, version: nil) }

  /// The node above all others, which has children and no value.
  public var root: Node { self[.root] }

  /// The open transaction that it reads, whose content may still change; nil for a commit.
  var transaction: RunningTransaction? {
    if case .transaction(let transaction) = source { transaction } else { nil }
  }

  /// True if it reads an open transaction.
  var isLive: Bool { if case .transaction = source { true } else { false } }

  var reader: StateReader {
    @inline(__always)
    get throws {
      switch source {
      case .commit(let access, _): return StateReader(access: access, tables: tables)
      case .transaction(let transaction):
        try transaction.use()
        return try transaction.reader
      }
    }
  }

  /// The names in this snapshot.
  var names: Catalog {
    get throws {
      guard let transaction else { return catalog }
      try transaction.use()
      return transaction.catalog
    }
  }

  /// The objects of higher layers that are valid for this snapshot's catalog.
  var slots: Slots { get throws { isLive ? try names.slots : catalog.slots } }

  /// The names of all properties that were ever set, in the order in which they were defined.
  package var propertyNames: [String] { get throws { try names.names } }

  /// The number of a property's name, or nil if no record has ever had it.
  @inline(__always)
  func nameID(_ name: String) throws -> NameID? {
    isLive ? try names.id(of: name) : catalog.id(of: name)
  }

  /// Starts a walk over the children of a node id, at this snapshot's moment.
  func walk(_ node: UInt64, from: Key? = nil, isReversed: Bool = false) throws -> ChildWalk {
    try ChildWalk(
      reader, node: node, moment: moment, zones: arrivalZones, from: from, isReversed: isReversed)
  }

  /// The number of children of a node at present.
  func childCount(_ node: UInt64) throws -> Int {
    let reader = try reader
    return try transaction?.group.stateWriter.childCount(node) ?? reader.childCount(node)
  }

  /// The node id of the node at a path, or nil if there is no node or it never had children.
  func node(at path: NodePath) throws -> UInt64? {
    if path.isRoot { return StateHead.root }
    if !isLive, let node = resolved.withLock({ $0?.path == path ? $0?.node : nil }) { return node }
    guard let node = try reader.node(at: path, asOf: moment) else { return nil }
    if !isLive { resolved.withLock { $0 = (path, node) } }
    return node
  }
}
