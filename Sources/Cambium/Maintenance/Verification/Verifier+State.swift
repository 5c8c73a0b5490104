// Comparing the state with what folding the log gives.

import FoundationEssentials
import LMDB

extension Verifier {
  /// Folds the log into a scratch state and compares every table, then every node.
  mutating func compare(_ reader: StateReader, _ applied: SequenceNumber) throws {
    try withScratch(upTo: applied, stepBytes: Replay.stepBytes) { verifier, scratch in
      try verifier.compare(reader, scratch)
      if verifier.hasDamage { return }
      let snapshot = try verifier.directory.snapshot(at: .sequence(applied))
      (verifier.result.digest, verifier.result.nodes) = try Verifier.dump(snapshot)
      if verifier.isReplaying { try verifier.replay(scratch) }
    }
    if !hasDamage && isReplaying {
      try withScratch(upTo: applied, stepBytes: 1 << 12) { try $0.replay($1) }
    }
  }

  /// Compares what folding the log has given with what is stored.
  mutating func replay(_ scratch: State) throws {
    let (digest, _) = try Verifier.dump(directory.snapshot(of: scratch, at: .now))
    result.replays += 1
    if digest != result.digest {
      result.add("log", "folding it again gives another state: the digest is not the same")
    }
  }

  /// Lends a state that is folded from the log for it.
  private mutating func withScratch(
    upTo applied: SequenceNumber, stepBytes: Int,
    _ body: (inout Verifier, State) throws -> Void
  ) throws {
    try Database.withScratch(of: directory, "verify") { place in
      let scratch = try directory.scratchState(in: place)
      var replay = try Replay(into: scratch, stepBytes: stepBytes)
      try replay.run(directory.log, upTo: applied, progress)
      try body(&self, scratch)
    }
  }

  private mutating func compare(_ reader: StateReader, _ scratch: State) throws {
    let transaction = try ReadTransaction(scratch.environment, tables: [])
    let rebuilt = StateReader(access: transaction.access, tables: scratch.tables)
    // Where compaction is under way, or was interrupted, the state still has older history.
    let isCut = try reader.cut() == rebuilt.cut()
    unfinished = try reader.unfinished()
    if try reader.head().unfinished != UInt32(unfinished.count) {
      result.add("state", "the head does not say how many indexes are unfinished")
    }
    for name in StateTables.names {
      isCut
        ? try compareTable(name, reader, rebuilt) : try findTable(name, of: rebuilt, in: reader)
    }
  }

