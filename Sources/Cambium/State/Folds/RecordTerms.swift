// The terms of one record, as a text view stores them.
//
// The stored form of a term's places, with the properties by their place in the view, ascending:
//
//     per property: place (varint), count (varint), the first position, then each distance to the
//     next (varints)
//
// Positions count words within a property. Between the elements of an array one is skipped, so
// that no phrase matches across them.

/// The places of a term in a record.
struct TermPlaces: Equatable, Sendable {
  /// The positions, by the property's place in the view, ascending.
  var properties: [(place: Int, positions: [Int])] = []

  static func == (a: TermPlaces, b: TermPlaces) -> Bool { a.stored == b.stored }

  /// Adds a position after the existing ones.
  mutating func add(_ position: Int, in place: Int) {
    if properties.last?.place != place { properties.append((place, [])) }
    properties[properties.count - 1].positions.append(position)
  }

  init() {}

  /// Reads the stored form.
  init(_ bytes: RawSpan) throws {
    var offset = 0
    while offset < bytes.byteCount {
      let place = Int(clamping: try bytes.varint(at: &offset))
      let count = try bytes.length(at: &offset)
      var positions: [Int] = []
      var last = 0
      for _ in 0..<count {
        let (next, overflow) = last.addingReportingOverflow(
          Int(clamping: try bytes.varint(at: &offset)))
        if overflow { throw DatabaseError.corrupt(reason: "a stored position is too large") }
        positions.append(next)
        last = next
      }
      properties.append((place, positions))
    }
  }

  /// The stored form.
  var stored: [UInt8] {
    var bytes: [UInt8] = []
    for (place, positions) in properties {
      bytes.append(varint: UInt64(place))
      bytes.append(varint: UInt64(positions.count))
      var last = 0
      for position in positions {
        bytes.append(varint: UInt64(position - last))
        last = position
      }
    }
    return bytes
  }
}

/// The terms of a record's texts.
struct RecordTerms: Sendable {
  /// The number of words of each property.
  private(set) var lengths: [UInt64]
  private(set) var terms: [[UInt8]: TermPlaces] = [:]

  /// Finds the terms of a record; none if there is no record.
  init(_ plan: TextPlan, _ record: RawSpan?) throws {
    lengths = Array(repeating: 0, count: plan.properties.count)
    guard let record else { return }
    let table = try RecordTable(record)
    for (place, property) in plan.properties.enumerated() {
      var position = 0
      try property.value(of: record, table) { value in
        try add(value, in: place, &position, plan.analyzer)
      }
    }
  }

  private mutating func add(
    _ value: RawSpan, in place: Int, _ position: inout Int, _ analyzer: TextAnalyzer
  ) throws {
    if value.byteCount == 0 { return }
    switch try value.load(UInt8.self, at: 0) {
    case ValueTag.string:
      try analyzer.forEachWord(in: value.extracting(droppingFirst: 1)) { word, _ in
        terms[word.own, default: TermPlaces()].add(position, in: place)
        if let plain = word.plain { terms[plain, default: TermPlaces()].add(position, in: place) }
        lengths[place] += 1
        position += 1
      }
    case ValueTag.array:
      var offset = 1
      while offset < value.byteCount {
        let element = value.extracting(try value.part(at: &offset))
        if try element.byteCount == 0 || element.load(UInt8.self, at: 0) != ValueTag.string {
          continue
        }
        try add(element, in: place, &position, analyzer)
        position += 1
      }
    default: break
    }
  }

  /// True if there are no words.
  var isEmpty: Bool { terms.isEmpty }

  /// The number of words.
  var length: UInt64 { lengths.reduce(0, +) }
}
