@testable import Cambium

/// The records of some collections, kept up to date by nothing but net changes.
final class RecordMirror: @unchecked Sendable {
  // It is Sendable because one thread at a time uses it.

  private let database: Database
  private let router: LiveRouter
  let mailbox: LiveMailbox
  private var collections: [NodePath]
  private var records: [NodePath: Value] = [:]
  private var last: SequenceNumber
  /// The numbers of changes that were taken, of runs, and of changes of the question.
  private(set) var changes = 0
  private(set) var runs = 0
  private(set) var questions = 0

  init(_ database: Database, of collections: [NodePath]) throws {
    self.database = database
    self.collections = collections
    router = LiveRouter.of(database)
    mailbox = try router.add(RecordMirror.guards(on: collections))
    let snapshot = try database.snapshot(at: .now)
    last = snapshot.sequence
    try router.advance(to: last)
    _ = mailbox.take(upTo: last)
    records = try read(snapshot)
  }

  private static func guards(on collections: [NodePath]) -> [LiveGuard] {
    collections.map { LiveGuard(collection: $0, test: .any) }
  }

  /// Asks for other collections; the mirror knows them as of the moment that it is at.
  func watch(_ other: [NodePath]) {
    questions += 1
    collections = other
    records = (try? read(database.snapshot(at: .sequence(last)))) ?? [:]
    router.replace(RecordMirror.guards(on: collections), of: mailbox)
  }

  func end() { router.remove(mailbox) }

  /// Goes to the newest moment, and compares with the nodes that are there then: a model's, or
  /// those of the database.
  func step(_ model: ((SequenceNumber) -> [NodePath: Tree.Node])? = nil) throws {
    let snapshot = try database.snapshot(at: .now)
    try router.advance(to: snapshot.sequence)
    switch mailbox.take(upTo: snapshot.sequence) {
    case .all:
      runs += 1
      records = try read(snapshot)
    case .changes(let changes): for change in changes { try take(change, try snapshot.names) }
    }
    last = snapshot.sequence
    let expected = try model.map { own($0(last)) } ?? read(snapshot)
    for path in Set(expected.keys).union(records.keys) where expected[path] != records[path] {
      throw Divergence(
        "at \(last), \(path) is \(records[path] as Any), not \(expected[path] as Any)")
    }
  }

  private func take(_ change: NetChange, _ names: Catalog) throws {
    let value = { (record: StoredRecord?) in
      try record?.lend { Value.map(try ValueMap(stored: $0, names)) }
    }
    let path = change.collection.appending(try change.key.lend { try Key($0) })
    let old = try value(change.old)
    if records[path] != old {
      throw Divergence("\(path) was \(records[path] as Any), not \(old as Any)")
    }
    records[path] = try value(change.new)
    changes += 1
  }

  private func own(_ nodes: [NodePath: Tree.Node]) -> [NodePath: Value] {
    nodes.filter { $0.key.parent.map(collections.contains) ?? false }.compactMapValues { node in
      guard let value = node.value, case .map = value else { return nil }
      return value
    }
  }

  private func read(_ snapshot: Snapshot) throws -> [NodePath: Value] {
    var records: [NodePath: Value] = [:]
    for collection in collections {
      try snapshot[collection].children.forEach { node in
        if let value = try node.ownValue, case .map = value { records[node.path] = value }
      }
    }
    return records
  }
}