  /// The directory for temporary files that must not be in the database's.
  static var temporaryDirectory: String {
    Files.resolved(ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp")
  }

  private mutating func compareTable(
    _ name: String, _ stored: StateReader, _ rebuilt: StateReader
  ) throws {
    guard let own = stored.tables[name], let other = rebuilt.tables[name] else { return }
    var a = try Cursor(stored.access, own)
    var b = try Cursor(rebuilt.access, other)
    var isThere = (try settle(&a, a.first(), name), try settle(&b, b.first(), name))
    var count: UInt64 = 0
    while isThere.0 && isThere.1 {
      let isSame = try a.withEntry { key, value in
        let isSame = try b.withEntry { otherKey, otherValue in
          try key.equals(otherKey) && areSame(name, key, value, otherValue)
        }
        return try goesOn(isSame, name, key, &count)
      }
      if !isSame { return }
      isThere = (try settle(&a, a.next(), name), try settle(&b, b.next(), name))
    }
    if isThere.0 != isThere.1 {
      result.add("state", "\(name) has \(isThere.0 ? "more" : "fewer") entries than the log says")
    }
  }

  /// Looks each entry of a rebuilt table up in the stored one, which may have more.
  private mutating func findTable(
    _ name: String, of rebuilt: StateReader, in stored: StateReader
  ) throws {
    guard let own = stored.tables[name], let other = rebuilt.tables[name] else { return }
    var count: UInt64 = 0
    try rebuilt.access.walk(other) { key, value in
      let isSame =
        try key.array() == StateHead.cutName || mayDiffer(name, key)
        || stored.access.get(own, key) { try areSame(name, key, $0, value) } ?? false
      return try goesOn(isSame, name, key, &count)
    }
  }

  // MARK: Entries that the log does not determine

  /// Counts an entry that was compared; one that differs is a finding, and ends its table.
  private mutating func goesOn(
    _ isSame: Bool, _ name: String, _ key: RawSpan, _ count: inout UInt64
  ) throws -> Bool {
    if !isSame {
      result.add(
        "state", "\(name), entry \(count): \(place(name, key)) is not what the log says")
      return false
    }
    count += 1
    if count % 4096 == 0 { try progress.tell("comparing \(name)", count) }
    return true
  }

  /// Advances to the next entry that must be as the log says.
  ///
  /// - Returns: True if there is one.
  private func settle(
    _ cursor: inout Cursor, _ isThere: Bool, _ table: String
  ) throws -> Bool {
    var isThere = isThere
    while isThere, cursor.withEntry({ key, _ in mayDiffer(table, key) }) {
      isThere = try cursor.next()
    }
    return isThere
  }

  /// True for an entry that may be there or not: one of an app's projection, of which the log does
  /// not say how far it is, or of an index or a view that is not finished.
  private func mayDiffer(_ table: String, _ key: RawSpan) -> Bool {
    switch table {
    case "views":
      let number = Verifier.number(key)
      return number >= ProjectionEntry.firstNumber || unfinished[number] != nil
    case "index":
      if unfinished.isEmpty { return false }
      return unfinished[Verifier.number(key)]?.isAhead(of: key) ?? false
    case "meta": return Unfinished.prefix.lend { key.starts(with: $0) }
    default: return false
    }
  }

  /// True if two values of a key mean the same.
  private func areSame(
    _ table: String, _ key: RawSpan, _ stored: RawSpan, _ rebuilt: RawSpan
  ) throws -> Bool {
    if unfinished.isEmpty || table != "meta" || key.array() != StateHead.name {
      return stored.equals(rebuilt)
    }
    var head = try MetaEntry.open(stored, name: StateHead.name) { try StateHead($0) }
    head.unfinished = 0
    return try head == MetaEntry.open(rebuilt, name: StateHead.name) { try StateHead($0) }
  }

  /// The number that the keys of an index or a view begin with.
  private static func number(_ key: RawSpan) -> UInt32 {
    (try? key.load(UInt32.self, at: 0).byteSwapped) ?? 0  // one too short is not left out
  }

  /// A description of a table's entry for people to read.
  private func place(_ name: String, _ key: RawSpan) -> String {
    guard name == "tree", let key = try? Key(key.extracting(droppingFirst: 8)) else { return "it" }
    return "the node '\(key)'"
  }

  /// The path of a node, as the digest has it. A longer one than this is represented by its length
  /// and its last key, since the nodes above it came before; so the digest takes time in proportion
  /// to the nodes, however deep they are.
  private static func place(_ node: Node) -> [UInt8] {
    let (last, count) = node.place
    if count <= 4096 { return node.path.bytes }
    var place: [UInt8] = [0xFF]  // no path begins so
    place.append(littleEndian: UInt64(count))
    return place + last
  }

  /// The digest of the canonical dump, and how many nodes are in it.
  private static func dump(_ snapshot: Snapshot) throws -> (digest: [UInt8], nodes: UInt64) {
    let digest = Digest()
    var count: UInt64 = 0
    var nodes = try snapshot.root.descendants()
    while let node = try nodes.next() {
      count += 1
      digest.update(Verifier.place(node))
      var value: [UInt8] = []
      // A property may nest as deep as a value by itself, so the record around it does not count.
      try node.value?.append(to: &value, depth: -1)
      digest.update(value)
      digest.update([UInt8](bigEndian: try node.modified?.rawValue ?? 0))
    }
    return (digest.finish(), count)
  }
}
