import FoundationEssentials

/// A domain in the form in which stored values are checked against it. A class, so that asking each
/// property of each record whether it has one copies nothing.
final class DomainPlan: Sendable, CustomStringConvertible {
  let definition: Domain
  private let type: PropertyType
  /// The bounds, or the list, in the order of values.
  private let least: [UInt8]?
  private let greatest: [UInt8]?
  private let list: Set<[UInt8]>?

  init(_ definition: Domain, as type: PropertyType) throws {
    self.definition = definition
    self.type = type
    switch definition.values {
    case .range(let least, let greatest):
      self.least = try least.map { try OrderedBytes.of($0, as: type) }
      self.greatest = try greatest.map { try OrderedBytes.of($0, as: type) }
      list = nil
    case .list(let values):
      (least, greatest) = (nil, nil)
      list = try Set(values.map { try OrderedBytes.of($0, as: type) })
    }
  }

  /// The domain in words: `from 1 to 5`.
  var description: String {
    switch definition.values {
    case .range(let least?, let greatest?): "from \(text(least)) to \(text(greatest))"
    case .range(let least?, nil): "\(text(least)) at least"
    case .range(nil, let greatest?): "\(text(greatest)) at most"
    case .range(nil, nil): "anything"
    case .list(let values): "one of \(values.map(text).joined(separator: ", "))"
    }
  }

  private func text(_ value: Value) -> String { value.text }

  /// True if a stored value that is not null is in the domain.
  func holds(_ value: RawSpan) throws -> Bool {
    let place = try ordered(value)
    if let list { return list.contains(place) }
    if let least, place.lexicographicallyPrecedes(least) { return false }
    if let greatest, greatest.lexicographicallyPrecedes(place) { return false }
    return true
  }

  /// The value that replaces a stored one: itself, if it is in the domain or is to be refused; nil
  /// for null.
  func treated(_ value: [UInt8]) throws -> [UInt8]? {
    if try value.lend({ try holds($0) }) { return value }
    switch (definition.treatment, definition.values) {
    case (.reject, _): return value
    case (.clear, _): return nil
    case (.clamp, .list(let values)): return try values.first?.stored()
    case (.clamp, .range(let smallest, let largest)):
      let place = try value.lend { try ordered($0) }
      let isBelow = least.map { place.lexicographicallyPrecedes($0) } ?? false
      return try (isBelow ? smallest : largest)?.stored()
    }
  }

  /// The bytes by which a stored value is compared with the bounds.
  private func ordered(_ value: RawSpan) throws -> [UInt8] {
    var bytes = ByteBuffer(capacity: 64)
    try OrderedBytes.append(stored: value, as: type, to: &bytes)
    return bytes.array()
  }
}
