import Dispatch
import Foundation
import Testing

@testable import Cambium

@Suite("A transaction")
struct TransactionTests {
  private struct Abandoned: Error, Equatable {}

  @Test("reads what it has written, and nobody else does before it ends")
  func ownWrites() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("a/old", to: 1) }
      let before = try database.snapshot()
      try database.write { tx in
        try tx.set("a/new", to: ["name": "x"])
        try tx.remove("a/old")
        try tx.increment("a", by: 3)
        #expect(try tx["a/new"]["name"] == "x")
        #expect(try tx["a"].value == 3)
        #expect(try tx["a"].childCount == 1)
        #expect(try tx["a"].modified == tx.sequence)
        #expect(try tx["a"].children.keys() == ["new"])
        #expect(try tx[.root].rows().map(\.path) == ["a", "a/new"])
        #expect(try database.snapshot().root.rows() == before.root.rows())
      }
      #expect(try database.read { try $0.root.rows().map(\.path) } == ["a", "a/new"])
    }
  }

  @Test("leaves nothing when its body throws, in memory either")
  func thrown() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("a", to: ["name": 1]) }
      let (before, information) = (try database.snapshot().root.rows(), try database.information())
      #expect(throws: Abandoned()) {
        try database.write { tx in
          try tx.set("b/c", to: ["a new name": 1])
          try tx.remove("a")
          try tx.event("told")
          try tx.advance("consumer", to: 1)
          throw Abandoned()
        }
      }
      #expect(try database.head == 1)
      #expect(try database.snapshot().root.rows() == before)
      #expect(try database.information().names == information.names)
      #expect(try database.information().nodes == information.nodes)
      #expect(try database.consumer("consumer").position() == 0)
      // The number and the name are free for the next.
      try database.write { tx in
        #expect(tx.sequence == 2)
        try tx.set("c", to: ["a new name": 2])
      }
      #expect(try database.read { try $0["c"]["a new name"] } == 2)
    }
  }

  @Test("that removes what is not there says so, and logs nothing")
  func removingNothing() throws {
    try withDatabase { database in
      try database.write { tx in
        try tx.set("a/b", to: ["name": "x"])
        try tx.set("plain", to: 1)
      }
      let head = try database.head
      try database.write { tx in
        let paths: [NodePath] = [
          "c", "c/d/e", "a/c", "a/b/c", "plain/c", "a/b/name/c", NodePath(keys: [.text("")]),
        ]
        for path in paths {
          let isRemoved = try tx.remove(path)
          #expect(!isRemoved, "\(path)")
        }
        #expect(throws: DatabaseError.self) { try tx.remove(.root) }
      }
      #expect(try database.head == head)
      try database.write { tx in
        let paths: [NodePath] = ["a/b/name", "a/b/name", "a/b", "a/b"]
        let areRemoved = try paths.map { try tx.remove($0) }
        #expect(areRemoved == [true, false, true, false])
      }
      #expect(try database.read { try $0.root.rows().map(\.path) } == ["a", "plain"])
    }
  }

  @Test("without an operation takes no place in the log")
  func empty() throws {
    try withDatabase { database in
      try database.write(metadata: ["who": "nobody"]) { tx in _ = try tx["a"].exists }
      let wasThere = try database.write { tx in try tx.remove("nothing") }
      #expect(!wasThere)
      #expect(try database.head == 0)
    }
  }

  @Test("inside another is refused instead of waiting for itself")
  func nested() throws {
    try withDatabase { database in
      try database.write { tx in
        try tx.set("a", to: 1)
        for misuse in [
          { try database.write { tx in try tx.set("b", to: 1) } }, { try database.rebuild() },
          { _ = try database.store(Data([1])) },
        ] {
          let error = #expect(throws: DatabaseError.self) { try misuse() }
          guard case .misuse(let reason)? = error else {
            Issue.record("\(String(describing: error))")
            continue
          }
          #expect(reason.contains("inside write"))
        }
      }
      #expect(try database.read { try $0.root.rows().map(\.path) } == ["a"])
    }
  }

  @Test("inside an async one is refused, too")
  func nestedInAsync() async throws {
    try await withDatabase { database in
      let error = await #expect(throws: DatabaseError.self) {
        try await database.write { tx in
          try database.write { tx in try tx.set("b", to: 1) }
        }
      }
      guard case .misuse? = error else { throw Abandoned() }
      #expect(try database.head == 0)
    }
  }

  @Test("that expects a head fails when another came between")
  func expectedHead() async throws {
    try await withDatabase { database in
      try await database.write(expecting: 0) { tx in try tx.set("a", to: 1) }
      let conflict = DatabaseError.conflict(.root, expected: 0, found: 1)
      await #expect(throws: conflict) {
        try await database.write(expecting: 0) { tx in try tx.set("a", to: 2) }
      }
      try await database.write(expecting: 1) { tx in try tx.set("a", to: 3) }
      #expect(try database.read { try $0["a"].value } == 3)
    }
  }

  @Test("that expects a node as it was seen fails when it has changed since")
  func expectedNode() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("a", to: 1) }
      try database.write { tx in try tx.set("b", to: 1) }
      try database.write { tx in
        try tx.expect("a", at: 1)
        try tx.expect("b", at: 2)
        try tx.expect("c", at: 0)
        try tx.set("a", to: 2)
        try tx.expect("a", at: tx.sequence)
      }
      #expect(throws: DatabaseError.conflict("a", expected: 1, found: 3)) {
        try database.write { tx in
          try tx.set("b", to: 2)
          try tx.expect("a", at: 1)
        }
      }
      #expect(try database.read { try $0["b"].value } == 1)
    }
  }

  @Test("over the limit is refused and leaves nothing")
  func tooLarge() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("a", to: 1) }
      let mebibyte = Value.data(Data(count: Value.bytesMax - 100))
      let error = #expect(throws: DatabaseError.self) {
        try database.write { tx in
          for number in 0..<100 { try tx.set(NodePath("big/\(number)"), to: mebibyte) }
        }
      }
      guard case .transactionTooLarge(let bytes, let limit)? = error else { throw Abandoned() }
      #expect(bytes > limit)
      #expect(try database.head == 1)
      #expect(try database.read { try $0.root.rows().map(\.path) } == ["a"])
    }
  }

  @Test("over the limit is refused even when its body goes on")
  func tooLargeAndCaught() throws {
    try withDatabase { database in
      let mebibyte = Value.data(Data(count: Value.bytesMax - 100))
      #expect(throws: DatabaseError.self) {
        try database.write { tx in
          for number in 0..<66 { try? tx.set(NodePath("big/\(number)"), to: mebibyte) }
        }
      }
      let head = try database.head
      #expect(head == 0)
    }
  }

  @Test("refuses a value over the limit, and goes on")
  func valueTooLarge() throws {
    try withDatabase { database in
      let data = Value.data(Data(count: Value.bytesMax))
      try database.write { tx in
        let error = #expect(throws: DatabaseError.self) { try tx.set("a", to: data) }
        #expect(error.flatMap { Refusal($0) } == .badValue)
        try tx.set("b", to: ["name": 1])
        #expect(throws: DatabaseError.self) { try tx.update("b", ["other": data]) }
        #expect(throws: DatabaseError.self) { try tx.append(data, to: "c") }
        #expect(try tx["b"].value == ["name": 1])
      }
      #expect(try database.read { try $0.root.rows().map(\.path) } == ["b"])
    }
  }
}

