import Cambium
import FoundationEssentials

/// The circumstances of a call that answers a request: it works on a database that is open, for
/// somebody who may see only a part of it, and there is neither a terminal nor an environment.
struct Served: Sendable {
  let database: Database
  /// The node at and below which the caller may look.
  let scope: NodePath
  /// The bytes that a command line would read from standard input.
  let body: [UInt8]
  /// The number of rows after which a list ends, with the place where it goes on; nil for all.
  let pageSize: Int?
  /// True once nobody waits for the answer any more.
  let isAbandoned: @Sendable () -> Bool
  /// Hears how far long work is.
  let progress: (@Sendable (WorkProgress) -> Void)?
  /// Keeps the answer with the transaction that it tells of; nil if the request may be made again.
  var keeping: (any CommandKeeping)?

  /// The call that the task makes; nil on a command line.
  @TaskLocal static var current: Served?

  /// True in a call for somebody who may not see everything.
  static var isPartial: Bool { current.map { !$0.scope.isRoot } ?? false }

  /// The name of the database in messages, which do not name folders of the server.
  static let databaseName = "DB"

  /// The surroundings in which a request is read. Paths that are left out are the scope.
  var here: Surroundings { Served.here(scope) }

  static func here(_ scope: NodePath) -> Surroundings {
    let environment = scope.isRoot ? [:] : ["CAMBIUM_NODE": "/" + scope.description]
    return Surroundings(
      environment: environment, now: Date(), zone: .utc, holdsDatabase: { _ in false })
  }
}

extension Call {
  /// The node at and below which the caller may look; the root on a command line.
  var scope: NodePath { served?.scope ?? .root }

  /// True if the caller may not see everything.
  var isScoped: Bool { !scope.isRoot }

  /// Standard input; for a request, its body.
  func standardInput() throws -> ByteSource {
    if let served { return ByteSource(bytes: served.body, name: inputName) }
    return try ByteSource.standardInput()
  }

  /// The name of that in messages.
  var inputName: String { served == nil ? "standard input" : "body" }
}

/// The limits of a caller with a scope.
extension Call {
  /// Refuses a query whose answer depends on records outside of the scope.
  ///
  /// - Throws: ``Failure``, also where the query cannot be understood without them.
  func check(_ query: DynamicQuery) throws {
    guard isScoped else { return }
    guard query.collection.isWithin(scope), let reach = try? query.reach(), !reach.isOpen,
      reach.collections.allSatisfy({ $0.isWithin(scope) })
    else {
      throw Failure.outOfScope("what this query depends on")
    }
  }

  /// Refuses a transaction that changes something outside of the scope, as where records refer to
  /// those that it removes.
  func check(_ tx: borrowing Database.Transaction) throws {
    guard isScoped else { return }
    let scope = scope
    try tx.changesSoFar().forEach { change in
      if !change.path.isWithin(scope) { throw Failure.outOfScope("a consequence of this") }
    }
  }

  /// The transaction as the caller may see it: with the changes within the scope alone.
  ///
  /// - Throws: ``Failure``, where there are none.
  func visible(_ commit: Commit, _ database: Database) throws -> Commit {
    guard isScoped else { return commit }
    let stretch = try LogStretch(
      database, under: scope, since: .sequence(commit.sequence.previous.rawValue),
      until: .sequence(commit.sequence.rawValue), isStrict: true)
    var visible: Commit?
    try stretch.forEach {
      visible = $0
      return false
    }
    if let visible { return visible }
    throw Failure(
      .missing, "not_found", "transaction \(commit.sequence) changed nothing that you may see")
  }
}

extension ScriptedTransaction {
  /// Refuses a transaction that reaches outside of the caller's scope.
  func check(_ call: Call) throws {
    guard call.isScoped else { return }
    for operation in operations where !operation.paths.allSatisfy({ $0.isWithin(call.scope) }) {
      throw Failure.outOfScope("what is to be changed")
    }
    for change in changes where !change.path.isWithin(call.scope) {
      throw Failure.outOfScope("what is to be changed")
    }
  }
}

extension ScriptedTransaction.Operation {
  /// The nodes that it names; the root for what concerns the whole database.
  fileprivate var paths: [NodePath] {
    switch self {
    case .set(let path, _), .clear(let path), .update(let path, _), .change(let path, _, _),
      .remove(let path), .restore(let path, _), .expect(let path, _):
      [path]
    case .move(let path, let target): [path, target]
    case .event, .define, .declare: [.root]
    }
  }
}
