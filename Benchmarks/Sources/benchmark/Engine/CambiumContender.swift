import Cambium

/// Cambium through its public face: every item is a record at `items/<key>`.
final class CambiumContender: AwaitingContender {
  static let name = "Cambium"
  static let properties = ["active", "city", "count", "name", "note", "score", "weight"]

  private let database: Database

  init(directory: String, isSoon: Bool) throws {
    database = try Database(at: directory + "/items.cambium", options: .benchmark(isSoon: isSoon))
  }

  deinit { try? database.close() }

  func store(_ items: ArraySlice<Item>, from first: Int, perTransaction: Int) throws {
    try pieces(of: items.count, perTransaction) { piece in
      try database.write { tx in
        for offset in piece {
          try tx.set(
            Self.path(first + offset), to: items[items.startIndex + offset].value)
        }
      }
    }
  }

  func store(_ items: ArraySlice<Item>, from first: Int, writers: Int) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<writers {
        group.addTask { [database] in
          for offset in stride(from: writer, to: items.count, by: writers) {
            let path = Self.path(first + offset)
            let value = items[items.startIndex + offset].value
            try await database.write { tx in try tx.set(path, to: value) }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  func readName(_ keys: [Int]) throws -> Digest {
    var digest = Digest()
    try database.read { snapshot in
      let items = snapshot["items"]
      for key in keys {
        guard case .string(let name)? = try items.child(.integer(Int64(key)))["name"]
        else { throw missing(key) }
        digest.add(name)
      }
    }
    return digest
  }

  func readItem(_ keys: [Int]) throws -> Digest {
    var digest = Digest()
    try database.read { snapshot in
      let items = snapshot["items"]
      for key in keys {
        guard case .map(let record)? = try items.child(.integer(Int64(key))).value,
          let item = Item(record)
        else { throw missing(key) }
        digest.add(item)
      }
    }
    return digest
  }

  func sumScores() throws -> Int64 {
    var sum: Int64 = 0
    try database.read { snapshot in
      try snapshot["items"].children.forEach("score") { score in
        if case .integer(let score)? = score { sum += score }
      }
    }
    return sum
  }

  func update(_ changes: [ItemChange], perTransaction: Int) throws {
    try pieces(of: changes.count, perTransaction) { piece in
      try database.write { tx in
        for change in changes[piece] {
          try tx.update(Self.path(change.key), ["count": .integer(change.count)])
        }
      }
    }
  }

  func remove(_ keys: [Int], perTransaction: Int) throws {
    try pieces(of: keys.count, perTransaction) { piece in
      try database.write { tx in for key in keys[piece] { try tx.remove(Self.path(key)) } }
    }
  }

  private static let items: NodePath = "items"

  private static func path(_ key: Int) -> NodePath { items.appending(.integer(Int64(key))) }

  private func missing(_ key: Int) -> BenchmarkError {
    BenchmarkError("Cambium has no items/\(key)")
  }
}

extension Item {
  /// The item as a record.
  var value: Value {
    [
      "active": .bool(active), "city": .string(city), "count": .integer(count),
      "name": .string(name), "note": .string(note), "score": .integer(score),
      "weight": .double(weight),
    ]
  }

  /// The item that a record holds; nil unless all properties are there.
  init?(_ record: ValueMap) {
    guard case .string(let name)? = record["name"], case .string(let city)? = record["city"],
      case .string(let note)? = record["note"], case .integer(let count)? = record["count"],
      case .integer(let score)? = record["score"], case .double(let weight)? = record["weight"],
      case .bool(let active)? = record["active"]
    else { return nil }
    self.init(
      name: name, city: city, note: note, count: count, score: score, weight: weight,
      active: active)
  }
}

extension Database.Options {
  /// The default options, but for durability.
  static func benchmark(isSoon: Bool) -> Database.Options {
    var options = Database.Options()
    if isSoon { options.durability = .soon(within: .milliseconds(200)) }
    return options
  }
}
