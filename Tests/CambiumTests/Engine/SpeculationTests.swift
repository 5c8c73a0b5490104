import Dispatch
import Foundation
import Synchronization
import Testing

@testable import Cambium

@Suite("A speculation")
struct SpeculationTests {
  private struct Planted: Error {}

  private func users(_ count: Int) -> (borrowing Database.Transaction) throws -> Void {
    { tx in
      for number in 0..<count {
        try tx.set(NodePath(keys: ["users", .integer(Int64(number))]), to: ["name": "x"])
      }
    }
  }

  @Test("lends what the transaction would leave, and returns what it is read for")
  func reading() throws {
    try withDatabase { database in
      try database.write { try $0.set("users/ada", to: ["name": "Ada"]) }
      let found = try database.speculate(actor: "ada") { tx in
        try tx.set("users/bob", to: ["name": "Bob"])
        try tx.event("told", 7)
        tx.annotate("reason", "why not")
        return tx.sequence
      } reading: { after in
        #expect(after.sequence == 2 && after.result == 2)
        #expect(after.metadata == ["actor": "ada", "reason": "why not"])
        #expect(try after["users/bob"]["name"] == "Bob")
        #expect(try after["users/bob"].modified == 2)
        #expect(try after.events == [Event(name: "told", payload: 7)])
        #expect(
          try after.changes.fetch()
            == [Change(path: "users/bob", old: nil, new: ["name": "Bob"])])
        return try after["users"].childCount
      }
      #expect(found == 2)
      #expect(try database.speculate { tx in try tx["users"].childCount } == 1)
      #expect(try database.read { try $0["users"].childCount } == 1)
      try database.write { tx in #expect(tx.sequence == 2) }
    }
  }

  @Test("is over when the call returns")
  func over() throws {
    try withDatabase { database in
      try database.write { try $0.set("a", to: 1) }
      for moment in [.now, .sequence(0)] as [Moment] {
        let kept = try database.speculate(at: moment) {
          try $0.set("b", to: 1)
        } reading: {
          $0
        }
        #expect(throws: DatabaseError.self) { _ = try kept["b"].value }
        #expect(throws: DatabaseError.self) { _ = try kept.changes }
        #expect(throws: DatabaseError.self) { _ = try kept.operations() }
        #expect(throws: DatabaseError.self) { _ = try kept.readingSnapshot() }
      }
    }
  }

  @Test("leaves nothing in the log, and tells nobody", arguments: [10, 20_000])
  func traces(count: Int) throws {
    let place = try Place()
    try place.use { try $0.write(self.users(5)) }
    let (names, log) = (try place.names, try Data(at: place.log))
    let told = Mutex(0)
    try place.use { database in
      let observer = database.directory.feed.observers.observe { _ in told.withLock { $0 += 1 } }
      defer { database.directory.feed.observers.stop(observer) }
      let (commits, blob) = (try database.logCommits, Blob(text: "a staged blob"))
      for moment in [.now, .sequence(0)] as [Moment] {
        let (children, content) = try database.speculate(at: moment) { tx in
          try users(count)(tx)
          try tx.set("file", to: .blob(try tx.store(Data("a staged blob".utf8))))
          try tx.advance("consumer", to: 1)
          try tx.running.keep { told.withLock { $0 += 1 } }
        } reading: { after in
          (try after["users"].childCount, try after.snapshot.read(blob))
        }
        #expect(children == count && content == Data("a staged blob".utf8))
      }
      #expect(try database.head == 1 && database.logCommits == commits)
      #expect(try database.consumer("consumer").position() == 0)
      #expect(throws: DatabaseError.self) { try database.snapshot().read(blob) }
      #expect(database.directory.feed.applied == 1)
    }
    #expect(told.withLock { $0 } == 0)
    #expect(try Data(at: place.log) == log)
    #expect(try place.names == names)
    try place.expectSound()
  }

