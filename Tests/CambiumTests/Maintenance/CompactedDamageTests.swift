// Goal: what compaction leaves is as safe as what it replaced. Method: states are lost, baselines
// and records damaged, compactions left unfinished; then the database is opened again.

import Foundation
import LMDB
import Testing

@testable import Cambium

@Suite("A compacted database")
struct CompactedDamageTests {
  private let place: Place

  init() throws { place = try Place() }

  @Test("makes a baseline from which a state that is lost is made anew")
  func recovery() throws {
    try place.use { database in
      try database.writeCounts(1...50)
      try database.compact(upTo: 30)
      try database.writeCounts(51...55)
    }
    try place.distrust()
    try place.use { database in
      #expect(try database.read { try $0["n/5/count"].value } == 54)
      #expect(try database.read(at: .sequence(30)) { try $0["n/5/count"].value } == 30)
      try expectSound(database)
    }
  }

  @Test("makes a state anew that has fallen behind the baseline")
  func stateBehindBaseline() throws {
    try place.use { try $0.writeCounts(1...20) }
    let file = URL(filePath: "\(place.path)/state-1/data.mdb")
    let old = try Data(contentsOf: file)
    try place.use { database in
      try database.writeCounts(21...50)
      try database.compact(upTo: 30)
    }
    try old.write(to: file)
    let heard = Heard()
    try place.use({ $0.diagnostics = heard.add }) { database in
      #expect(heard.rebuilds.count == 1)
      #expect(try database.head == 50)
      #expect(try database.read { try $0["n/5/count"].value } == 50)
      try expectSound(database)
    }
  }

  /// Compacts fifty transactions up to the thirtieth, and flips bits of a byte of the baseline.
  private func makeDamagedBaseline(_ bits: UInt8, fromTheEnd offset: Int) throws {
    try place.use { database in
      try database.writeCounts(1...50)
      try database.compact(upTo: 30)
    }
    let file = URL(filePath: "\(place.path)/baseline-30/data.mdb")
    var bytes = try Data(contentsOf: file)
    bytes[bytes.count - offset] ^= bits
    try bytes.write(to: file)
  }

  @Test("makes a baseline whose damage is found, by verify and when it is needed")
  func damage() throws {
    try makeDamagedBaseline(1, fromTheEnd: 100)
    try place.use { database in
      let findings = try database.verify().findings
      #expect(findings.contains { "\($0)".contains("baseline") })
      #expect(throws: DatabaseError.self) { try database.rebuild() }
      #expect(try database.read { try $0["n/5/count"].value } == 50)
    }
  }

  @Test("makes a baseline whose damaged pages are named by verify")
  func damagedPage() throws {
    try makeDamagedBaseline(0x40, fromTheEnd: 4096)
    try place.use { database in
      let findings = try database.verify().findings
      #expect(findings.contains { "\($0)".contains("baseline: ") }, "\(findings)")
    }
  }

  @Test("leaves a log that can be repaired", arguments: LogRepair.allCases)
  func repair(by method: LogRepair) throws {
    try place.use { database in
      try database.writeCounts(1...50)
      try database.compact(upTo: 30)
    }
    try place.damageRecord(45)
    #expect(try Database.examineLog(at: place.path).lost.map(\.sequence) == [45])
    let rescued = place.beside("rescued.cambium")
    try Database.repair(place.path, by: method, to: rescued)
    let database = try Database(at: rescued)
    #expect(try database.head == (method == .cut ? 44 : 50))
    #expect(try database.horizon == 30)
    #expect(try database.read(at: .sequence(33)) { try $0["n/5/count"].value } == 33)
    try expectSound(database)
    try database.close()
  }

  @Test("keeps archive, tags and policy in a copy, and in what a repair makes of it")
  func copies() throws {
    try place.use { database in
      try database.writeCounts(1...50)
      try database.tag("middle", at: .sequence(35))
      try database.setRetention(Retention(transactions: 20))
      try database.compact(upTo: 5)
      try database.compact(upTo: 30, archives: true)
      try database.replay(to: place.beside("copy.cambium"))
    }
    try Database.repair(place.path, by: .cut, to: place.beside("repaired.cambium"))
    for name in ["copy", "repaired"] {
      let database = try Database(at: place.beside("\(name).cambium"))
      #expect(try database.horizon == 30)
      #expect(try database.information().archived == 6...30)
      #expect(try database.tags.map(\.sequence) == [35])
      #expect(try database.retention().transactions == 20)
      let old = place.beside("\(name)-old.cambium")
      try database.replay(to: old, until: 10)
      let restored = try Database(at: old)
      #expect(try restored.read { try $0["n/5/count"].value } == 10)
      try expectSound(restored)
      try restored.close()
      try expectSound(database)
      try database.close()
    }
  }

  @Test("that is unfinished can be read without writing")
  func readOnly() throws {
    try place.use { database in
      try database.writeCounts(1...50)
      let steps = Counter()
      _ = caught { try database.compact(upTo: 30) { $0.phase != "cut" || steps.next() > 9 } }
    }
    try place.use({ $0.readOnly = true }) { database in
      #expect(try database.horizon == 30)
      #expect(throws: DatabaseError.compacted(oldest: 30)) {
        _ = try database.snapshot(at: .sequence(9))
      }
      try expectSound(database)
    }
  }
}
