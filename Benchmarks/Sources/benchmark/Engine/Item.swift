/// The item that all contenders store: seven properties under an integer key.
struct Item: Equatable, Sendable {
  var name: String
  var city: String
  var note: String
  var count: Int64
  var score: Int64
  var weight: Double
  var active: Bool

  /// The same item for the same key, always.
  init(key: Int) {
    var random = SeededGenerator(seed: UInt64(key))
    name = Item.text(&random)
    city = Item.text(&random)
    note = Item.text(&random)
    count = Int64(random.next(below: 1_000_000))
    score = Int64(random.next(below: 1_000_000))
    weight = Double(random.next(below: 1_000_000)) / 1_000
    active = random.next() & 1 == 1
  }

  init(
    name: String, city: String, note: String, count: Int64, score: Int64, weight: Double,
    active: Bool
  ) {
    (self.name, self.city, self.note) = (name, city, note)
    (self.count, self.score, self.weight, self.active) = (count, score, weight, active)
  }

  /// Twenty lower-case letters.
  private static func text(_ random: inout SeededGenerator) -> String {
    unsafe String(unsafeUninitializedCapacity: 20) { bytes in
      for index in 0..<20 {
        unsafe bytes[index] = UInt8(ascii: "a") + UInt8(random.next(below: 26))
      }
      return 20
    }
  }
}

/// A new value for one property of one item.
struct ItemChange {
  let key: Int
  let count: Int64
}

extension Digest {
  @inline(__always)
  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { bytes in unsafe add(UnsafeRawBufferPointer(bytes)) }
  }

  /// Folds all seven properties in.
  @inline(__always)
  mutating func add(_ item: Item) {
    add(item.name)
    add(item.city)
    add(item.note)
    add(item.count)
    add(item.score)
    add(item.weight.bitPattern)
    add(UInt64(item.active ? 1 : 0))
  }
}
