import Cambium

/// A file becomes records of a declared collection: its declaration says what each value is, and
/// which value is the key. A value that does not fit ends the import with its place.
struct ModelImport {
  private let collection: CollectionInterchange
  private let key: RowKey
  private let profile: InterchangeProfile
  private let absent: AbsentMark
  /// The byte between the fields of a CSV file.
  private let delimiter: UInt8

  init(
    _ collection: CollectionInterchange, key: RowKey, _ profile: InterchangeProfile,
    absent: AbsentMark, delimiter: UInt8 = ASCII.comma
  ) {
    self.collection = collection
    self.key = key
    self.profile = profile
    self.absent = absent
    self.delimiter = delimiter
  }

  /// The row of a record that says its key, or whose collection takes any.
  private func row(
    _ record: ValueMap, _ own: Key?, _ text: (String) throws -> String
  ) throws -> RowImport.Row {
    func row(_ key: Key, isOwn: Bool = true) -> RowImport.Row {
      let path = collection.path.appending(key)
      return RowImport.Row(key: isOwn ? path : nil, nodes: [(path, .map(record))])
    }
    if !key.columns.isEmpty { return row(try key.key(text)) }
    if let own { return row(own) }
    guard [nil, .uuid].contains(collection.definition.keys) else {
      throw ValidationError(property: "id", "is required")
    }
    return row(Key.unique(), isOwn: false)
  }

  // MARK: CSV

  /// Imports a CSV file, whose fields are texts: each is read as its property's type.
  func runCSV(_ source: consuming ByteSource, _ rows: RowImport, _ bar: ProgressBar) throws {
    var reader = try CSVReader(source, absent: absent, delimiter: delimiter)
    let names = try columns(reader)
    try rows.take(&reader, bar) { try row($0, names) }
  }

  /// The names that the columns stand for; nil for ignored columns.
  private func columns(_ reader: borrowing CSVReader) throws -> [CollectionInterchange.Name?] {
    let names = try collection.names(profile)
    let columns = reader.header.map { names[$0] }
    for name in key.columns { _ = try reader.column(name) }
    if profile.unknownNames == .ignored { return columns }
    for (name, column) in zip(reader.header, columns)
    where column == nil && !key.columns.contains(name) {
      throw Failure(
        .usage, "no_property",
        "\(collection.path) has no property that is written as \(JSONText.quoted(name))",
        hint: "there are \(names.keys.sorted().joined(separator: ", ")); --ignore-unknown passes "
          + "over others")
    }
    return columns
  }

  private func row(
    _ reader: borrowing CSVReader, _ names: [CollectionInterchange.Name?]
  ) throws -> RowImport.Row {
    let (fields, header) = (reader.row, reader.header)
    var record = ValueMap()
    for column in header.indices where !fields.isAbsent(column) {
      guard let name = names[column] else { continue }
      if let value = try value(fields.text(column), of: name, column, reader) {
        record[header[column]] = value
      }
    }
    do {
      let (own, stored) = try collection.read(.map(record), profile)
      return try row(stored, own) { name in
        guard let column = header.firstIndex(of: name), !fields.isAbsent(column) else {
          throw ValidationError(property: name, "is required for the key")
        }
        return fields.text(column)
      }
    } catch let error as ValidationError {
      let wrong = error.causes.first?.property
      let column = names.firstIndex { $0.map { ModelImport.name(of: $0) == wrong } ?? false }
      throw reader.error(in: column, error.messages.joined(separator: "; "))
    }
  }

  private static func name(of name: CollectionInterchange.Name) -> String {
    if case .property(let property) = name { return property.name }
    return "id"
  }

  /// A field's value; nil where it is absent. Of arrays and maps it is JSON.
  private func value(
    _ text: String, of name: CollectionInterchange.Name, _ column: Int,
    _ reader: borrowing CSVReader
  ) throws -> Value? {
    guard case .property(let property) = name else { return .string(text) }
    switch property.type {
    case .array, .map, .keyed, .blob:
      if text.isEmpty { return nil }
      do { return try JSONReader.value(of: text, name: property.name, isTyped: false) } catch {
        throw reader.error(in: column, "\(property.name) must be JSON: \(error.reason)")
      }
    case .string, .any: return .string(text)
    default: return text.isEmpty ? nil : .string(text)
    }
  }

  // MARK: JSON

  /// Imports a JSON object from each line, or from each element of a document's array.
  func runJSON(
    _ source: consuming ByteSource, _ form: JSONTokens.Form, _ rows: RowImport, _ bar: ProgressBar
  ) throws {
    var reader = try JSONReader(source, form: form, as: profile)
    if form == .document, try reader.next() != .beginArray {
      throw reader.error(at: 0, "expected an array of objects", hint: "or --format jsonl")
    }
    try rows.take(&reader, bar) { value, _ in
      let (own, record) = try collection.read(withoutForeignKey(value), profile)
      return try row(record, own) { name in
        guard case .map(let members) = value, let text = members[name].flatMap(JSONImport.keyText)
        else { throw ValidationError(property: name, "is required for the key") }
        return text
      }
    }
  }

  /// The object without those members of the key that are no properties.
  private func withoutForeignKey(_ value: Value) throws -> Value {
    guard !key.columns.isEmpty, case .map(var record) = value else { return value }
    let names = try collection.names(profile)
    for name in key.columns where names[name] == nil { record[name] = nil }
    return .map(record)
  }
}
