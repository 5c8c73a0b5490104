import FoundationEssentials
import LMDB

/// The contents of a database, in numbers.
public struct Information: Sendable {
  /// One table of one environment.
  public struct Table: Sendable {
    /// `log` or `state`.
    public let environment: String
    /// The table's name.
    public let name: String
    /// The number of its entries.
    public let entries: Int
    /// The bytes of its pages.
    public let bytes: UInt64
    /// The number of pages on the way to an entry; zero where there is none.
    public let depth: Int
    /// The pages that lead to others.
    public let branchPages: UInt64
    /// The pages that hold entries.
    public let leafPages: UInt64
    /// The pages of values too long for a leaf.
    public let overflowPages: UInt64
  }

  /// The format's version.
  public let format: Int
  /// The id of the database, stored in every record that it writes.
  public let origin: UUID
  /// The time when the database was created.
  public let created: Date
  /// The newest record of the log.
  public let head: SequenceNumber
  /// The newest record that the state has folded in; behind the head after a crash, until it is
  /// opened for writing.
  public let applied: SequenceNumber
  /// The times when the first and the newest transaction were committed.
  public let times: (first: Date, last: Date)?
  /// The number of this state: 1 for the first, and one more each time that it was rebuilt.
  public let generation: UInt64
  /// The number of entries in the tree: the present nodes, and those below removed nodes, which
  /// history still holds.
  public let nodes: Int
  /// The number of superseded versions in history.
  public let versions: Int
  /// The number of names of properties that are defined.
  public let names: Int
  /// The disk space of the log's file, in bytes.
  public let logBytes: UInt64
  /// The file in front of the log, to which small commits go first: the number of transactions
  /// that only it has, and its size in bytes; nil if there is none.
  public let tail: (transactions: Int, bytes: Int)?
  /// The losses that a transaction survives which this process commits.
  public let durability: Database.Durability
  /// The disk space of the state's file, in bytes.
  public let stateBytes: UInt64
  /// The copy of the state from which a recovery would start: what it has folded, and the space
  /// that its file takes on disk; nil while there is none.
  public let checkpoint: (sequence: SequenceNumber, bytes: UInt64)?
  /// The oldest moment that can be read; zero while nothing was compacted.
  public let horizon: SequenceNumber
  /// The bytes of the baseline that replaces the transactions before it.
  public let baselineBytes: UInt64
  /// The transactions that are archived in segments.
  public let archived: ClosedRange<SequenceNumber>?
  /// The part of the past that is kept.
  public let retention: Retention
  /// The tables.
  public let tables: [Table]
  /// The named consumers and their stored positions.
  public let consumers: [(name: String, position: SequenceNumber)]
  /// The time for which the oldest snapshot of this process has been held.
  public let oldestSnapshot: Duration?
  /// The findings of the last whole round of the scrub; nil while there was none.
  public let lastScrub: ScrubReport?
  /// The number of blobs that are kept for a time, whether or not anything refers to them, and when
  /// the last of these leases ends; nil if there are none.
  public let leases: (count: Int, last: Date)?
  /// The files that are on their way in.
  public let uploads: [UnfinishedUpload]
}

extension Database {
  /// Counts what the database holds.
  ///
  /// - Returns: The numbers of one moment of each environment.
  /// - Throws: ``DatabaseError/corrupt(reason:)``, ``DatabaseError/closed(reason:)``.
  /// - Complexity: a few lookups, whatever the size.
  public func information() throws -> Information {
    try translating {
      let state = try directory.currentState()
      let transaction = try ReadTransaction(state.environment, tables: [])
      let reader = StateReader(access: transaction.access, tables: state.tables)
      let head = try reader.head()
      return try directory.log.read { log in
        Information(
          format: Int(try log.format().version), origin: directory.format.origin,
          created: Date(microseconds: directory.format.created), head: try log.head().sequence,
          applied: head.applied, times: try log.times(), generation: state.generation,
          nodes: try reader.access.count(state.tables.tree),
          versions: try reader.access.count(state.tables.history), names: Int(head.names),
          logBytes: directory.log.allocatedBytes,
          tail: try log.tailMark().map { (log.tail?.count ?? 0, $0.bytes) },
          durability: directory.options.durability,
          stateBytes: state.environment.allocatedBytes,
          checkpoint: try log.checkpoint().map { mark in
            let path = Checkpoint(directory: directory, mark: mark).path
            return (mark.sequence, Files.allocated("\(path)/data.mdb"))
          },
          horizon: try log.horizon(), baselineBytes: try Baseline.current(directory)?.bytes ?? 0,
          archived: try log.archived(), retention: try log.retention(),
          tables: try log.tableUsage().map { Information.Table("log", $0) }
            + StateTables.names.map { name in
              let table = try state.environment.table(name)
              return Information.Table("state", try reader.access.usage(of: table, named: name))
            },
          consumers: try log.consumers(), oldestSnapshot: directory.ages.oldest,
          lastScrub: ScrubPlace.read(directory).last, leases: try BlobLeases(log).counted(),
          uploads: UploadPart.all(in: directory))
      }
    }
  }
}

extension Information.Table {
  fileprivate init(_ environment: String, _ usage: PageUsage.Table) {
    let tree = usage.tree
    self.init(
      environment: environment, name: usage.name, entries: Int(clamping: tree.entries),
      bytes: tree.bytes, depth: tree.depth, branchPages: tree.branchPages,
      leafPages: tree.leafPages, overflowPages: tree.overflowPages)
  }
}

extension BlobLeases {
  fileprivate func counted() throws -> (count: Int, last: Date)? {
    let leases = try all()
    return leases.values.max().map { (leases.count, Date(microseconds: $0)) }
  }
}

extension LogReader {
  fileprivate func times() throws -> (first: Date, last: Date)? {
    let head = try head()
    guard head.sequence > .zero else { return nil }
    let first = try oldestTime()
    return (Date(microseconds: first), Date(microseconds: head.time))
  }
}
