// Comparing the state with what folding the log gives.

import FoundationEssentials
import LMDB

extension Verifier {
  /// Folds the log into a scratch state and compares every table, then every node.
  mutating func compare(_ reader: StateReader, _ applied: SequenceNumber) throws {
    try withScratch(upTo: applied, stepBytes: Rebuild.stepBytes) { verifier, scratch in
      try verifier.compare(reader, scratch)
      if !verifier.result.isSound { return }
      let snapshot = try verifier.store.snapshot(at: .sequence(applied))
      (verifier.result.digest, verifier.result.nodes) = try Verifier.dump(snapshot)
      if verifier.isReplaying { try verifier.replay(scratch) }
    }
    if result.isSound && isReplaying {
      try withScratch(upTo: applied, stepBytes: 1 << 12) { try $0.replay($1) }
    }
  }

  /// Compares what folding the log has given with what is stored.
  mutating func replay(_ scratch: State) throws {
    let (digest, _) = try Verifier.dump(store.snapshot(of: scratch, at: .now))
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
    let parent = store.isReadOnly ? Verifier.temporaryDirectory : store.path
    let directory = Database.temporaryPath("\(parent)/verify", "-")
    let claim = try ClaimedDirectory(creating: directory)
    defer { withExtendedLifetime(claim) { try? Files.removeDirectory(directory) } }
    try Baseline.current(store)?.copy(into: directory)
    let scratch = try State(
      at: directory, generation: 0, store.options.environment(readOnly: false))
    var rebuild = Rebuild(
      store.log, into: scratch, head: applied, stepBytes: stepBytes, progress)
    try rebuild.run()
    try body(&self, scratch)
  }

  private mutating func compare(_ reader: StateReader, _ scratch: State) throws {
    let transaction = try ReadTransaction(scratch.environment, tables: [])
    let rebuilt = StateReader(access: transaction.access, tables: scratch.tables)
    // Where compaction is under way, or was broken off, the state still has older history.
    let isCut = try reader.cut() == rebuilt.cut()
    for name in StateTables.names {
      isCut
        ? try compareTable(name, reader, rebuilt) : try findTable(name, of: rebuilt, in: reader)
    }
  }

  private static var temporaryDirectory: String {
    ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
  }

  private mutating func compareTable(
    _ name: String, _ stored: StateReader, _ rebuilt: StateReader
  ) throws {
    guard let own = stored.tables[name], let other = rebuilt.tables[name] else { return }
    var a = try Cursor(stored.access, own)
    var b = try Cursor(rebuilt.access, other)
    func isEnd(_ cursor: borrowing Cursor) -> Bool { Verifier.isApps(name, cursor) }
    var isThere = (try a.first() && !isEnd(a), try b.first() && !isEnd(b))
    var count: UInt64 = 0
    while isThere.0 && isThere.1 {
      let isSame = a.withEntry { key, value in
        b.withEntry { otherKey, otherValue in key.equals(otherKey) && value.equals(otherValue) }
      }
      if !isSame {
        return result.add(
          "state", "\(name), entry \(count): \(place(name, a)) is not what the log says")
      }
      count += 1
      if count % 4096 == 0 { try report("comparing \(name)", count, nil) }
      isThere = (try a.next() && !isEnd(a), try b.next() && !isEnd(b))
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
    var cursor = try Cursor(rebuilt.access, other)
    var isThere = try cursor.first()
    var count: UInt64 = 0
    while isThere {
      let isSame = try cursor.withEntry { key, value in
        if key.array() == StateHead.cutName || Verifier.isApps(name, cursor) { return true }
        return try stored.access.get(own, key) { $0.equals(value) } ?? false
      }
      if !isSame {
        return result.add(
          "state", "\(name), entry \(count): \(place(name, cursor)) is not what the log says")
      }
      count += 1
      if count % 4096 == 0 { try report("comparing \(name)", count, nil) }
      isThere = try cursor.next()
    }
  }

  /// Whether an entry belongs to a projection of an app: these come last among the views, and how
  /// far they are the log does not say.
  private static func isApps(_ table: String, _ cursor: borrowing Cursor) -> Bool {
    guard table == "views" else { return false }
    return cursor.withEntry { key, _ in
      (try? key.load(UInt32.self, at: 0)).map {
        UInt32(bigEndian: $0.littleEndian) >= ProjectionEntry.firstNumber
      } ?? false
    }
  }

  /// What an entry of a table is about, for people.
  private func place(_ name: String, _ cursor: borrowing Cursor) -> String {
    guard name == "tree" else { return "it" }
    let key = cursor.withEntry { key, _ in try? Key(key.extracting(droppingFirst: 8)) }
    return key.map { "the node '\($0)'" } ?? "it"
  }

  /// The digest of the canonical dump, and how many nodes are in it.
  private static func dump(_ snapshot: Snapshot) throws -> (digest: [UInt8], nodes: UInt64) {
    let digest = Digest()
    var count: UInt64 = 0
    var nodes = try snapshot.root.descendants()
    while let node = try nodes.next() {
      count += 1
      digest.update(node.path.bytes)
      var value: [UInt8] = []
      // A property may nest as deep as a value by itself, so the record around it does not count.
      try node.value?.append(to: &value, depth: -1)
      digest.update(value)
      var modified: [UInt8] = []
      modified.append(bigEndian: try node.modified?.rawValue ?? 0)
      digest.update(modified)
    }
    return (digest.finish(), count)
  }
}
