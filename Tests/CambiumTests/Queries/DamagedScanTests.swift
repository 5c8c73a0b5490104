// Goal: a scan reads records ahead of those that are handed out, and still gives those before a
// damaged one, then the error; what lies behind its limit does not count. Method: of one record a
// byte is changed in the state's file.

import Foundation
import Testing

@testable import Cambium

@Suite("A scan that comes to a damaged record")
struct DamagedScanTests {
  private static let count = 300

  @Test("gives those before it, and then the error", arguments: [1, 2, 5, 40, 299], [true, false])
  func damaged(before: Int, isReversed: Bool) throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/database"
    try fill(path)
    let number = isReversed ? Self.count - 1 - before : before
    try damage(name(number), in: URL(filePath: "\(path)/state-1/data.mdb"))
    var options = Database.Options()
    options.scrubBytesPerSecond = 0
    let database = try Database(at: path, options: options)
    let snapshot = try database.snapshot()
    try checkChildren(snapshot, before, isReversed)
    for text in ["", " where size >= 0", " where not name = \"x\" and size < 1000"] {
      let text = "items\(text)"
      let order = isReversed ? " sort -id" : ""
      let limited = try count(snapshot.records("\(text)\(order) limit \(before)"))
      let all = try count(snapshot.records("\(text)\(order)"))
      #expect(limited == before, "\(text)")
      #expect(all == ~before, "\(text)")
      #expect(throws: DatabaseError.self) { try snapshot.records("\(text) | sum(size)").fetch() }
    }
  }

  private func checkChildren(_ snapshot: Snapshot, _ before: Int, _ isReversed: Bool) throws {
    let children = isReversed ? snapshot["items"].children.reversed() : snapshot["items"].children
    for (children, count) in [(children.limit(before), before), (children, ~before)] {
      var sizes: [Value?] = []
      let found = try counted { count in
        try children.forEach("size") { size in
          sizes.append(size)
          count += 1
        }
      }
      #expect(found == count)
      #expect(sizes == expected(before, isReversed))
    }
  }

  private func count(_ query: DynamicQuery) throws -> Int {
    try counted { count in try query.forEach { _ in count += 1 } }
  }

  /// The number of elements that a walk hands out; its complement where it ends with damage.
  private func counted(_ walk: (inout Int) throws -> Void) throws -> Int {
    var count = 0
    do {
      try walk(&count)
      return count
    } catch DatabaseError.corrupt {
      return ~count
    }
  }

  private func expected(_ count: Int, _ isReversed: Bool) -> [Value?] {
    (0..<count).map { .integer(Int64(isReversed ? Self.count - 1 - $0 : $0)) }
  }

  private func name(_ number: Int) -> String { "the name of \(1000 + number)" }

  private func fill(_ path: String) throws {
    let database = try Database(at: path)
    try database.write { tx in
      for number in 0..<Self.count {
        let key = NodePath(keys: ["items", .integer(Int64(number))])
        try tx.set(key, to: ["name": .string(name(number)), "size": .integer(Int64(number))])
      }
    }
    try database.close()
  }

  /// Changes a text wherever it is in a file.
  private func damage(_ text: String, in file: URL) throws {
    var bytes = try Data(contentsOf: file)
    var (start, found) = (bytes.startIndex, 0)
    while let range = bytes.range(of: Data(text.utf8), in: start..<bytes.endIndex) {
      bytes[range.lowerBound] ^= 1
      start = range.upperBound
      found += 1
    }
    try #require(found > 0)
    try bytes.write(to: file)
  }
}
