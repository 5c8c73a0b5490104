// Goal: damaged bytes give an error or a value, never a trap, and always an error where there is a
// checksum. Method: each byte of a set of stored things changed in two ways, each length cut, then
// several bytes changed at random. A trap would end the test's process.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("Damaged bytes")
struct DamageTests {
  @Test("give an error or a value, whichever byte is wrong", arguments: StoredThing.all)
  func singleBytes(_ thing: StoredThing) throws {
    try thing.read(thing.bytes)
    for index in thing.bytes.indices {
      for mask in [0x01, 0x80, 0xFF] as [UInt8] {
        thing.expectNoTrap(thing.bytes.changing(index, by: mask), "byte \(index) ^ \(mask)")
      }
    }
  }

  @Test("give an error or a value, wherever they end", arguments: StoredThing.all)
  func truncations(_ thing: StoredThing) {
    for count in thing.bytes.indices {
      thing.expectNoTrap(Array(thing.bytes[..<count]), "cut to \(count)")
    }
    for more in [[0], [0xFF], [UInt8](repeating: 1, count: 9)] as [[UInt8]] {
      thing.expectNoTrap(thing.bytes + more, "followed by \(more)")
    }
  }

  @Test("give an error or a value, however many are wrong", arguments: FormatSeeds.first(4))
  func manyBytes(seed: UInt64) {
    var random = FormatRandom(seed: seed)
    for thing in StoredThing.all {
      for round in 0..<60 {
        var bytes = thing.bytes
        for _ in 0..<(2 + random.below(8)) {
          let place = random.below(bytes.count)
          switch random.below(3) {
          case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
          case 1: bytes[place] = random.pick([0, 1, 0x7F, 0x80, 0xFF])
          default: bytes.insert(contentsOf: random.bytes(random.below(4)), at: place)
          }
        }
        if bytes == thing.bytes { continue }
        thing.expectNoTrap(bytes, "seed \(seed), round \(round)")
      }
    }
  }

  @Test("of any content are no trap", arguments: FormatSeeds.first(4))
  func noise(seed: UInt64) {
    var random = FormatRandom(seed: 1_000 + seed)
    for thing in StoredThing.all {
      for round in 0..<60 {
        var bytes = random.bytes(random.length(upTo: 200))
        // The first bytes often say what a thing is, and noise after them reaches more code.
        bytes = Array(thing.bytes.prefix(random.below(12))) + bytes
        thing.expectNoTrap(bytes, "noise, seed \(seed), round \(round)")
      }
    }
  }
}