@Suite("A savepoint")
struct SavepointTests {
  private struct Abandoned: Error {}

  @Test("that fails undoes its part, and only that")
  func undone() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("gone", to: 1) }
      try database.write { tx in
        try tx.set("a", to: 1)
        do {
          try tx.attempt {
            try tx.set("b", to: ["a new name": 1])
            try tx.remove("gone")
            try tx.event("told")
            try tx.advance("consumer", to: 1)
            tx.annotate("why", "told")
            throw Abandoned()
          }
        } catch is Abandoned {}
        #expect(try tx[.root].rows().map(\.path) == ["a", "gone"])
        try tx.attempt { try tx.set("c", to: 1) }
      }
      let commit = try database.commit(2)
      #expect(commit.operationCount == 2)
      #expect(commit.metadata.isEmpty)
      #expect(commit.events.isEmpty)
      #expect(try database.consumer("consumer").position() == 0)
      #expect(try database.read { try $0.root.rows().map(\.path) } == ["a", "c", "gone"])
    }
  }

  @Test("inside another is undone with it")
  func nested() throws {
    try withDatabase { database in
      try database.write { tx in
        try? tx.attempt {
          try tx.attempt { try tx.set("a", to: 1) }
          try? tx.attempt {
            try tx.set("b", to: 1)
            throw Abandoned()
          }
          #expect(try tx[.root].rows().map(\.path) == ["a"])
          throw Abandoned()
        }
        #expect(try tx[.root].rows().isEmpty)
        let result = try tx.attempt {
          try tx.attempt {
            try tx.increment("n", by: 1); return 5
          }
        }
        #expect(result == 5)
      }
      #expect(try database.read { try $0.root.rows().map(\.path) } == ["n"])
    }
  }

  @Test("may be made for each child of a walk")
  func insideWalk() throws {
    try withDatabase { database in
      try database.write { tx in for number in 0..<10 { try tx.set(NodePath("a/\(number)"), to: 0) }
      }
      try database.write { tx in
        try tx["a"].children.forEach { child in
          try? tx.attempt {
            try tx.increment(child.path, by: 1)
            if child.key == 3 { throw Abandoned() }
          }
        }
        var children = try tx["a"].children.makeCursor()
        _ = try children.next()
        let second = try tx.attempt { try children.next()?.key }
        #expect(second == 1)
      }
      let values = try database.read { try $0["a"].children.fetch().map { try $0.value } }
      #expect(values == [1, 1, 1, 0, 1, 1, 1, 1, 1, 1])
    }
  }
}

