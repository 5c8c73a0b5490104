import FoundationEssentials
import Testing

@testable import Cambium

@Suite("Generated identifiers")
struct UniqueIdentifierTests {
  private static func bytes(_ uuid: UUID) -> [UInt8] {
    KeyTests.stored(.uuid(uuid)).dropFirst().map { $0 }
  }

  @Test("each sort after the one before, in a hundred thousand")
  func increase() {
    var last = UniqueIdentifiers.shared.next()
    for _ in 0..<100_000 {
      let next = UniqueIdentifiers.shared.next()
      guard last < next else {
        Issue.record("\(next) follows \(last)")
        return
      }
      last = next
    }
  }

  @Test("are of version 7 and the variant of RFC 9562, and say the time")
  func fields() throws {
    let before = UInt64(WallClock.microseconds() / 1000)
    // A fresh generator, since the shared one runs ahead of the clock where many are made at once.
    let identifiers = UniqueIdentifiers()
    let all = (0..<1_000).map { _ in Self.bytes(identifiers.next()) }
    let after = UInt64(WallClock.microseconds() / 1000)
    for bytes in all {
      #expect(bytes[6] >> 4 == 7 && bytes[8] >> 6 == 0b10)
    }
    let milliseconds = try #require(all.first)[..<6].reduce(0) { $0 << 8 | UInt64($1) }
    #expect((before...after).contains(milliseconds))
    let random = Set(all.map { Array($0[8...]) })
    #expect(random.count == all.count)
  }

  @Test("go into the next millisecond when a millisecond's counter is used up")
  func overflow() {
    let identifiers = UniqueIdentifiers()
    var last = identifiers.next()
    var milliseconds: Set<[UInt8]> = []
    // More than a counter of 12 bits has room for, far faster than a millisecond each.
    for _ in 0..<20_000 {
      let next = identifiers.next()
      #expect(last < next)
      milliseconds.insert(Array(Self.bytes(next)[..<6]))
      last = next
    }
    #expect(milliseconds.count >= 4)
  }

  @Test("are unique across threads, and increase on each")
  func threads() async {
    let lists = await withTaskGroup(of: [UUID].self) { group in
      for _ in 0..<4 {
        group.addTask { (0..<25_000).map { _ in UniqueIdentifiers.shared.next() } }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    for list in lists {
      #expect(zip(list, list.dropFirst()).allSatisfy { $0 < $1 })
    }
    #expect(Set(lists.joined()).count == 100_000)
  }

  @Test("are keys that sort in the order of their making")
  func keys() throws {
    let keys = (0..<1_000).map { _ in Key.unique() }
    #expect(keys.sorted() == keys)
    for key in keys.prefix(10) { #expect(try Key(key.description) == key) }
  }
}
