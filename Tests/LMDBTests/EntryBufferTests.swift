// The memory of entries that are written later. The judge is a list of dictionaries, one for each
// place to which the buffer may be rewound.

import Testing

@testable import LMDB

@Suite("A buffer of entries", .timeLimit(.minutes(2)))
struct EntryBufferTests {
  private typealias Model = [String: String?]

  private let table = Table(index: 3, seal: .short)
  private let other = Table(index: 4)

  private func add(
    _ key: String, _ value: String?, _ table: Table, isBlind: Bool = false,
    to buffer: inout EntryBuffer
  ) -> Bool {
    let (key, bytes) = (Array(key.utf8), Array((value ?? "").utf8))
    return unsafe key.withUnsafeBytes { key in
      unsafe bytes.withUnsafeBytes {
        unsafe buffer.add(value == nil ? .delete : .put, table, key, $0, isBlind: isBlind)
      }
    }
  }

  /// The value that is found; nil if there is no entry, nil within if it is deleted.
  private func find(_ key: String, _ table: Table, in buffer: borrowing EntryBuffer) -> String?? {
    let key = Array(key.utf8)
    return unsafe key.withUnsafeBytes { key in
      switch unsafe buffer.find(table, key, EntryBuffer.hash(table, key)) {
      case .none: return String??.none
      case .deleted: return .some(.none)
      case .value(let bytes): return unsafe String(decoding: bytes, as: UTF8.self)
      }
    }
  }

  @Test(
    "finds the newest of each key, also after some were dropped", arguments: 1...6, [false, true])
  func model(seed: Int, isBlind: Bool) {
    var random = SeededGenerator(seed: seed)
    var buffer = EntryBuffer(capacity: 1 << 20)
    // More keys than slots at first, so that the slots are enlarged with dropped ones among them.
    var models: [(place: Int, model: Model)] = [(buffer.end, [:])]
    for _ in 0..<6000 {
      let key = "key \(random.next() % 1500)"
      switch random.next() % 30 {
      case 0: models.append((buffer.end, models[models.count - 1].model))
      case 1 where models.count > 1: buffer.rewind(to: models.removeLast().place)
      case 2 where models.count > 1:
        let kept = models.removeLast().model
        models[models.count - 1].model = kept
      case 3..<10:
        #expect(add(key, nil, table, isBlind: isBlind, to: &buffer))
        models[models.count - 1].model[key] = .some(nil)
      default:
        let value = String(repeating: "v", count: Int(random.next() % 30))
        #expect(add(key, value, table, isBlind: isBlind, to: &buffer))
        models[models.count - 1].model[key] = value
      }
    }
    check(buffer, models[models.count - 1].model, isBlind: isBlind)
    buffer.clear()
    check(buffer, [:], isBlind: isBlind)
    #expect(buffer.end == EntryBuffer.start)
  }

  private func check(_ buffer: borrowing EntryBuffer, _ model: Model, isBlind: Bool) {
    for number in 0..<1500 {
      let key = "key \(number)"
      #expect(find(key, table, in: buffer) == (isBlind ? String??.none : model[key]))
      #expect(find(key, other, in: buffer) == String??.none)
    }
    let sorted = buffer.records.sorted(EntryBuffer.start..<buffer.end)
    var keys: [String] = []
    for record in sorted {
      let key = unsafe String(decoding: record.key, as: UTF8.self)
      let value = unsafe String(decoding: record.value, as: UTF8.self)
      #expect(model[key] == .some(record.kind == .delete ? nil : value))
      #expect(record.table == table)
      keys.append(key)
    }
    #expect(keys == model.keys.sorted())
  }

  @Test("refuses an entry for which it has no room, and keeps the others")
  func room() {
    var buffer = EntryBuffer(capacity: 200)
    #expect(add("key", "value", table, to: &buffer))
    #expect(!add("large", String(repeating: "v", count: 200), table, to: &buffer))
    #expect(find("large", table, in: buffer) == String??.none)
    #expect(find("key", table, in: buffer) == "value")
  }
}
