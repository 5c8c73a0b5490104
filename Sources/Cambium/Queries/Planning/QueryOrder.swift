/// Makes the bytes by which results are sorted.
///
/// They are the bytes of each ordering's value, then the record's key, so that no two results have
/// the same.
final class QueryOrder: Sendable {
  private let paths: QueryPaths
  private let orderings: [Ordering]
  private let types: [PropertyType]
  /// True if results that are equal come in the order of their keys' texts, which is not that of
  /// the keys as they are stored.
  private let comparesKeysAsTexts: Bool

  /// The record's own properties that it reads.
  var names: [NameID] { paths.names }

  init(
    _ orderings: [Ordering], in scope: ConditionScope, comparingKeysAsTexts: Bool = false
  ) throws {
    comparesKeysAsTexts = comparingKeysAsTexts
    self.orderings = orderings
    paths = try QueryPaths(orderings.map(\.path), in: scope)
    types = try orderings.map { try scope.resolve($0.path).orderedType }
  }

  /// True if another order of the same orderings writes equal values as the same bytes.
  func hasSameForm(as other: QueryOrder) -> Bool {
    types == other.types && comparesKeysAsTexts == other.comparesKeysAsTexts
  }

  /// Writes the bytes of a result.
  func write(
    _ record: RawSpan, key: RawSpan, _ records: QueryRecords, to bytes: inout ByteBuffer
  ) throws {
    bytes.clear()
    for index in orderings.indices {
      try paths.lend(index, record, key: key, records) {
        try append($0, orderings[index], types[index], to: &bytes)
      }
    }
    if comparesKeysAsTexts {
      StoredKey.lendText(of: key) { bytes.append($0) }
      bytes.append(0)
    }
    bytes.append(key)
  }

  /// Lends the value of the first ordering.
  func lendFirst<R>(
    _ record: RawSpan, key: RawSpan, _ records: QueryRecords, _ body: (RawSpan) throws -> R
  ) throws -> R {
    try paths.lend(0, record, key: key, records, body)
  }

  private func append(
    _ value: RawSpan, _ ordering: Ordering, _ type: PropertyType, to bytes: inout ByteBuffer
  ) throws {
    if let nulls = ordering.nulls {
      bytes.append(try value.isNull == (nulls == .first) ? 0 : 1)
    }
    try OrderedBytes.append(
      stored: value, as: type, ordering.collation, isDescending: ordering.isDescending, to: &bytes)
  }
}

extension ConditionScope.ResolvedPath {
  /// The type as which values are ordered.
  var orderedType: PropertyType {
    if isCount { return .integer }
    if isTextKey { return .string }
    if property == nil { return .reference(.root) }
    return definition?.type ?? .any
  }
}

extension Ordering {
  /// True if nulls lie where an index has them: as the smallest value.
  var hasPlainNulls: Bool {
    nulls == nil || (nulls == .first) == !isDescending
  }
}
