import LMDB

/// The tree as it was at a moment, on which the transactions after it are tried out again, in
/// memory. That shows the value before every operation, whereas history keeps only what each
/// transaction left.
///
/// It keeps what it changes under the tree's keys, as the tree does, every version under the number
/// of the step that made it. So a subtree can be moved or removed by changing an entry here as
/// well, and can be read as it was before any step.
struct PastTree {
  /// A node as it is tried out.
  struct Entry {
    /// The content of the node; nil for nothing of its own.
    var content: Content?
    /// The node id with which its children's places begin; 0 where it has none.
    var node: UInt64
    /// The transaction that put it there; zero where it was there at the start.
    var placed: UInt64
  }

  /// The tree's key of a node: the parent's node id, then the key.
  typealias Place = [UInt8]

  private struct Removal: Hashable {
    let place: Place
    let sequence: UInt64
  }

  /// Sees the moment's versions, and all removals since.
  private let reader: () throws -> StateReader
  private let moment: UInt64
  private var versions: [Place: [(step: Int, entry: Entry?)]] = [:]
  private var placesBelow: [UInt64: Set<Place>] = [:]
  private var removals: [Removal: Entry] = [:]
  /// Nodes that are made here get ids that the tree will never give.
  private var nextNode: UInt64 = 1 << 63
  /// The number of the step that is tried out.
  var step = 0

  init(asOf moment: SequenceNumber, _ reader: @escaping () throws -> StateReader) {
    self.moment = moment.rawValue
    self.reader = reader
  }

  // MARK: Reading

  /// The node at a place, after a step; nil where there is none.
  func entry(_ place: Place, after step: Int = .max) throws -> Entry? {
    if let version = versions[place]?.last(where: { $0.step <= step }) { return version.entry }
    let reader = try reader()
    return try place.lend { key in
      try reader.version(key, asOf: moment) { header, version in
        Entry(content: Content(header, version), node: header.node, placed: 0)
      }
    }
  }

  /// The place of a path, or nil where an ancestor is missing.
  func place(of path: Path) throws -> Place? {
    var node = StateHead.root
    var place: Place = []
    for (index, key) in path.keys.enumerated() {
      if index > 0 {
        guard let entry = try entry(place), entry.node != 0 else { return nil }
        node = entry.node
      }
      place = key.place(below: node)
    }
    return place.isEmpty ? nil : place
  }

  /// Visits a node and all below it after a step, in path order.
  ///
  /// - Parameters:
  ///   - place: Where the node is.
  ///   - path: The path under which it is reported.
  ///   - step: The step after which the tree is read.
  ///   - body: Called with each; false ends the walk.
  /// - Throws: Any error that `body` throws; ``DatabaseError/corrupt(reason:)``.
  func visit(
    _ place: Place, as path: Path, after step: Int, _ body: (Path, Entry) throws -> Bool
  ) throws {
    var ahead = [(place, path)]
    while let (place, path) = ahead.popLast() {
      guard let entry = try entry(place, after: step) else { continue }
      guard try body(path, entry) else { return }
      for child in try children(of: entry.node).reversed() {
        let key = try child.lend { try Key($0.extracting(droppingFirst: 8)) }
        ahead.append((child, path.appending(key)))
      }
    }
  }

  /// The places where children of a node are or were, in key order.
  private func children(of node: UInt64) throws -> [Place] {
    guard node != 0 else { return [] }
    var places = placesBelow[node] ?? []
    if node < 1 << 63 {
      var walk = try ChildWalk(try reader(), node: node, moment: moment)
      while let place = try walk.next({ key, _, _ in key.array() }) { places.insert(place) }
    }
    return places.sorted { $0.lexicographicallyPrecedes($1) }
  }

  // MARK: Trying out

  /// Puts a node at a place, or takes it away.
  mutating func write(_ place: Place, _ entry: Entry?) throws {
    versions[place, default: []].append((step, entry))
    let parent = try place.lend { try $0.load(UInt64.self, at: 0) }
    placesBelow[UInt64(bigEndian: parent.littleEndian), default: []].insert(place)
  }

