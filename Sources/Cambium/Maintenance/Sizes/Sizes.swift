/// Where the bytes of a database are: all bytes of all files in its directory, in groups.
///
///     let sizes = try database.sizes(by: [.collection])
///     for group in sizes.groups { print(group.names[0] ?? group.use.rawValue, group.bytes) }
///
/// The groups add up to the sizes of the files.
public struct Sizes: Sendable {
  /// An attribute by which bytes are grouped.
  public enum Criterion: String, CaseIterable, Sendable {
    /// The first keys of a path: `users` for all that is at and below it.
    case collection
    /// The name of a property.
    case property
    /// The age of the transaction that wrote it.
    case age
    /// The table, after its environment: `log/records`; also `log/tail`, the file before it.
    case table
    /// The directory: `log`, `state-1`, `baseline-40`, `checkpoint-90`.
    case environment
  }

  /// The use of bytes about which a criterion says nothing.
  public enum Use: String, CaseIterable, Sendable {
    /// Keys, headers, links and counts of nodes, and the operations on them without their values.
    case nodes
    /// Values of nodes that are no records.
    case values
    /// Headers, metadata and links of transactions.
    case transactions
    /// An application's own facts.
    case events
    /// Names of properties, and what is declared about collections.
    case names
    /// Indexes of collections.
    case indexes
    /// Views of collections.
    case views
    /// Large values beside the tree.
    case blobs
    /// The database's own entries: positions, tags, policies.
    case entries
    /// Nodes that were taken to a place and removed with it by one transaction: only their past can
    /// be read, where they came from.
    case leftovers
    /// Room in pages in use, their headers, and the keys that lead to them; room in the log's tail.
    case space
    /// Pages that lead to the tables, and lists of free pages.
    case structure
    /// Pages that nothing is stored in; `vacuum` gives them back.
    case free
    /// Copies of the state: the baseline and the checkpoint.
    case copies
    /// Files on their way in, of which not all is there yet.
    case uploads
    /// Locks, and what is being made.
    case files
    /// Groups that are not reported separately, because there are too many.
    case others
    /// Known by each criterion.
    case content
  }

  /// Bytes that have the same names.
  public struct Group: Equatable, Sendable {
    /// A name for each criterion, in the order in which they were asked for; nil where the
    /// criterion says nothing about these bytes.
    public let names: [String?]
    /// The use of its bytes, where a name is nil; else `content`.
    public let use: Use
    /// Bytes of the log's records.
    public var log: UInt64 { sums[.log] }
    /// Bytes of archived records, compressed: what many share is shared out by their length before.
    public var archive: UInt64 { sums[.archive] }
    /// Bytes of the present nodes, and of those below removed ones.
    public var tree: UInt64 { sums[.tree] }
    /// Bytes of what was replaced or removed.
    public var history: UInt64 { sums[.history] }
    /// Bytes of everything else.
    public var other: UInt64 { sums[.other] }
    let sums: SizeSums

    /// All of its bytes.
    public var bytes: UInt64 { sums.all }
  }

  /// The criteria by which the bytes are grouped.
  public let criteria: [Criterion]
  /// The groups: those with all names first, the largest first, but ages from the youngest on.
  public let groups: [Group]

  /// The bytes of all files.
  public var bytes: UInt64 { groups.reduce(0) { $0 + $1.bytes } }
}
