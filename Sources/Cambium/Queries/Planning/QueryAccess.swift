/// The access path of a query: where it finds the records that may be results.
indirect enum QueryAccess {
  /// All of the collection, in the order of keys.
  case scan(isReversed: Bool)
  /// Some keys, in their stored form, ascending.
  case keys([[UInt8]])
  /// The keys from a bound up to another, exclusive, in their stored form.
  case keyRange(ClosedOpenBytes, isReversed: Bool)
  /// The records that have entries in a range of an index.
  case index(IndexScan)
  /// The records that have entries in both ranges; the first has fewer.
  case both(IndexScan, IndexScan)
  /// In the past: the records that have entries in an index now, and those that changed since.
  case corrected(IndexScan, changed: [[UInt8]])
  /// The records of a group that a view keeps in order.
  case top(TopScan)

  /// True if records are walked in the order of their keys.
  var isScan: Bool { scanned != nil }

  /// The range of keys that is walked, and in which order; nil where records are looked up.
  var scanned: (keys: ClosedOpenBytes, isReversed: Bool)? {
    switch self {
    case .scan(let isReversed): (ClosedOpenBytes(from: [], upTo: nil), isReversed)
    case .keyRange(let range, let isReversed): (range, isReversed)
    default: nil
    }
  }
}

/// A group of a view of the first records.
struct TopScan {
  let number: UInt32
  let plan: TopPlan
  let place: GroupPlace
  /// The view in words: `-delay by origin`.
  let name: String
}

/// Bytes from a bound up to another, exclusive; nil for no bound.
struct ClosedOpenBytes: Hashable {
  var lower: [UInt8]
  var upper: [UInt8]?

  /// True if bytes lie between the bounds.
  @inline(__always)
  func contains(_ bytes: RawSpan) -> Bool {
    if lower.lend({ bytes.precedes($0) }) { return false }
    return upper?.lend { bytes.precedes($0) } ?? true
  }

  /// True if bytes lie beyond the bound at which a walk ends that began between the bounds.
  @inline(__always)
  func ends(before bytes: RawSpan, isReversed: Bool) -> Bool {
    if isReversed { return lower.lend { bytes.precedes($0) } }
    return upper?.lend { !bytes.precedes($0) } ?? false
  }

  /// True if nothing can lie between the bounds.
  var isEmpty: Bool { upper.map { !lower.lexicographicallyPrecedes($0) } ?? false }

  /// Everything that begins with some bytes.
  init(prefix: [UInt8]) {
    lower = prefix
    upper = ClosedOpenBytes.successor(prefix)
  }

  init(from lower: [UInt8], upTo upper: [UInt8]?) {
    self.lower = lower
    self.upper = upper
  }

  /// The first bytes behind all that begin with these; nil where there are none.
  static func successor(_ bytes: [UInt8]) -> [UInt8]? {
    var bytes = bytes
    while let last = bytes.popLast() {
      if last < 255 { return bytes + [last + 1] }
    }
    return nil
  }
}

/// One range of an index, or several.
struct IndexScan {
  var index: IndexPlan
  /// In ascending order, none overlapping another.
  var ranges: [ClosedOpenBytes]
  var isReversed = false
  /// The tests of the condition that the ranges imply; entries that are not cut need not be tested
  /// again.
  var consumed: [Condition.Test] = []
  /// The number of entries in the ranges, as far as they were counted.
  var estimate = 0
  /// True if ``estimate`` is only a guess, since counting stopped early.
  var isGuess = false
  /// The number of the index's terms that are fixed to one value.
  var fixedCount = 0
  /// The tests that the scan makes use of, in words: `origin = "JFK"`.
  var words: [String] = []
  /// True if entries hold all that the query reads of a record.
  var isCovering = false
  /// The previews of other records that are read from entries, where these hold all that is read.
  var previews: [Preview] = []

  /// The index in words: `(origin, -scheduled)`.
  var name: String { index.name }
}

extension IndexPlan {
  /// The index in words: `(origin, -scheduled)`.
  var name: String {
    let terms = definition.terms.map { term in
      "\(term.isDescending ? "-" : "")\(ConditionText.name(term.property))\(term.collation.suffix)"
    }
    return "(\(terms.joined(separator: ", ")))"
  }
}