  /// The place of a path, whose missing ancestors are made.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - sequence: The transaction that is tried out.
  ///   - created: Called with the path of each node that is made.
  /// - Returns: The place.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  mutating func makePlace(
    of path: Path, in sequence: SequenceNumber, _ created: (Path) -> Void
  ) throws -> Place {
    var node = StateHead.root
    var (place, parent): (Place, Path) = ([], .root)
    for key in path.keys {
      if !parent.isRoot { node = try makeParent(place, parent, sequence, created) }
      place = key.place(below: node)
      parent = parent.appending(key)
    }
    return place
  }

  /// The node id of a node that is to have children.
  private mutating func makeParent(
    _ place: Place, _ path: Path, _ sequence: SequenceNumber, _ created: (Path) -> Void
  ) throws -> UInt64 {
    let found = try entry(place)
    if let found, found.node != 0 { return found.node }
    if found == nil { created(path) }
    var entry = found ?? Entry(content: nil, node: 0, placed: sequence.rawValue)
    entry.node = nextNode
    nextNode += 1
    try write(place, entry)
    return entry.node
  }

  /// Takes a node away, and remembers it so that it can be restored.
  ///
  /// - Returns: True if it can be restored; a node that the transaction has put there itself
  ///   cannot.
  mutating func remove(_ place: Place, _ entry: Entry, in sequence: SequenceNumber) throws -> Bool {
    try write(place, nil)
    guard entry.placed < sequence.rawValue else { return false }
    let removal = Removal(place: place, sequence: sequence.rawValue)
    removals[removal] = removals[removal] ?? entry
    return true
  }

  /// The node that a transaction removed from a place.
  func removed(_ place: Place, in sequence: UInt64) throws -> Entry {
    if let entry = removals[Removal(place: place, sequence: sequence)] { return entry }
    let reader = try reader()
    let found = try place.lend { try reader.restorable($0, removedAt: sequence) }
    guard let (_, header, content) = found else {
      throw DatabaseError.corrupt(reason: "what transaction \(sequence) removed is missing")
    }
    return Entry(content: Content(header.kind, content), node: header.node, placed: 0)
  }
}

extension Key {
  /// The tree's key of a child.
  func place(below node: UInt64) -> PastTree.Place {
    lendTreeKey(parent: node) { $0.array() }
  }
}

extension StateReader {
  /// The version that a transaction removed from a place and had not put there itself, if any.
  func restorable(
    _ place: RawSpan, removedAt sequence: UInt64
  ) throws -> (link: HistoryLink, header: NodeHeader, content: [UInt8])? {
    var start = HistoryLink(sequence: sequence, index: 0)
    while let (link, fate) = try removal(place, from: start), link.sequence == sequence {
      start.index = link.index + 1
      if fate == .moved { continue }
      let found = try historyVersion(link, place) { version in
        let header = try NodeHeader(version, key: place)
        let isVain = header.modified == link.sequence && !header.hasLinks
        return isVain
          ? nil : (link, header, version.extracting(droppingFirst: header.contentOffset).array())
      }
      if let found { return found }
    }
    return nil
  }

  /// The transaction by whose removal a subtree can be restored to a place: the last that took it
  /// away from there. Nil where it was moved elsewhere since, or changed by a transaction that
  /// restored it and took it away again.
  ///
  /// It is as the first removal left it only where it never came back, not even within a
  /// transaction that took it away again.
  func lastRemoval(
    _ place: RawSpan, of first: HistoryLink, node: UInt64
  ) throws -> (sequence: UInt64, isUntouched: Bool)? {
    if node == 0 { return (first.sequence, true) }
    var last: UInt64? = first.sequence
    var isUntouched = true
    var start = first
    start.index += 1
    while let (link, fate) = try removal(place, from: start) {
      start = HistoryLink(sequence: link.sequence, index: link.index + 1)
      let header = try historyVersion(link, place) { try NodeHeader($0, key: place) }
      if header.node != node { continue }
      isUntouched = false
      let isVain = fate != .moved && header.modified == link.sequence && !header.hasLinks
      if !isVain || fate == .changed { last = isVain || fate == .moved ? nil : link.sequence }
    }
    return last.map { ($0, isUntouched) }
  }
}
