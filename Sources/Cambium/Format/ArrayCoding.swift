/// Changes stored arrays.
enum ArrayCoding {
  /// The array with an element inserted, at the end if `position` is nil; absent counts as empty.
  static func inserting(
    _ element: [UInt8], at position: UInt64?, into stored: [UInt8]?, _ path: NodePath
  ) throws -> [UInt8] {
    var elements = try elements(stored ?? [ValueTag.array], path)
    let index = position ?? UInt64(elements.count)
    guard index <= UInt64(elements.count) else {
      throw DatabaseError.notFound(
        path, reason: "position \(index) is outside the array of \(elements.count)")
    }
    elements.insert(element, at: Int(index))
    return joined(elements)
  }

  /// The array with an element removed.
  static func removing(
    at position: UInt64, from stored: [UInt8]?, _ path: NodePath
  ) throws -> [UInt8] {
    guard let stored else { throw DatabaseError.notFound(path, reason: "there is no array") }
    var elements = try elements(stored, path)
    guard position < UInt64(elements.count) else {
      throw DatabaseError.notFound(
        path, reason: "position \(position) is outside the array of \(elements.count)")
    }
    elements.remove(at: Int(position))
    return joined(elements)
  }

  static func elements(_ stored: [UInt8], _ path: NodePath) throws -> [[UInt8]] {
    guard stored.first == ValueTag.array else {
      throw DatabaseError.badValue(path, reason: "it is not an array")
    }
    return try stored.lend { bytes in
      var elements: [[UInt8]] = []
      var offset = 1
      while offset < bytes.byteCount {
        elements.append(bytes.extracting(try bytes.part(at: &offset)).array())
      }
      return elements
    }
  }

  /// The number of elements of a stored array; an absent one has none.
  static func count(_ stored: [UInt8]?, _ path: NodePath) throws -> Int {
    try stored.map { try elements($0, path).count } ?? 0
  }

  /// An element of a stored array, or nil where there is none.
  static func element(at position: UInt64, of stored: [UInt8], _ path: NodePath) throws -> [UInt8]?
  {
    let elements = try elements(stored, path)
    return position < UInt64(elements.count) ? elements[Int(position)] : nil
  }

  static func joined(_ elements: [[UInt8]]) -> [UInt8] {
    var bytes = [ValueTag.array]
    for element in elements {
      bytes.append(varint: UInt64(element.count))
      bytes.append(contentsOf: element)
    }
    return bytes
  }
}

/// Changes stored sets.
enum SetCoding {
  static func contains(_ element: [UInt8], in stored: [UInt8]?, _ path: NodePath) throws -> Bool {
    guard let stored, stored != [ValueTag.null] else { return false }
    return try ArrayCoding.elements(stored, path).contains(element)
  }

  static func including(
    _ element: [UInt8], in stored: [UInt8], _ path: NodePath
  ) throws -> [UInt8] {
    var elements = try ArrayCoding.elements(stored, path)
    if elements.contains(element) { return stored }
    let place = elements.firstIndex { element.lexicographicallyPrecedes($0) }
    elements.insert(element, at: place ?? elements.count)
    return ArrayCoding.joined(elements)
  }

  /// A stored array as a set: each element once, in the order of their bytes.
  static func set(_ stored: [UInt8]) throws -> [UInt8] {
    if stored.first != ValueTag.array { return stored }
    let elements = Set(try ArrayCoding.elements(stored, .root))
    return ArrayCoding.joined(elements.sorted { $0.lexicographicallyPrecedes($1) })
  }

  static func excluding(
    _ element: [UInt8], from stored: [UInt8], _ path: NodePath
  ) throws -> [UInt8] {
    ArrayCoding.joined(try ArrayCoding.elements(stored, path).filter { $0 != element })
  }
}