  @Test("leaves log and state byte for byte as they were")
  func bytes() throws {
    let place = try Place()
    try place.use { try $0.write(self.users(500)) }
    let (log, state) = (try Data(at: place.log), try Data(at: place.state))
    try place.use { database in
      for moment in [.now, .sequence(0)] as [Moment] {
        try database.speculate(at: moment) { tx in
          try tx.remove("users")
          try users(100)(tx)
        }
      }
    }
    #expect(try Data(at: place.log) == log)
    #expect(try Data(at: place.state) == state)
    try place.expectSound()
  }

  @Test("does not change the records that are written after it")
  func reproducible() throws {
    var logs: [[[UInt8]]] = []
    for speculates in [false, true] {
      try withDatabase({ $0.makeReproducible(seed: 7) }) { database in
        for number in 0..<5 {
          if speculates { try database.speculate(users(number)) }
          try database.write { try $0.increment("n", by: 1) }
        }
        logs.append(
          try (1...5).map { number in
            try database.directory.log.read { try $0.record(SequenceNumber(UInt64(number))).link }
          })
      }
    }
    #expect(logs[0] == logs[1])
  }

  @Test("throws what its body throws, and what the write would be refused for")
  func errors() throws {
    try withDatabase { database in
      try database.register(Airline.self, Airport.self, Flight.self)
      let (jfk, ua, id) = (Airport.ID("JFK"), Airline.ID("UA"), Flight.ID(UUID()))
      try database.write { tx in
        try tx.insert(Airport(id: jfk, name: "Kennedy"))
        try tx.insert(Airline(id: ua, name: "United"))
        try tx.insert(Flight(carrier: ua, origin: jfk, number: 1))
      }
      let bodies: [(borrowing Database.Transaction) throws -> Void] = [
        { _ in throw Planted() }, { try $0.delete(jfk) },
        { try $0.insert(Flight(id: id, carrier: ua, origin: jfk, number: 1)) },
        { try $0.insert(Flight(id: id, origin: jfk, number: -1)) },
        { try $0.insert(Airline(id: ua)) },
        { try $0.insert(Flight(id: id, number: 2)) }, { try $0.set("", to: 1) },
      ]
      for body in bodies {
        let written = #expect(throws: (any Error).self) { try database.write(body) }
        let speculated = #expect(throws: (any Error).self) { try database.speculate(body) }
        #expect("\(try #require(speculated))" == "\(try #require(written))")
        #expect(throws: (any Error).self) { try database.speculate(at: .sequence(2), body) }
      }
      #expect(throws: Planted.self) {
        try database.speculate { _ in
        } reading: { _ in
          throw Planted()
        }
      }
      let head = try database.head
      #expect(throws: DatabaseError.conflict(.root, expected: 1, found: head)) {
        try database.speculate(expecting: 1) { _ in }
      }
      #expect(throws: DatabaseError.self) { try database.speculate(at: .sequence(99)) { _ in } }
      let after = try database.speculate {
        try $0.delete(ua)
      } reading: { after in
        #expect(try after.find(ua) == nil)
        #expect(
          try after.changes(of: Flight.self).map { [$0.old?.carrier, $0.new?.carrier] }
            == [[ua, nil]])
        return try after.query(Flight.self).where { $0.carrier == nil }.count()
      }
      #expect(after == 1)
      #expect(try database.find(ua)?.name == "United")
    }
  }

  @Test("within a transaction leaves the rest of it, and builds on what it has done")
  func nested() throws {
    try withDatabase { database in
      try database.write { tx in
        try tx.set("a", to: 1)
        for step in [2, 3] as [Value] {
          let found = try tx.speculate {
            try tx.increment("a", by: step)
          } reading: { after in
            #expect(try after.changes.fetch().map(\.path) == ["a"])
            return try after["a"].value
          }
          #expect(found == (step == 2 ? 3 : 4))
          #expect(try tx["a"].value == 1)
        }
        #expect(throws: Planted.self) {
          try tx.speculate {
            try tx.remove("a")
          } reading: { _ in
            throw Planted()
          }
        }
        try tx.set("b", to: 2)
      }
      #expect(try database.read { try $0.root.rows().map(\.path) } == ["a", "b"])
      let depth = try database.speculate { tx in
        try tx.set("a", to: 10)
        return try tx.speculate {
          try tx.set("b", to: 20)
        } reading: { inner in
          try inner.changes.fetch().count
        }
      } reading: { after in
        [after.result, try after.changes.fetch().count]
      }
      #expect(depth == [2, 1])
    }
  }

  @Test("of the present is refused inside a write, and of the past is not")
  func insideWrite() throws {
    try withDatabase { database in
      try database.write { try $0.set("a", to: 1) }
      try database.write { tx in
        try tx.set("a", to: 2)
        #expect(throws: DatabaseError.self) { try database.speculate { _ in } }
        let past = try database.speculate(at: .sequence(0)) {
          try $0.set("b", to: 1)
        } reading: {
          try $0.snapshot.root.rows().map(\.path)
        }
        #expect(past == ["b"])
        #expect(try tx["a"].value == 2)
      }
      try database.speculate { _ in
        #expect(throws: DatabaseError.self) { try database.write { _ in } }
      } reading: { _ in
        #expect(throws: DatabaseError.self) { try database.speculate { _ in } }
      }
    }
  }

  @Test("works in memory, async, and while others write")
  func concurrent() async throws {
    let database = try Database.inMemory()
    try await database.write { try $0.set("n", to: 0) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for _ in 0..<20 {
            if task == 0 {
              try await database.write { try $0.increment("n", by: 1) }
              continue
            }
            let moment: Moment = task == 1 ? .now : .sequence(1)
            let (before, after) = try await database.speculate(at: moment) { tx in
              let before = try tx["n"].value
              try tx.increment("n", by: 1000)
              return before
            } reading: {
              ($0.result, try $0["n"].value)
            }
            guard case .integer(let old)? = before, case .integer(let new)? = after else {
              throw Divergence("there is no number")
            }
            #expect(new == old + 1000 && (0...20).contains(old))
            if task > 1 { #expect(old == 0) }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try database.read { try $0["n"].value } == 20)
    try expectSound(database)
    try await database.close()
    #expect(throws: DatabaseError.self) { try database.speculate { _ in } }
  }

  @Test("first brings a state up to date that is behind")
  func behind() throws {
    let place = try Place()
    try place.fill(5)
    try place.use { database in
      try database.writer.exclusively {
        let group = try WriteGroup.begin(in: database.directory)
        try group.run([:]) { try Database.Transaction($0).set("n/6", to: 6) }
        // The log has it, and the state does not.
        try database.directory.log.write(head: group.head) { log in
          for record in group.records { try log.append(record) }
        }
        group.stateWriter.abort()
      }
      let count = try database.speculate {
        try $0.set("n/7", to: 7)
      } reading: {
        try $0["n"].childCount
      }
      #expect(count == 7)
      #expect(try database.head == 6)
    }
    try place.expectSound()
  }

  @Test("costs what its changes cost now, and what was written before a past moment")
  func cost() throws {
    try withDatabase { database in
      for number in 0..<20 {
        try database.write { tx in
          for key in 0..<1_000 {
            try tx.set(NodePath(keys: ["n", .integer(Int64(number * 1_000 + key))]), to: 1)
          }
        }
      }
      let clock = ContinuousClock()
      for moment in [.now, .sequence(1), .sequence(19)] as [Moment] {
        let took = try clock.measure {
          try database.speculate(at: moment) { try $0.set("n/5", to: 2) }
        }
        print("20,000 operations: a speculation at \(moment) took \(took)")
      }
    }
  }
}

extension Data {
  fileprivate init(at path: String) throws {
    self = try Data(contentsOf: URL(fileURLWithPath: path))
  }
}

extension Blob {
  fileprivate init(text: String) {
    let bytes = Array(text.utf8)
    self.init(hash: bytes.lend { Digest.of($0) }, size: UInt64(bytes.count))
  }
}
