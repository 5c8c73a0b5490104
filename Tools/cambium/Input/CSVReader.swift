import Cambium

/// Reads CSV record by record: RFC 4180 in UTF-8, with a header, in constant memory.
///
///     var reader = try CSVReader(ByteSource(path: "flights.csv"), absent: .none)
///     while try reader.next() { print(reader.row.text(0)) }
///
/// The RFC leaves some points open, which are settled so:
/// - Lines end with LF or CRLF; the last one may lack its end. A byte order mark is skipped.
/// - Another delimiter than the comma, such as a tab, changes nothing else.
/// - A field without quotes and without bytes is absent, and so is one that reads as the `absent`
///   mark, such as `NA`. In quotes either is text: `""` is the empty text.
/// - Otherwise quotes mean nothing: `"12"` may be an integer.
/// - An empty line is passed over, unless the header names a single column: there it is an absent
///   field.
struct CSVReader: ~Copyable {
  /// The largest size of a record: a missing quote makes the rest of a file one record.
  static let recordBytesMax = 16 << 20
  /// The largest number of columns.
  static let columnsMax = 16_384

  /// The columns' names: not empty, each once.
  private(set) var header: [String] = []
  private var source: ByteSource
  private var scanner: CSVScanner
  private let absent: AbsentMark
  private let recordBytesMax: Int
  private var recordStart = 0
  /// The number of bytes of the input before the record.
  private(set) var recordOffset: UInt64 = 0

  /// Reads the header.
  ///
  /// - Parameters:
  ///   - source: The input, at its start.
  ///   - absent: The text that marks an absent field, besides the empty one.
  ///   - delimiter: The byte between fields.
  ///   - recordBytesMax: The largest size of a record.
  /// - Throws: ``InputError`` when there is no header, or it has empty or equal names.
  init(
    _ source: consuming ByteSource, absent: AbsentMark = .none, delimiter: UInt8 = ASCII.comma,
    recordBytesMax: Int = recordBytesMax
  ) throws(InputError) {
    self.source = source
    scanner = CSVScanner(fieldsMax: CSVReader.columnsMax, delimiter: delimiter)
    self.absent = absent
    self.recordBytesMax = recordBytesMax
    header = try readHeader()
    scanner.fieldsMax = header.count
  }

  /// The input's length in bytes, and how much of it is read, for a progress bar.
  var progress: (done: UInt64, total: UInt64) { (source.offset, source.size) }

  /// Steps to the next record; false at the end of the input.
  ///
  /// - Throws: ``InputError`` with the place.
  mutating func next() throws(InputError) -> Bool {
    while try advance() {
      if scanner.count == header.count { return true }
      if isEmptyLine { continue }
      throw wrongCount()
    }
    return false
  }

  /// Goes back to the first record.
  mutating func rewind() throws(InputError) {
    source.rewind()
    guard try readHeader() == header else {
      throw error(anywhere: "was changed while it was read: its header is another now")
    }
  }
}

extension CSVReader {
  /// The fields of the record. Release it before reading the next record, which copies the buffer
  /// otherwise.
  var row: CSVRow { CSVRow(bytes: source.buffer, fields: scanner.fields, absent: absent) }

  /// The number of bytes of this record.
  var recordBytes: Int { source.position - recordStart }

  /// The place of a field of this record in the input.
  ///
  /// - Complexity: as `ByteSource.place(at:)`; for messages only.
  func place(_ column: Int) -> InputError.Place { source.place(at: scanner.fields[column].start) }

  /// An error about a field of this record: what was expected in its column, and what is there.
  func error(_ column: Int, expected: String) -> InputError {
    let found = InputError.excerpt(row.text(column).utf8)
    let name = InputError.excerpt(header[column].utf8)
    return source.error(
      at: scanner.fields[column].start, "expected \(expected) in column \(name), found \(found)")
  }

  /// An error about a field of this record, or about all of it where that is not known.
  func error(in column: Int?, _ reason: String) -> InputError {
    source.error(at: column.map { scanner.fields[$0].start } ?? recordStart, reason)
  }

  /// An error about this record as a whole.
  func error(_ reason: String, hint: String? = nil) -> InputError {
    source.error(at: recordStart, reason, hint: hint)
  }

