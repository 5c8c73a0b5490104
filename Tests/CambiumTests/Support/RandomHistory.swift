import Simulation

@testable import Cambium

/// Does the same to a database and to the model, call by call, and compares what each says.
final class RandomHistory: @unchecked Sendable {
  // It is Sendable because one body at a time uses it, as the writer runs them, and between the
  // writes only the test, which waits for them.

  /// The error that a body throws to undo itself.
  private struct Abandoned: Error {}

  let database: Database
  private(set) var model = Model()
  var calls: RandomCalls
  /// The number of calls that were made.
  private(set) var callCount = 0
  /// The number of calls that were refused.
  private(set) var refusalCount = 0
  private let callsMax: Int

  /// Begins with an empty database; `callsMax` is the most calls in one transaction.
  init(_ database: Database, seed: UInt64, callsMax: Int) {
    self.database = database
    self.callsMax = callsMax
    calls = RandomCalls(seed: seed)
  }

  // MARK: Writing

  /// Makes so many calls, in transactions of random size, alone and in groups.
  func run(calls count: Int) async throws {
    let end = callCount + count
    while callCount < end {
      if calls.random.oneIn(4) {
        let count = 1 + calls.random.below(12)
        try check(try await database.writeTogether(count) { tx in try self.body(tx) })
      } else {
        try check([Result { try database.write { tx in try self.body(tx) } }])
      }
    }
  }

  /// Makes so many calls, in groups of random size, and lets the state's map run full in them.
  func runInSmallMap(calls count: Int) throws {
    let end = callCount + count
    while callCount < end {
      let count = 1 + calls.random.below(12)
      try check(try database.writeInSmallMap(count) { tx in try self.body(tx) })
    }
  }

  /// Lets pass what bodies throw to undo themselves, and compares the head.
  private func check(_ outcomes: [Result<Void, any Error>]) throws {
    for case .failure(let error) in outcomes where !(error is Abandoned) { throw error }
    try requireSame([database.head], [model.head], "the head")
  }

  /// One transaction.
  private func body(_ tx: borrowing Database.Transaction) throws {
    model.begin()
    do {
      try makeCalls(tx, nesting: 0)
      if calls.random.oneIn(10) {
        try requireSame(tx[.root], model.tree.nodes, "inside \(tx.sequence)")
      }
      if calls.random.oneIn(8) { throw Abandoned() }
    } catch {
      model.abort()
      throw error
    }
    model.commit()
  }

  private func makeCalls(_ tx: borrowing Database.Transaction, nesting: Int) throws {
    for _ in 0..<(1 + calls.random.below(callsMax)) {
      if nesting < 3 && calls.random.oneIn(12) {
        try attempt(tx, nesting: nesting + 1)
      } else {
        try makeCall(tx)
      }
    }
  }

  private func attempt(_ tx: borrowing Database.Transaction, nesting: Int) throws {
    let mark = model.tree
    do {
      try tx.attempt {
        try makeCalls(tx, nesting: nesting)
        if calls.random.oneIn(2) { throw Abandoned() }
      }
    } catch is Abandoned {
      model.tree = mark
    }
  }

  private func makeCall(_ tx: borrowing Database.Transaction) throws {
    let call = calls.next(in: tx.sequence)
    callCount += 1
    let expected = Result { () throws(Refusal) in try model.tree.apply(call) }
    let found = try outcome { try call.perform(tx) }
    if case .failure = expected { refusalCount += 1 }
    if found != expected {
      throw Divergence("call \(callCount), in \(tx.sequence), \(call): \(found), not \(expected)")
    }
    if let path = call.path, callCount % 4 == 0 { try compareNode(tx[path], model.tree.nodes) }
  }

  private func outcome(_ body: () throws -> Bool) throws -> Result<Bool, Refusal> {
    do { return .success(try body()) } catch {
      guard let refusal = Refusal(error) else { throw error }
      return .failure(refusal)
    }
  }

  // MARK: Comparing

