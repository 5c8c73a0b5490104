// Goal: the output of `cambium log --patch -o json` on a history makes the same tree when it is
// applied, transaction by transaction. Method: random histories of every operation, in a small tree
// so that places are taken and left often. Nodes without content are not printed, and so are not
// compared.

import Cambium
import Foundation
import Testing

@testable import CambiumCommands

@Suite("Applied transactions", .timeLimit(.minutes(2)))
struct ApplyTests {
  @Test("make the same tree as the log that tells them", arguments: [1, 2, 3, 4] as [UInt64])
  func roundTrip(_ seed: UInt64) throws {
    try Workplace.with { place in
      let original = try Database(at: place.folder + "/a.cambium")
      var history = RandomTransactions(seed: seed)
      while try original.head < 150 { try history.write(to: original) }
      let printed = try place.run(
        """
        cambium log a.cambium -p --json > log.jsonl
        cambium apply --create b.cambium log.jsonl -q
        """)
      #expect(printed == "")
      let copy = try Database(at: place.folder + "/b.cambium")
      #expect(try Self.commits(of: original) == Self.commits(of: copy))
      #expect(try Self.dump(original.snapshot()) == Self.dump(copy.snapshot()))
      #expect(try original.verify().isSound && copy.verify().isSound)
      try original.close()
      try copy.close()
    }
  }

  /// The metadata, events and changes of each transaction that has events or changes.
  private static func commits(of database: Database) throws -> [String] {
    var all: [String] = []
    var commits = try database.commits()
    while let commit = try commits.next() {
      let changes = try commit.changes.fetch()
      if changes.isEmpty && commit.events.isEmpty { continue }
      all.append("\(commit.metadata.sorted { $0.key < $1.key }) \(commit.events) \(changes)")
    }
    return all
  }

  private static func dump(_ snapshot: Snapshot) throws -> [String] {
    var lines: [String] = []
    var nodes = try snapshot.root.descendants()
    while let node = try nodes.next() {
      if let value = try node.value { lines.append("\(node.path): \(JSONWriter.text(value))") }
    }
    return lines
  }

  @Test(
    "are refused where a line cannot be understood, with its place",
    arguments: [
      ("[]", 1, "expected an object"), ("{\"op\": 1}", 2, "has no \"op\""),
      ("{\"operations\": 3}", 1, "not which"), ("{\"operations\": {}}", 2, "an array"),
      ("{\"operations\": [{\"op\": \"sett\", \"path\": \"a\"}]}", 17, "no operation \"sett\""),
      ("{\"operations\": [{\"op\": \"set\", \"path\": \"a\"}]}", 17, "value is missing"),
      ("{\"operations\": [{\"op\": \"remove\", \"path\": \"a//b\"}]}", 17, "cannot be a key"),
      ("{\"operations\": [{\"op\": \"remove\", \"path\": \"a\", \"at\": 1}]}", 17, "no meaning"),
      ("{\"operations\": [{\"op\": \"insert\", \"path\": \"a\", \"at\": -1}]}", 17, "from 0 up"),
      ("{\"operations\": [{\"op\": \"move\", \"path\": \"a\", \"to\": 1}]}", 17, "no text"),
      ("{\"operations\": [7]}", 17, "an object"), ("{\"if-seq\": -1}", 12, "a number"),
      ("{\"metadata\": {\"a\": 1}}", 14, "text"), ("{\"changes\": [{}]}", 14, "path is missing"),
      ("{\"v\": 2}", 7, "version 1"),
      ("{\"events\": 1}", 12, "an array"), ("{\"operations\": [", 17, "end of the"),
    ])
  func bad(_ text: String, column: Int, reason: String) throws {
    let bytes = Array("{\"operations\": []}\n\n\(text)\n".utf8)
    var reader = try ScriptReader(ByteSource(bytes: bytes, name: "script"))
    _ = try reader.next()
    #expect(reader.line == 1)
    do {
      while try reader.next() != nil {}
      Issue.record("“\(text)” was taken")
    } catch let error as InputError {
      #expect(error.place?.line == 3 && error.reason.contains(reason), "\(error)")
      #expect(error.place?.column == column, "\(error)")
    }
  }

