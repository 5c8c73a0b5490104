// The scrub finds damage that reading has not reached yet, and repairs what the log can repair.

import Foundation
import LMDB
import Testing

@testable import Cambium

@Suite("The scrub", .timeLimit(.minutes(1)))
struct ScrubTests {
  private let place: Place
  private let heard = Heard()

  init() throws {
    place = try Place()
    try place.fill(300)
  }

  @Test("reads all of a sound database, and says so")
  func sound() throws {
    try place.use { database in
      #expect(try database.information().lastScrub == nil)
      let report = try database.scrub()
      #expect(report.isSound)
      #expect(report.bytes >= 4096 * 10)
      #expect(try database.information().lastScrub == report)
    }
    let last = try place.use { try $0.information().lastScrub }
    #expect(last?.isSound == true)
    try place.expectSound()
  }

  @Test("makes a damaged state anew")
  func state() throws {
    try place.editState { transaction, tables in
      // A value that its checksum was not made for, as a changed byte leaves it.
      let plain = tables.counts.sealed(.none)
      let key: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1]
      let value = [UInt8](repeating: 7, count: 12)
      try key.lend { key in try value.lend { try transaction.put(plain, key, $0) } }
    }
    try place.use({ $0.diagnostics = heard.add }) { database in
      #expect(throws: DatabaseError.self) { try database.read { try $0.root.childCount } }
      let report = try database.scrub()
      #expect(report.stateDamage.count == 1)
      #expect(report.logDamage.isEmpty)
      #expect(heard.rebuilds.count == 1)
      #expect(try database.read { try $0["n"].childCount } == 300)
      #expect(try database.scrub().isSound)
    }
    try place.expectSound()
  }

  @Test("names a damaged record of the log, and leaves the state as it is")
  func log() throws {
    try place.damageRecord(17)
    try place.use({ $0.diagnostics = heard.add }) { database in
      let report = try database.scrub()
      #expect(report.stateDamage.isEmpty)
      #expect(report.logDamage.count == 1)
      #expect(report.logDamage.first?.hasPrefix("record 17:") == true)
      #expect(try database.read { try $0["n/17"].value } == 17)
      #expect(try !database.verify().isSound)
    }
  }

  @Test("goes on where it was, by and by, also after opening anew")
  func stretches() throws {
    var steps = 0
    var isOver = false
    while !isOver {
      try place.use { database in
        var place = ScrubPlace.read(database.directory)
        isOver = try database.scrubbing.step(&place, budget: 4096)
        try place.write(database.directory)
        #expect(ScrubPlace.read(database.directory) == place)
      }
      steps += 1
      try #require(steps < 1000)
    }
    #expect(steps > 15)
    let last = try place.use { try $0.information().lastScrub }
    #expect(last?.isSound == true)
    try place.expectSound()
  }

  @Test("goes on in the background")
  func background() throws {
    try place.use({ $0.scrubPause = (.milliseconds(1), .milliseconds(1)) }) { database in
      let end = ContinuousClock.now + .seconds(20)
      while try database.information().lastScrub == nil, ContinuousClock.now < end { usleep(1000) }
      #expect(try database.information().lastScrub?.isSound == true)
    }
    try place.expectSound()
  }
}
