/// A moment of the past and, in memory, what a tree makes of it: so transactions are tried out
/// again, to learn what every operation met. History keeps only what each transaction left.
///
///     records A+1 … B ──▶ Tree ──▶ RecordChange
///                          │
///                       Overlay: versions by step ──▶ the state as of A
///
/// Every version is kept under the number of the step that wrote it, so a subtree can be read as it
/// was after any of them.
final class Overlay {
  /// Nodes that are made here get ids that the state will never give.
  static let firstNode: UInt64 = 1 << 63

  private struct Removal {
    let link: HistoryLink
    let fate: RemovalFate
    let version: [UInt8]
  }

  private let moment: UInt64
  private let catalog: Catalog
  /// Sees the moment's versions.
  private let reader: () throws -> StateReader
  private var versions: [[UInt8]: [(step: Int, version: [UInt8]?)]] = [:]
  /// The tree keys that were written, by the parent's id that they begin with.
  private var written: [ArraySlice<UInt8>: Set<[UInt8]>] = [:]
  private var removals: [[UInt8]: [Removal]] = [:]
  /// The version that was superseded last.
  private var superseded: [UInt8] = []
  /// The number of the step that is tried out.
  private(set) var step = 0
  /// The changes of the step, and the nodes that it made for others to be below.
  private(set) var changes: [RecordChange] = []
  private(set) var parents: [NodePath] = []

  init(
    asOf moment: SequenceNumber, _ catalog: Catalog, _ reader: @escaping () throws -> StateReader
  ) {
    self.moment = moment.rawValue
    self.catalog = catalog
    self.reader = reader
  }

  func beginStep() {
    step += 1
    (changes, parents) = ([], [])
  }

  private func write(_ version: [UInt8]?, at key: [UInt8]) {
    versions[key, default: []].append((step, version))
    written[key.prefix(8), default: []].insert(key)
  }

  /// Lends the version at a tree key after a step; nil where there is none.
  private func version<R>(
    at key: RawSpan, after step: Int, _ body: (RawSpan) throws -> R
  ) throws -> R? {
    if let found = versions[key.array()]?.last(where: { $0.step <= step }) {
      return try found.version?.lend(body)
    }
    return try reader().version(key, asOf: moment) { try body($1) }
  }
}

// MARK: Reading

/// A node with all below it, as it was after a step.
struct PastSubtree {
  let overlay: Overlay
  /// The tree's key of the node.
  let place: [UInt8]
  var step: Int

  /// The content of the node itself; nil for nothing of its own.
  var content: Content? { get throws { try overlay.node(place, after: step)?.content } }

  /// Visits the node and all below it, in path order, until `body` returns false; the node is
  /// reported under a path.
  func visit(as path: NodePath, _ body: (NodePath, Content?) throws -> Bool) throws {
    var ahead = [(place, path)]
    while let (place, path) = ahead.popLast() {
      guard let (content, node) = try overlay.node(place, after: step) else { continue }
      guard try body(path, content) else { return }
      for child in try overlay.children(of: node).reversed() {
        ahead.append((child, path.appending(try Key(ofTreeKey: child))))
      }
    }
  }
}

extension Overlay {
  /// The content of the node at a tree key, and the id that its children's keys begin with.
  fileprivate func node(
    _ place: [UInt8], after step: Int
  ) throws -> (content: Content?, node: UInt64)? {
    try place.lend { key in
      try version(at: key, after: step) { version in
        let header = try NodeHeader(version, key: key)
        return (Content(header, version), header.node)
      }
    }
  }

  /// The tree keys at which children of a node are or were, in order.
  fileprivate func children(of node: UInt64) throws -> [[UInt8]] {
    if node == 0 { return [] }
    let parent = [UInt8](bigEndian: node)
    var keys = written[parent[...]] ?? []
    if node < Overlay.firstNode {
      var walk = try ChildWalk(try reader(), node: node, moment: moment)
      while let key = try walk.next({ key, _, _ in key.array() }) { keys.insert(key) }
    }
    return keys.sorted { $0.lexicographicallyPrecedes($1) }
  }
}

extension Key {
  fileprivate init(ofTreeKey key: [UInt8]) throws {
    self = try key.lend { try Key($0.extracting(droppingFirst: 8)) }
  }
}

// MARK: The tree's storage

extension Overlay: TreeStorage {
  func version<R>(at key: RawSpan, _ body: (RawSpan) throws -> R) throws -> R? {
    try version(at: key, after: step, body)
  }

  func putVersion(_ version: RawSpan, at key: [UInt8]) { write(version.array(), at: key) }

  func removeVersion(at key: [UInt8]) { write(nil, at: key) }

  /// None: what nothing leads to any more may stay, since it is read as of earlier steps.
  func firstChild(of node: UInt64) -> [UInt8]? { nil }

  func superseded<R>(
    _ link: HistoryLink, _ key: RawSpan, _ body: (RawSpan) throws -> R
  ) throws -> R {
    if link.sequence <= moment { return try reader().historyVersion(link, key, body) }
    guard let removal = removals[key.array()]?.first(where: { $0.link == link }) else {
      throw HistoryDamage.missing(link)
    }
    return try removal.version.lend(body)
  }

  func putSuperseded(_ entry: RawSpan, at link: HistoryLink) throws {
    superseded = entry.extracting(try HistoryEntry.parts(entry).version).array()
  }

  func removal(
    _ key: RawSpan, from place: HistoryLink
  ) throws -> (link: HistoryLink, fate: RemovalFate)? {
    if place.sequence <= moment, let found = try reader().removal(key, from: place),
      found.link.sequence <= moment
    {
      return found
    }
    return removals[key.array()]?.first { $0.link >= place }.map { ($0.link, $0.fate) }
  }

  func putRemoval(_ removalKey: RawSpan, _ fate: RemovalFate) throws {
    // A restoration matters to the cutting of history alone.
    if case .restored = fate { return }
    let keyCount = removalKey.byteCount - HistoryEntry.removalSuffixCount
    let key = removalKey.extracting(first: keyCount).array()
    let link = try HistoryEntry.link(endOf: removalKey)
    removals[key, default: []].append(Removal(link: link, fate: fate, version: superseded))
  }

  /// More than are ever taken away: they are not counted.
  func childCount(_ node: UInt64) -> Int { .max / 2 }

  func putChildCount(_ count: Int64, of node: UInt64) {}

  func name(of id: NameID) throws -> String { try catalog.name(of: id) }

  func nameID(of name: String) -> NameID? { catalog.id(of: name) }
}

// MARK: Its changes

extension Overlay: ChangeTaker {
  func collection(of path: NodePath) -> CollectionPlan? { nil }

  var takesAll: Bool { true }

  func isUnused(_ treeKey: [UInt8], in collection: CollectionPlan?) -> Bool { false }

  func willMake(_ change: RecordChange) {}

  func didMake(_ change: RecordChange) { changes.append(change) }

  func willMakeParent(_ treeKey: [UInt8], of collection: ArraySlice<UInt8>) throws {
    parents.append(NodePath(bytes: Array(collection)).appending(try Key(ofTreeKey: treeKey)))
  }

  func willLeave(_ path: NodePath) {}
  func didLeave(_ path: NodePath) {}
  func didArrive(_ path: NodePath) {}
}
