import LMDB

/// Entries of bytes in memory, in the order of their keys.
struct MemoryEntries {
  typealias Entry = OperatorEntries.Entry

  /// About the bytes that an entry takes besides its key and its value.
  private static let entryBytes = 96

  private var entries = ChunkedList<Entry>()
  /// The memory that the entries take, in bytes.
  private(set) var bytesCount = 0

  /// All entries, in order.
  var all: ChunkedList<Entry> { entries }

  private func bytes(of entry: Entry) -> Int {
    MemoryEntries.entryBytes + entry.key.count + entry.value.count
  }

  /// The position of a key's entry, or that at which it would be.
  private func place(of key: [UInt8]) -> (position: Int, isThere: Bool) {
    let position = entries.position { $0.key.precedes(key) }
    return (position, position < entries.count && entries[position].key == key)
  }

  func value(of key: [UInt8]) -> [UInt8]? {
    let (position, isThere) = place(of: key)
    return isThere ? entries[position].value : nil
  }

  mutating func set(_ key: [UInt8], to value: [UInt8]?) {
    let (position, isThere) = place(of: key)
    switch (isThere, value) {
    case (true, let value?):
      bytesCount += value.count - entries.replace(at: position, with: (key, value)).value.count
    case (true, nil): bytesCount -= bytes(of: entries.remove(at: position))
    case (false, let value?):
      entries.insert((key, value), at: position)
      bytesCount += bytes(of: (key, value))
    case (false, nil): break
    }
  }

  func first(behind key: [UInt8]?, startingWith prefix: [UInt8]) -> Entry? {
    var position = place(of: prefix).position
    if let key, !key.precedes(prefix) {
      let (found, isThere) = place(of: key)
      position = isThere ? found + 1 : found
    }
    guard position < entries.count, case let entry = entries[position] else { return nil }
    return entry.key.starts(with: prefix) ? entry : nil
  }
}
