/// The terms of a record's texts, each with its places.
///
/// Its memory is a few arrays, whatever the number of terms: this is made of every record that is
/// written. The places of a term are a chain, in order, through those of all terms.
struct RecordTerms: Sendable {
  private struct Chain {
    var first: Int32
    var last: Int32
  }

  /// The number of words of each property.
  private(set) var lengths: [UInt64]
  private var table = TermTable()
  private var chains: [Chain] = []
  private var places: [(place: TermPlace, next: Int32)] = []

  /// Finds the terms of a record; none if there is no record.
  init(_ plan: TextPlan, _ record: RawSpan?) throws {
    lengths = Array(repeating: 0, count: plan.properties.count)
    guard let record else { return }
    let table = try RecordTable(record)
    for (place, property) in plan.properties.enumerated() {
      var position: UInt32 = 0
      try property.value(of: record, table) { value in
        try add(value, in: UInt32(place), &position, plan.analyzer)
      }
    }
  }

  private mutating func add(
    _ value: RawSpan, in property: UInt32, _ position: inout UInt32, _ analyzer: TextAnalyzer
  ) throws {
    if value.byteCount == 0 { return }
    switch try value.load(UInt8.self, at: 0) {
    case ValueTag.string:
      try analyzer.forEachWord(in: value.extracting(droppingFirst: 1)) { own, plain, _ in
        let place = TermPlace(property: property, position: position)
        add(own, at: place)
        if let plain { add(plain, at: place) }
        lengths[Int(property)] += 1
        position += 1
      }
    case ValueTag.array:
      var offset = 1
      while offset < value.byteCount {
        let element = value.extracting(try value.part(at: &offset))
        if try element.byteCount == 0 || element.load(UInt8.self, at: 0) != ValueTag.string {
          continue
        }
        try add(element, in: property, &position, analyzer)
        position += 1
      }
    default: break
    }
  }

  private mutating func add(_ term: RawSpan, at place: TermPlace) {
    let (number, new) = (table.number(of: term), Int32(places.count))
    if number == chains.count {
      chains.append(Chain(first: new, last: new))
    } else {
      places[Int(chains[number].last)].next = new
      chains[number].last = new
    }
    places.append((place, -1))
  }

  // MARK: What there is

  /// True if there are no words.
  var isEmpty: Bool { chains.isEmpty }

  /// The number of words.
  var length: UInt64 { lengths.reduce(0, +) }

  /// The number of different terms, which are numbered from 0.
  var count: Int { chains.count }

  /// Lends the bytes of a term.
  @inline(__always)
  func lend<R>(_ number: Int, _ body: (RawSpan) throws -> R) rethrows -> R {
    try table.lend(number, body)
  }

  /// The number of a term; nil if the record does not have it.
  func number(of term: RawSpan) -> Int? { table.find(term) }

  /// Visits the places of a term, in order.
  @inline(__always)
  private func forEachPlace(of number: Int, _ body: (TermPlace) -> Void) {
    var next = chains[number].first
    while next >= 0 {
      body(places[Int(next)].place)
      next = places[Int(next)].next
    }
  }

  /// The places of a term, in order.
  func places(of number: Int) -> [TermPlace] {
    var found: [TermPlace] = []
    forEachPlace(of: number) { found.append($0) }
    return found
  }

  /// Adds the places of a term in their stored form.
  func appendPlaces(of number: Int, to bytes: inout [UInt8]) {
    var writer = TermPlacesWriter()
    forEachPlace(of: number) { writer.add($0, to: &bytes) }
  }
}
