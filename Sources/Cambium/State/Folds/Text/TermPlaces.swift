// The places of a term in a record, and their stored form:
//
//     per place: the distance from the one before, or from -1 (varint, at least 1)
//     before the places of another property: 0, its number in the view (varint)
//
// The first places are those of property 0. Positions count words within a property; between the
// elements of an array one is skipped, so that no phrase matches across them.

/// One place of a term: the number of the property in the view, and the position in its text.
struct TermPlace: Comparable, Sendable {
  private let rawValue: UInt64

  init(property: UInt32, position: UInt32) {
    rawValue = UInt64(property) << 32 | UInt64(position)
  }

  private init(rawValue: UInt64) { self.rawValue = rawValue }

  var property: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }
  var position: UInt32 { UInt32(truncatingIfNeeded: rawValue) }

  /// The place some words later; nil where no text has one.
  func advanced(by count: Int) -> TermPlace? {
    let (sum, overflow) = position.addingReportingOverflow(UInt32(clamping: count))
    return overflow ? nil : TermPlace(property: property, position: sum)
  }

  static func < (a: TermPlace, b: TermPlace) -> Bool { a.rawValue < b.rawValue }
}

/// Writes places in their order, in their stored form.
struct TermPlacesWriter {
  private var property: UInt32 = 0
  private var last: Int64 = -1

  mutating func add(_ place: TermPlace, to bytes: inout [UInt8]) {
    if place.property != property {
      bytes.append(0)
      bytes.append(varint: UInt64(place.property))
      (property, last) = (place.property, -1)
    }
    bytes.append(varint: UInt64(Int64(place.position) - last))
    last = Int64(place.position)
  }
}

/// Reads places in their stored form.
enum TermPlaces {
  /// Visits each place, in order.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)``, and any error that `body` throws.
  @inline(__always)
  static func forEach(in bytes: RawSpan, _ body: (TermPlace) throws -> Void) throws {
    var (offset, property, last) = (0, UInt32(0), Int64(-1))
    while offset < bytes.byteCount {
      let distance = try bytes.varint(at: &offset)
      if distance == 0 {
        property = UInt32(clamping: try bytes.varint(at: &offset))
        last = -1
        continue
      }
      last += Int64(clamping: min(distance, UInt64(UInt32.max) + 1))
      guard let position = UInt32(exactly: last) else {
        throw DatabaseError.corrupt(reason: "a stored position is too large")
      }
      try body(TermPlace(property: property, position: position))
    }
  }

  /// The number of places, of one property or of all.
  static func count(in bytes: RawSpan, of property: Int?) throws -> Int {
    var count = 0
    try forEach(in: bytes) { place in
      if property.map({ $0 == Int(place.property) }) ?? true { count += 1 }
    }
    return count
  }
}