  /// An error about a record of which only the offset was kept. The input is read again up to
  /// there, so that afterwards the reader can only be rewound.
  mutating func error(at offset: UInt64, _ reason: String, hint: String? = nil) -> InputError {
    source.error(atOffset: offset, reason, hint: hint)
  }

  /// An error about the input as a whole.
  func error(anywhere reason: String, hint: String? = nil) -> InputError {
    InputError(input: source.name, place: nil, reason: reason, hint: hint)
  }
}

extension CSVReader {
  /// Scans the next record; false where there is none.
  private mutating func advance() throws(InputError) -> Bool {
    while true {
      if source.position == source.end {
        if source.isAtEnd { return false }
        try source.more()
        continue
      }
      switch scan() {
      case .record(let next):
        try checkLength(next - source.position)
        recordStart = source.position
        recordOffset = source.offset
        source.position = next
        return true
      case .incomplete:
        try checkLength(source.end - source.position)
        try source.more()
      case .bad(let index, let problem):
        throw error(at: index, problem)
      }
    }
  }

  private mutating func scan() -> CSVScanner.Outcome {
    let buffer = source.buffer
    return scanner.scan(
      buffer.span, from: source.position, to: source.end, isLast: source.isAtEnd)
  }

  private var isEmptyLine: Bool {
    scanner.count == 1 && scanner.fields[0].quoting == .plain
      && scanner.fields[0].start == scanner.fields[0].end
  }

  private func checkLength(_ count: Int) throws(InputError) {
    guard count > recordBytesMax else { return }
    throw source.error(
      at: source.position,
      "expected a record of at most \(InputError.amount(recordBytesMax)), found a longer one",
      hint: "is the quote that closes a field missing?")
  }

  private func wrongCount() -> InputError {
    let index = scanner.surplus ?? scanner.fields.last?.end ?? recordStart
    let fields = header.count == 1 ? "1 field" : "\(header.count) fields"
    return source.error(at: index, "expected \(fields) as in the header, found \(scanner.count)")
  }

  private func error(at index: Int, _ problem: CSVScanner.Problem) -> InputError {
    switch problem {
    case .quoteInside:
      source.error(
        at: index, "expected no quote inside a field without quotes",
        hint: "put the whole field in quotes, and double those inside")
    case .afterQuote(let byte):
      source.error(
        at: index,
        "expected \(delimiterName) or the end of the line after the closing quote, found "
          + InputError.excerpt(byte),
        hint: "a quote inside a field is doubled")
    case .unclosed:
      source.error(at: index, "expected a quote that closes this field, found the end of the input")
    case .carriageReturn:
      source.error(
        at: index, "expected a line feed after the carriage return",
        hint: "a carriage return inside a field needs quotes around the field")
    case .encoding:
      source.error(
        at: index, "expected UTF-8, found the byte 0x\(String(source.buffer[index], radix: 16))",
        hint: "convert the file, for example with iconv -f "
          + "\(source.buffer[index] < 0xFE ? "latin1" : "utf-16") -t utf-8")
    }
  }

  private var delimiterName: String {
    switch scanner.delimiter {
    case ASCII.comma: "a comma"
    case UInt8(ascii: "\t"): "a tab"
    case let byte: InputError.excerpt(byte)
    }
  }

  private mutating func readHeader() throws(InputError) -> [String] {
    try source.skipByteOrderMark()
    guard try advance(), !isEmptyLine else {
      throw source.error(at: 0, "expected a header with the names of the columns, found nothing")
    }
    if scanner.count > CSVReader.columnsMax {
      throw source.error(
        at: scanner.surplus ?? 0,
        "expected at most \(CSVReader.columnsMax) columns, found \(scanner.count)")
    }
    var names: [String] = []
    var known: Set<[UInt8]> = []
    let row = row
    for column in scanner.fields.indices {
      let name = row.text(column)
      if name.isEmpty {
        throw source.error(
          at: scanner.fields[column].start,
          "expected a name for column \(column + 1), found an empty one")
      }
      if !known.insert(Array(name.utf8)).inserted {
        throw source.error(
          at: scanner.fields[column].start,
          "expected each column once, found \(InputError.excerpt(name.utf8)) again")
      }
      names.append(name)
    }
    return names
  }
}