  /// Compares everything at one moment, and a few walks over children.
  func compare(at sequence: SequenceNumber) throws {
    let snapshot = try database.snapshot(at: .sequence(sequence))
    let nodes = model.nodes(at: sequence)
    try requireSame(snapshot.root, nodes, "transaction \(sequence)")
    for _ in 0..<4 {
      let path = calls.path()
      try compareNode(snapshot[path], nodes)
      try compareChildren(snapshot[path], nodes)
    }
    try compareChildren(snapshot.root, nodes)
  }

  /// Compares random moments of the past, the oldest there is, and the present.
  func compareMoments(_ count: Int) throws {
    for _ in 0..<count { try compare(at: moment()) }
    try compare(at: model.horizon)
    try compare(at: model.head)
  }

  /// A random moment of those that are left.
  func moment() -> SequenceNumber {
    let horizon = model.horizon.rawValue
    return SequenceNumber(
      horizon + UInt64(calls.random.below(Int(model.head.rawValue - horizon) + 1)))
  }

  // MARK: Compacting

  /// Drops what is before a random moment; nothing before it can be asked for any more.
  func compact(archives: Bool) throws {
    let horizon = moment()
    let compaction = try database.compact(upTo: horizon, archives: archives)
    model.horizon = horizon
    try requireSame([compaction.horizon, try database.horizon], [horizon, horizon], "the horizon")
    if horizon == .zero { return }
    let gone = SequenceNumber(UInt64(calls.random.below(Int(horizon.rawValue))))
    let refusals = [
      Result { _ = try database.snapshot(at: .sequence(gone)) },
      Result { _ = try database.commit(gone.next) },
      Result {
        var commits = try database.commits(after: gone)
        _ = try commits.next()
      },
    ]
    for refusal in refusals {
      guard case .failure(DatabaseError.compacted(horizon)) = refusal else {
        throw Divergence("before the horizon \(horizon), transaction \(gone) gives \(refusal)")
      }
    }
  }

  private func compareChildren(_ node: Node, _ nodes: [NodePath: Tree.Node]) throws {
    let keys = nodes.childKeys(of: node.path)
    let (from, limit) = (calls.key(), calls.random.below(5))
    let (children, path) = (node.children, node.path)
    try requireSame(children.keys(), keys, "children of \(path)")
    try requireSame(children.reversed().keys(), keys.reversed(), "children of \(path), reversed")
    try requireSame(
      children.from(from).limit(limit).keys(), Array(keys.filter { $0 >= from }.prefix(limit)),
      "\(limit) children of \(path) from \(from)")
    try requireSame(
      children.from(from).reversed().keys(), keys.filter { $0 <= from }.reversed(),
      "children of \(path) from \(from), reversed")
  }

  private func compareNode(_ node: Node, _ nodes: [NodePath: Tree.Node]) throws {
    if node.path.isRoot { return }
    var tree = Tree()
    tree.nodes = nodes
    let path = node.path
    let isSame =
      try node.value == tree.value(path) && node.modified == nodes[path]?.modified
      && node.exists == (nodes[path] != nil || tree.property(path) != nil)
      && node["name"] == nodes[path]?.record?["name"]
      && node.childCount == nodes.childKeys(of: path).count
    if !isSame { throw Divergence("\(path) reads as \(try node.row())") }
  }

  /// Compares what the feed gives of every transaction, both to a walk and to an observer.
  func compareFeed() async throws {
    var commits = try database.commits()
    var last = model.horizon
    for try await observed in database.changes(after: last) {
      guard let commit = try commits.next() else { throw Divergence("\(last) ends the feed") }
      last = last.next
      try requireSame([commit.sequence, observed.sequence], [last, last], "the order")
      try compare(commit)
      try requireSame(
        observed.changes.fetch(), commit.changes.fetch(), "what is observed of \(last)")
      if last == model.head { break }
    }
  }

  private func compare(_ commit: Commit) throws {
    let sequence = commit.sequence
    let expected = model.moments[Int(sequence.rawValue)]
    try requireSame(
      [commit.operationCount], [expected.operationCount], "operations of \(sequence)")
    try requireSame(commit.events, expected.events, "events of \(sequence)")
    try requireSame(commit.changes.fetch(), model.changes(of: sequence), "changes of \(sequence)")
  }
}

extension Children {
  /// The keys of the children that a walk visits.
  func keys() throws -> [Key] { try fetch().compactMap(\.key) }
}
