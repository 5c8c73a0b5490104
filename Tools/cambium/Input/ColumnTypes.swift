import Cambium
import FoundationEssentials

/// The type that the fields of a CSV column are read as.
enum ColumnType: String, Sendable {
  case integer, number, boolean, date, text
}

/// The types of a CSV input's columns, found by looking at every field.
///
///     let types = try ColumnTypes(of: &reader, declared: ["zip": .text])
///     try reader.rewind()
///     while try reader.next() { let record = try types.record(reader) }
///
/// A column has the first of these types that all its fields allow, apart from absent ones. Each
/// asks that the value be written as the same field again, or as one that means the same:
///
/// | Type | Fields | Written as |
/// |---|---|---|
/// | integer | `0`, `-5`, `42`: within 64 bits, no zero before other digits, no `+` | the same;
/// `-0` as `0` |
/// | number | integers, decimals and exponents as JSON has them, also mixed; `nan`, `inf`, `-inf`.
/// Not if a double would lose a digit, except in one of ten decimals | the shortest digits that
/// give the same double, with a point or an exponent: `41` as `41.0`, `1.50` as `1.5` |
/// | boolean | `true`, `false`, in capitals too | `true`, `false` |
/// | date | all `2013-01-01`, or all `2013-01-01T10:00:00Z` with at most six digits of a fraction |
/// the same, less zeros at the fraction's end |
/// | text | anything | the same |
///
/// So `007`, `+1`, `1.`, `.5`, 20 digits, and dates with an offset or without a zone, make a column
/// text. A column can be declared to be a date: then every form of `DateText` is one, and is
/// written as a moment in UTC. An empty field in quotes is an empty text in a text column, and
/// absent in others.
struct ColumnTypes: Sendable {
  /// A column and its type.
  struct Column: Equatable, Sendable {
    let name: String
    let type: ColumnType
    /// The one text that keeps the column from another type, if there is one: perhaps a mark for
    /// what is absent, such as `NA`.
    let obstacle: String?
    /// The decimals that a number rounds, in a column that is one all the same.
    let rounded: Rounded?
  }

  /// Decimals of a column that have more digits than a double keeps.
  struct Rounded: Equatable, Sendable {
    var count = 0
    /// The line of the first.
    var line = 0
  }

  /// The columns in the order of the header.
  let columns: [Column]

  /// The columns in the order of their names' bytes, as a record has them.
  private let byName: [Int]
  private let conversions: [Conversion]

  /// Looks at all records of an input, from the first to the last.
  ///
  /// - Parameters:
  ///   - reader: The reader, which is before the first record, and afterwards at the end.
  ///   - declared: Types that are given, by column.
  ///   - observe: Is called every few thousand records, for a progress bar.
  /// - Throws: ``InputError`` for bad CSV, a field that has not its declared type, or a declared
  ///   column that is not there.
  init(
    of reader: inout CSVReader, declared: [String: ColumnType] = [:],
    observe: (borrowing CSVReader) throws -> Void = { _ in }
  ) throws {
    let conversions = try ColumnTypes.conversions(declared, reader)
    var evidence = [ColumnEvidence](repeating: ColumnEvidence(), count: reader.header.count)
    var count = 0
    while try reader.next() {
      try ColumnTypes.look(reader, conversions, &evidence)
      count += 1
      if count % 4096 == 0 { try observe(reader) }
    }
    self.init(reader.header, evidence, conversions)
  }

  private static func look(
    _ reader: borrowing CSVReader, _ given: [Conversion?], _ evidence: inout [ColumnEvidence]
  ) throws(InputError) {
    let row = reader.row
    for column in given.indices where !row.isAbsent(column) {
      if let conversion = given[column] {
        _ = try conversion.value(column, row, reader)
      } else {
        evidence[column].note(column, row) { reader.place(column).line }
      }
    }
  }

  private init(_ header: [String], _ evidence: [ColumnEvidence], _ given: [Conversion?]) {
    let conversions = zip(given, evidence).map { $0 ?? $1.conversion }
    self.conversions = conversions
    columns = header.indices.map {
      Column(
        name: header[$0], type: conversions[$0].type,
        obstacle: given[$0] == nil ? evidence[$0].obstacleText : nil,
        rounded: given[$0] == nil && conversions[$0].type == .number ? evidence[$0].rounded : nil)
    }
    byName = header.indices.sorted {
      header[$0].utf8.lexicographicallyPrecedes(header[$1].utf8)
    }
  }

  /// Finds the declared columns, by the bytes of their names.
  private static func conversions(
    _ declared: [String: ColumnType], _ reader: borrowing CSVReader
  ) throws(InputError) -> [Conversion?] {
    var conversions = [Conversion?](repeating: nil, count: reader.header.count)
    for (name, type) in declared.sorted(by: { $0.key < $1.key }) {
      guard let column = reader.header.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) })
      else {
        let names = reader.header.map { JSONText.quoted($0) }.joined(separator: ", ")
        throw reader.error(
          anywhere: "has no column \(InputError.excerpt(name.utf8))",
          hint: "the columns are \(names)")
      }
      conversions[column] = Conversion(declared: type)
    }
    return conversions
  }
}

