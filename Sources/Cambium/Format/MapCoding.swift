/// Changes stored maps.
enum MapCoding {
  private typealias Entry = (key: [UInt8], value: [UInt8])

  /// The value that is stored under a key, or nil.
  static func value(of key: String, in stored: [UInt8]?, _ path: NodePath) throws -> [UInt8]? {
    guard let stored, stored != [ValueTag.null] else { return nil }
    let key = Array(key.utf8)
    return try entries(stored, path).first { $0.key == key }?.value
  }

  static func setting(
    _ key: String, to value: [UInt8]?, in stored: [UInt8], _ path: NodePath
  ) throws -> [UInt8] {
    let key = Array(key.utf8)
    var entries = try entries(stored, path)
    let place = entries.firstIndex { !$0.key.lexicographicallyPrecedes(key) } ?? entries.count
    if place < entries.count, entries[place].key == key { entries.remove(at: place) }
    if let value { entries.insert((key, value), at: place) }
    var bytes = [ValueTag.map]
    for part in entries.lazy.flatMap({ [$0.key, $0.value] }) {
      bytes.append(varint: UInt64(part.count))
      bytes.append(contentsOf: part)
    }
    return bytes
  }

  private static func entries(_ stored: [UInt8], _ path: NodePath) throws -> [Entry] {
    guard stored.first == ValueTag.map else {
      throw DatabaseError.badValue(path, reason: "it is not a dictionary")
    }
    return try stored.lend { bytes in
      var offset = 1
      func part() throws -> [UInt8] { bytes.extracting(try bytes.part(at: &offset)).array() }
      var entries: [Entry] = []
      while offset < bytes.byteCount { entries.append((try part(), try part())) }
      return entries
    }
  }
}
