// Goal: a diff looks at what was touched between its moments, and at nothing else. Method: the
// places that it looks at are counted, in databases of different sizes.

import Testing

@testable import Cambium

@Suite("A diff") struct DiffTests {
  @Test("of two near moments looks at what was touched, whatever the size", arguments: [10, 3_000])
  func touched(size: Int64) throws {
    try withDatabase { database in
      try database.write { tx in
        for number in 0..<size { try tx.set(NodePath(keys: ["n", .integer(number)]), to: 0) }
      }
      let before = try database.head
      try database.write { tx in try tx.set("n/3", to: 1) }
      try database.write { tx in
        try tx.set("n/3", to: 2)
        try tx.set("n/7", to: 0)
        try tx.set("n/new", to: 0)
      }
      let after = try database.head
      let places = try TouchedPaths(
        [LogStretch(directory: database.directory, after: before, upTo: after)], under: .root)
      var paths: [NodePath] = []
      while let place = try places.next() { paths.append(place.path) }
      #expect(paths == ["n/3", "n/7", "n/new"])
      #expect(
        try database.diff(from: .sequence(before)).fetch() == [
          Change(path: "n/3", old: 0, new: 2), Change(path: "n/new", old: nil, new: 0),
        ])
    }
  }

  @Test("leaves out what lies in a subtree that was touched as a whole, and tells it once")
  func subtree() throws {
    try withDatabase { database in
      try database.write { tx in
        for path in ["a/1", "a/2", "ab", "b"] as [NodePath] { try tx.set(path, to: 1) }
      }
      let before = try database.head
      try database.write { tx in try tx.set("a/1", to: 2) }
      try database.write { tx in try tx.move("a", to: "c") }
      try database.write { tx in try tx.set("c/2", to: 3) }
      let diff = try database.diff(from: .sequence(before), to: .now)
      #expect(try diff.fetch().map(\.path) == ["a/1", "a/2", "c/1", "c/2"])
      #expect(try diff.fetch().map(\.new) == [nil, nil, 2, 3])
      let back = try database.diff(from: .now, to: .sequence(before), under: "c")
      #expect(try back.fetch().map(\.old) == [2, 3])
    }
  }

  @Test("stays as it was asked for when more is written")
  func fixed() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("a", to: 1) }
      let diff = try database.diff(from: .sequence(.zero))
      try database.write { tx in try tx.set("b", to: 1) }
      #expect(try diff.fetch() == [Change(path: "a", old: nil, new: 1)])
      #expect(throws: DatabaseError.self) { try database.diff(from: .sequence(9)) }
    }
  }
}
