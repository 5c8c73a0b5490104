import Cambium

/// The reason why a change of a value must be refused.
package enum ChangeRefusal: Error {
  case badValue
  case notFound
}

/// The effect of each change as plainly as it can be said, to compare the database with.
extension ValueChange<Value> {
  /// The value that comes out of one; nil where nothing was there, and nothing has come.
  package func plainly(on old: Value?) throws(ChangeRefusal) -> Value? {
    let isEmpty = old == nil || old == .null
    switch self {
    case .increment(let step): return try sum(old ?? 0, step)
    case .append(let element): return .array(try elements(old ?? []) + [element])
    case .insert(let element, let position):
      var elements = try elements(old ?? [])
      guard position <= elements.count else { throw .notFound }
      elements.insert(element, at: Int(position))
      return .array(elements)
    case .removeElement(let position):
      guard let old else { throw .notFound }
      var elements = try elements(old)
      guard position < elements.count else { throw .notFound }
      elements.remove(at: Int(position))
      return .array(elements)
    case .include(let element):
      let elements = try elements(isEmpty ? [] : old ?? [])
      return .array(elements.contains(element) ? elements : sorted(element, into: elements))
    case .exclude(let element):
      if isEmpty { return old }
      return .array(try elements(old ?? []).filter { $0 != element })
    case .setEntry(let key, let value):
      if value == nil && isEmpty { return old }
      var record = try entries(isEmpty ? [:] : old ?? [:])
      record[key] = value
      return .map(record)
    case .incrementEntry(let key, let step):
      var record = try entries(isEmpty ? [:] : old ?? [:])
      record[key] = try sum(record[key] ?? 0, step)
      return .map(record)
    }
  }
}

/// An array with an element before the first whose bytes are greater.
private func sorted(_ element: Value, into elements: [Value]) -> [Value] {
  func bytes(_ value: Value) -> [UInt8] { (try? value.stored()) ?? [] }
  let own = bytes(element)
  let before = elements.prefix { !own.lexicographicallyPrecedes(bytes($0)) }
  return before + [element] + elements.dropFirst(before.count)
}

/// The elements of an array.
private func elements(_ value: Value) throws(ChangeRefusal) -> [Value] {
  guard case .array(let elements) = value else { throw .badValue }
  return elements
}

/// The entries of a dictionary.
private func entries(_ value: Value) throws(ChangeRefusal) -> ValueMap {
  guard case .map(let record) = value else { throw .badValue }
  return record
}

/// The sum of two numbers; a double makes it a double.
private func sum(_ a: Value, _ b: Value) throws(ChangeRefusal) -> Value {
  switch (a, b) {
  case (.integer(let a), .integer(let b)):
    let (sum, overflow) = a.addingReportingOverflow(b)
    if overflow { throw .badValue }
    return .integer(sum)
  case (.double(let a), .double(let b)): return .double(a + b)
  case (.integer(let a), .double(let b)): return .double(Double(a) + b)
  case (.double(let a), .integer(let b)): return .double(a + Double(b))
  default: throw .badValue
  }
}