  @Test("count lines as an editor does, also those without anything")
  func lines() throws {
    let bytes = Array("\n{}\n\n\n{\"events\": []}\n{}".utf8)
    var reader = try ScriptReader(ByteSource(bytes: bytes, name: "script"))
    for _ in 1...2 {
      var lines: [Int] = []
      while try reader.next() != nil { lines.append(reader.line) }
      #expect(lines == [2, 5, 6])
      try reader.rewind()
    }
  }
}

/// Transactions of random operations, those that fail left out.
private struct RandomTransactions {
  private var random: InterchangeRandom

  init(seed: UInt64) { random = InterchangeRandom(seed: seed) }

  mutating func write(to database: Database) throws {
    let head = try database.head
    if random.below(12) == 0, head > .zero {
      let back = SequenceNumber(UInt64.random(in: 1...head.rawValue, using: &random))
      _ = try? database.undo(back, onConflict: .skipConflicts)
      return
    }
    var random = random
    let metadata = random.below(2) == 0 ? [:] : ["actor": random.text(), "reason": "“é\u{1B}"]
    try database.write(metadata: metadata) { tx in
      for _ in 0...random.below(4) {
        _ = try? tx.attempt { try RandomTransactions.operate(tx, head, &random) }
      }
    }
    self.random = random
  }

  private static func operate(
    _ tx: borrowing Database.Transaction, _ head: SequenceNumber, _ random: inout InterchangeRandom
  ) throws {
    let path = path(&random)
    let property = random.below(2) == 0 ? nil : random.pick(["a", "b", "n", "list"])
    switch random.below(18) {
    case 0, 1: try tx.set(path, to: random.value(depth: 2).withoutBlobs)
    case 2, 3: try tx.set(path, to: ["n": 1, "list": [1, 2], "text": .string(random.text())])
    case 4:
      let value = random.value(depth: 1).withoutBlobs
      try tx.update(path, ["a": value, "text": nil])
    case 5: try tx.increment(path, property, by: random.below(2) == 0 ? 3 : 0.5)
    case 6: try tx.append(random.value(depth: 1).withoutBlobs, to: path, property)
    case 7: try tx.insert("x", at: random.below(3), into: path, property)
    case 8: try tx.removeElement(at: random.below(3), from: path, property)
    case 9: _ = try tx.remove(path)
    case 13: try tx.insert(.integer(Int64(random.below(4))), into: path, property)
    case 14: try tx.remove(.integer(Int64(random.below(4))), from: path, property)
    case 15: try tx.set(path, "map", random.text(), to: random.value(depth: 1).withoutBlobs)
    case 16: try tx.increment(path, "map", random.pick(["a", "b"]), by: 2)
    case 17: try tx.removeValue(forKey: random.pick(["a", "b"]), from: path, "map")
    case 10:
      try tx.restore(
        path, removedAt: SequenceNumber(UInt64(random.below(Int(head.rawValue) + 1))))
    case 11: try tx.move(path, to: RandomTransactions.path(&random))
    default: try tx.event(random.text(), random.value(depth: 1).withoutBlobs)
    }
  }

  private static func path(_ random: inout InterchangeRandom) -> NodePath {
    let keys = (0...random.below(3)).map { _ in random.pick(["a", "b", "c/~", 1] as [Key]) }
    return NodePath(keys: keys)
  }
}

extension Value {
  /// The value, with no reference to contents that are not there.
  var withoutBlobs: Value {
    switch self {
    case .blob: .null
    case .array(let elements): .array(elements.map(\.withoutBlobs))
    case .map(let record):
      .map(ValueMap(record.members.map { (name: $0.name, value: $0.value.withoutBlobs) }))
    default: self
    }
  }
}
