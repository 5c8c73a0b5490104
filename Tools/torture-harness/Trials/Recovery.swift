import Cambium
import FoundationEssentials
import Synchronization

/// Measures the opening of a large database after a loss of power, starting from its checkpoint.
///
/// One process fills it and ends without closing, as a crash does; the next opens it as after
/// another system start, so that its state is not trusted.
struct Recovery {
  let path: String

  private static let transactions: Int64 = 2_000
  private static let nodesEach: Int64 = 1_000

  func fill() throws {
    let database = try Database(at: path)
    for number in 0..<Recovery.transactions {
      try database.write { tx in
        for index in 0..<Recovery.nodesEach {
          let path = NodePath(keys: ["n", .integer(number), .integer(index)])
          try tx.set(path, to: Recovery.node(number, index))
        }
      }
    }
    database.finishCheckpoint()
    System.die()
  }

  /// As large as a row of a usual table.
  private static func node(_ transaction: Int64, _ index: Int64) -> Value {
    [
      "origin": .string("made by transaction \(transaction)"), "name": .string("node \(index)"),
      "number": .integer(index), "weight": .integer(transaction * index), "isKnown": true,
    ]
  }

  /// Opens it, and prints the time that this took.
  func measure() throws {
    let rebuilds = Mutex<[String]>([])
    var options = Database.Options()
    options.systemStart = Setting.laterStart
    options.diagnostics = { diagnostic in
      if case .stateRebuilt(let reason) = diagnostic { rebuilds.withLock { $0.append(reason) } }
    }
    let start = ContinuousClock.now
    let database = try Database(at: path, options: options)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let checkpoint = try database.information().checkpoint
    try demand(rebuilds.withLock(\.count) == 1, "the state was trusted after a loss of power")
    try demand(checkpoint != nil, "there is no checkpoint")
    let head = try database.head
    try demand(head.rawValue == UInt64(Recovery.transactions), "the head is \(head)")
    let last = try database.read { try $0[NodePath(keys: ["n", .integer(1_999)])].childCount }
    try demand(last == Int(Recovery.nodesEach), "the last transaction left \(last) nodes")
    let tenths = Int((seconds * 10).rounded())
    let from = checkpoint?.sequence ?? .zero
    System.tell("\(tenths / 10).\(tenths % 10) s, from the checkpoint of transaction \(from)")
    try database.close()
  }
}
