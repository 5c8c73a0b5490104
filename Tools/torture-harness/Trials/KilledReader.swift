import Cambium
import FoundationEssentials
import LMDB

/// A process that is killed while it holds a snapshot must not keep pages alive: after the next
/// opening, by any process, what is superseded is used again.
struct KilledReader {
  let setting: Setting

  private static let writes = 200
  private static let growthMax: UInt64 = 1 << 20

  func check() throws {
    let run = try RecordedRun(setting, in: "\(setting.directory)/reader")
    let database = try Database(at: run.database, options: .roomy)
    try database.write { tx in
      for number in 0..<200 { try tx.set(KilledReader.path(number), to: .integer(0)) }
    }
    try run.run("hold", endingWith: .killed(9))
    try run.run("recover", endingWith: .exited(0))
    let before = try database.information().stateBytes
    for number in 0..<KilledReader.writes {
      try database.write { tx in try tx.set("n/7", to: .integer(Int64(number))) }
      // A reader after each, so that none of them is deferred.
      _ = try database.head
    }
    let growth = try database.information().stateBytes - before
    try demand(
      growth < KilledReader.growthMax, "a killed reader keeps pages: \(growth) bytes were added")
    try Checker(script: setting.script).demandSound(database)
    try database.close()
  }

  private static func path(_ number: Int) -> NodePath {
    NodePath(keys: ["n", .integer(Int64(number))])
  }

  /// Holds a snapshot until the end, which comes at once.
  static func hold(_ path: String) throws {
    let database = try Database(at: path, options: .roomy)
    let snapshot = try database.snapshot()
    try demand(snapshot.sequence == 1, "the snapshot is of \(snapshot.sequence)")
    System.die()
    withExtendedLifetime(snapshot) {}
  }
}