@Suite("What escapes from a transaction")
struct EscapeTests {
  private func expectMisuse(_ body: () throws -> Void) {
    let error = #expect(throws: DatabaseError.self) { try body() }
    guard case .misuse(let reason)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.contains("the transaction has ended"))
  }

  @Test("cannot be read any more, and says so")
  func node() throws {
    try withDatabase { database in
      let node = try database.write { tx in
        try tx.set("a/b", to: 1)
        return tx["a"]
      }
      func expectEnded() {
        expectMisuse { _ = try node.value }
        expectMisuse { _ = try node.childCount }
        expectMisuse { _ = try node["name"] }
        expectMisuse { _ = try node.children.fetch() }
        expectMisuse { _ = try node.descendants() }
      }
      expectEnded()
      try database.write { tx in
        try tx.set("c", to: 1)
        expectEnded()
      }
    }
  }

  @Test("cannot be read on another thread while the transaction runs")
  func otherThread() throws {
    try withDatabase { database in
      try database.write { tx in
        try tx.set("a", to: 1)
        let node = tx["a"]
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          expectMisuse { _ = try node.value }
          done.signal()
        }
        done.wait()
      }
    }
  }

  @Test("may be a walk over children, which ends with an error")
  func cursor() throws {
    try withDatabase { database in
      try database.write { tx in for number in 0..<10 { try tx.set(NodePath("a/\(number)"), to: 0) }
      }
      var children: ChildCursor?
      var descendants: DescendantCursor?
      try database.write { tx in
        children = try tx["a"].children.makeCursor()
        descendants = try tx["a"].descendants()
        #expect(try children?.next()?.key == 0)
        #expect(try descendants?.next()?.key == "a")
        #expect(try descendants?.next()?.key == 0)
        try tx.set("b", to: 1)
      }
      expectMisuse { _ = try children?.next() }
      expectMisuse { _ = try descendants?.next() }
      children = nil
      descendants = nil
      try database.write { tx in try tx.set("c", to: 1) }
    }
  }
}
