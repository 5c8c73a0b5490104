/// A change of one part of a set or a dictionary, which is named by what it is and not by its
/// place. So changes of different parts can be made and taken back in any order, and lose nothing.
///
/// A set is stored as an array with each element once, in the order of their bytes; a dictionary as
/// a map. An absent or null value counts as empty.
extension Operation {
  /// The change that is made to the part.
  enum Edit: Equatable, Sendable {
    /// Puts an element into a set that does not have it.
    case include([UInt8])
    /// Takes an element out of a set that has it.
    case exclude([UInt8])
    /// Gives a key of a dictionary its value; nil takes the entry out.
    case setEntry(String, [UInt8]?)
    /// Adds to the number under a key; what is absent counts as zero.
    case incrementEntry(String, by: [UInt8])

    /// The stored value that it carries.
    var value: [UInt8]? {
      switch self {
      case .include(let value), .exclude(let value), .incrementEntry(_, let value): value
      case .setEntry(_, let value): value
      }
    }

    /// The container that comes out of a stored one.
    ///
    /// - Returns: Nil where nothing was there, and nothing has come.
    /// - Throws: ``DatabaseError/badValue(_:reason:)`` for something else than a set or a
    ///   dictionary, or a sum that cannot be.
    func applied(to stored: [UInt8]?, _ path: Path) throws -> [UInt8]? {
      let present = stored == [ValueTag.null] ? nil : stored
      switch self {
      case .include(let element):
        return try SetCoding.including(element, in: present ?? [ValueTag.array], path)
      case .exclude(let element):
        return try present.map { try SetCoding.excluding(element, from: $0, path) } ?? stored
      case .setEntry(let key, let value):
        if value == nil, present == nil { return stored }
        return try MapCoding.setting(key, to: value, in: present ?? [ValueTag.map], path)
      case .incrementEntry(let key, let step):
        let sum = try Arithmetic.sum(try MapCoding.value(of: key, in: present, path), step, path)
        return try MapCoding.setting(key, to: sum, in: present ?? [ValueTag.map], path)
      }
    }
  }
}

/// Changes stored sets.
enum SetCoding {
  static func contains(_ element: [UInt8], in stored: [UInt8]?, _ path: Path) throws -> Bool {
    guard let stored, stored != [ValueTag.null] else { return false }
    return try ArrayCoding.elements(stored, path).contains(element)
  }

  fileprivate static func including(
    _ element: [UInt8], in stored: [UInt8], _ path: Path
  ) throws -> [UInt8] {
    var elements = try ArrayCoding.elements(stored, path)
    if elements.contains(element) { return stored }
    let place = elements.firstIndex { element.lexicographicallyPrecedes($0) }
    elements.insert(element, at: place ?? elements.count)
    return ArrayCoding.joined(elements)
  }

  fileprivate static func excluding(
    _ element: [UInt8], from stored: [UInt8], _ path: Path
  ) throws -> [UInt8] {
    ArrayCoding.joined(try ArrayCoding.elements(stored, path).filter { $0 != element })
  }
}

/// Changes stored maps.
enum MapCoding {
  private typealias Entry = (key: [UInt8], value: [UInt8])

  /// The value that is stored under a key, or nil.
  static func value(of key: String, in stored: [UInt8]?, _ path: Path) throws -> [UInt8]? {
    guard let stored, stored != [ValueTag.null] else { return nil }
    let key = Array(key.utf8)
    return try entries(stored, path).first { $0.key == key }?.value
  }

  fileprivate static func setting(
    _ key: String, to value: [UInt8]?, in stored: [UInt8], _ path: Path
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

  private static func entries(_ stored: [UInt8], _ path: Path) throws -> [Entry] {
    guard stored.first == ValueTag.map else {
      throw DatabaseError.badValue(path, reason: "it is not a dictionary")
    }
    return try stored.lend { bytes in
      var offset = 1
      func part() throws -> [UInt8] {
        let count = try bytes.length(at: &offset)
        defer { offset += count }
        return try bytes.array(offset, count)
      }
      var entries: [Entry] = []
      while offset < bytes.byteCount { entries.append((try part(), try part())) }
      return entries
    }
  }
}
