import LMDB

/// The share that a row has in a result that is made of several rows: a group or a distinct value.
struct GroupShare: Equatable, Sendable {
  /// The most bytes of a group by which it is known as a whole.
  static let wholeMax = 255

  /// The ordered bytes of the group's values: equal for values that are equal in several forms.
  let group: [UInt8]
  /// The group's values as they are shown; distinct values as the row has them.
  let values: [Value]
  /// The row's stored value for each aggregate of a property; empty where it has none. Of a
  /// distinct value, the row's place.
  let measured: [[UInt8]]

  /// The bytes by which the group is known: of a long one the first, and a digest of all, which
  /// takes it behind the longest that is known as a whole.
  var id: [UInt8] {
    if group.count <= GroupShare.wholeMax { return group }
    return Array(group.prefix(GroupShare.wholeMax)) + group.lend { Digest.of($0) }
  }
}

extension GroupShare {
  /// The share in a distinct value.
  ///
  /// - Parameters:
  ///   - values: The values.
  ///   - place: The bytes that order the row, and that no other row has.
  /// - Throws: ``DatabaseError`` for a value that cannot be stored.
  init(inDistinct values: [Value], place: [UInt8]) throws {
    var ordered = ByteBuffer(capacity: 64)
    for value in values { try OrderedBytes.append(value, to: &ordered) }
    self.init(group: ordered.array(), values: values, measured: [place])
  }
}

extension GroupedPaths {
  /// The share of a record, and of those that are joined to it at the moment, in its group.
  func share(_ record: RawSpan, key: RawSpan, _ records: QueryRecords) throws -> GroupShare {
    var group = ByteBuffer(capacity: 64)
    try appendGroup(of: record, key: key, records, to: &group)
    return GroupShare(
      group: group.array(),
      values: try paths.values(record, key: key, records).inShownForms(shownTypes),
      measured: try (0..<values.count).map { index in
        try values.lend(index, record, key: key, records) { $0.array() }
      })
  }
}

// MARK: The kept form

extension GroupShare {
  /// The kept form: the group, the values, and each that is measured.
  func kept() throws -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(part: group)
    try bytes.append(parts: values)
    for value in measured { bytes.append(part: value) }
    return bytes
  }

  init(kept bytes: [UInt8]) throws {
    self = try bytes.lend { bytes in
      var offset = 0
      let group = try bytes.partArray(at: &offset)
      let values = try bytes.values(at: &offset)
      var measured: [[UInt8]] = []
      while offset < bytes.byteCount { measured.append(try bytes.partArray(at: &offset)) }
      return GroupShare(group: group, values: values, measured: measured)
    }
  }
}

extension [UInt8] {
  /// Adds bytes behind their length.
  mutating func append(part bytes: [UInt8]) {
    append(varint: UInt64(bytes.count))
    append(contentsOf: bytes)
  }

  /// Adds values, each behind its length, behind their number.
  mutating func append(parts values: [Value]) throws {
    append(varint: UInt64(values.count))
    for value in values { append(part: try value.stored()) }
  }
}

extension RawSpan {
  /// The bytes behind their length.
  func partArray(at offset: inout Int) throws -> [UInt8] {
    extracting(try part(at: &offset)).array()
  }

  /// Values, each behind its length, behind their number.
  func values(at offset: inout Int) throws -> [Value] {
    try (0..<(try length(at: &offset))).map { _ in
      try Value(extracting(try part(at: &offset)))
    }
  }
}