extension ColumnTypes {
  /// The value of a field of the reader's record, or nil where it is absent.
  ///
  /// - Throws: ``InputError`` where it has not the column's type: the file was changed since.
  func value(_ column: Int, _ reader: borrowing CSVReader) throws(InputError) -> Value? {
    try conversions[column].value(column, reader.row, reader)
  }

  /// The reader's record, without what is absent.
  func record(_ reader: borrowing CSVReader) throws(InputError) -> ValueMap {
    var members: [ValueMap.Member] = []
    members.reserveCapacity(byName.count)
    let row = reader.row
    for column in byName {
      if let value = try conversions[column].value(column, row, reader) {
        members.append(ValueMap.Member(columns[column].name, value))
      }
    }
    return ValueMap(sorted: members)
  }
}

/// The conversion of a column's fields into values.
private enum Conversion {
  case integer, number, rounded, boolean, day, moment, anyDate, text

  init(declared type: ColumnType) {
    switch type {
    case .integer: self = .integer
    case .number: self = .number
    case .boolean: self = .boolean
    case .date: self = .anyDate
    case .text: self = .text
    }
  }

  var type: ColumnType {
    switch self {
    case .integer: .integer
    case .number, .rounded: .number
    case .boolean: .boolean
    case .day, .moment, .anyDate: .date
    case .text: .text
    }
  }

  /// The value of a field, or nil where it is absent.
  func value(
    _ column: Int, _ row: CSVRow, _ reader: borrowing CSVReader
  ) throws(InputError) -> Value? {
    if row.isAbsent(column) { return nil }
    if case .text = self { return .string(row.text(column)) }
    let field = row.fields[column]
    if field.start == field.end { return nil }
    if let value = value(row.bytes.span.extracting(field.range)) { return value }
    throw reader.error(column, expected: expected)
  }

  private func value(_ bytes: Span<UInt8>) -> Value? {
    switch self {
    case .integer: ScalarText.integer(bytes).map { .integer($0) }
    case .number: ScalarText.number(bytes).map { .double($0) }
    case .rounded:
      (NumberText(bytes)?.double(bytes) ?? ScalarText.special(bytes)).map { .double($0) }
    case .boolean: ScalarText.boolean(bytes).map { .bool($0) }
    case .day: ScalarText.date(bytes, .day).map { .date($0) }
    case .moment: ScalarText.date(bytes, .moment).map { .date($0) }
    case .anyDate: ScalarText.date(bytes, nil).map { .date($0) }
    case .text: nil
    }
  }

  private var expected: String {
    switch self {
    case .integer: "an integer"
    case .number: "a number that a double holds exactly"
    case .rounded: "a number"
    case .boolean: "true or false"
    case .day: "a date such as 2013-01-01"
    case .moment: "a date such as 2013-01-01T10:00:00Z"
    case .anyDate: "an ISO 8601 date"
    case .text: "text"
    }
  }
}

/// The types that the fields of one column have allowed so far.
private struct ColumnEvidence {
  private var possible = FieldTypes.all
  /// True if a field was seen that is more than text.
  private var isTyped = false
  /// The number of fields that are more than text.
  private var count = 0
  /// The fields that only a rounded number can be; nil where there are none.
  private(set) var rounded: ColumnTypes.Rounded?
  /// The first text that does not fit the other fields.
  private var obstacle: [UInt8]?
  /// True if there are two such texts, or one in quotes: then it is a column of text, and there is
  /// nothing more to find out.
  private var isText = false

  /// Looks at a field that is not absent; `line` gives its line.
  mutating func note(_ column: Int, _ row: CSVRow, line: () -> Int) {
    let field = row.fields[column]
    if isText || field.start == field.end { return }
    let bytes = row.bytes.span.extracting(field.range)
    let types = FieldTypes(of: bytes).intersection(possible)
    if !types.isEmpty {
      possible = types
      isTyped = true
      count += 1
    } else if possible.contains(.number), FieldTypes.isRoundable(bytes) {
      possible = .number
      isTyped = true
      count += 1
      if rounded == nil { rounded = ColumnTypes.Rounded(line: line()) }
      rounded?.count += 1
    } else if let obstacle {
      isText = !row.bytes.span.extracting(field.range).equals(obstacle) || field.quoting != .plain
    } else {
      obstacle = Array(row.bytes[field.range])
      isText = field.quoting != .plain
    }
  }

  /// A column stays a number where one field of so many is rounded.
  private static let roundedShare = 10

  var conversion: Conversion {
    if isText || obstacle != nil || !isTyped { return .text }
    if possible.contains(.integer) { return .integer }
    if possible.contains(.number) {
      guard let rounded else { return .number }
      return rounded.count * ColumnEvidence.roundedShare <= count ? .rounded : .text
    }
    if possible.contains(.boolean) { return .boolean }
    return possible.contains(.day) ? .day : .moment
  }

  var obstacleText: String? {
    guard let obstacle, isTyped, !isText else { return nil }
    return String(decoding: obstacle, as: UTF8.self)
  }
}
