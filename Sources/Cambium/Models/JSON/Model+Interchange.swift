// Models as dictionaries and JSON, and back.

extension Model {
  // MARK: Out

  /// The model as a dictionary.
  ///
  ///     let dictionary = try flight.dictionary()   // ["id": "0190…", "number": 1545, …]
  ///
  /// - Parameter profile: The form of the dictionary. References are ids, whatever the profile
  ///   says: see ``ModelReader/dictionary(of:_:)``.
  /// - Returns: The names and the values.
  /// - Throws: ``DatabaseError/misuse(reason:)`` where two properties would have one name, and what
  ///   a type of the app's throws.
  /// - Complexity: O(properties): each is written and read again as a ``Value``.
  public func dictionary(_ profile: InterchangeProfile = .standard) throws -> [String: Value] {
    var writer = InterchangeEncoder(profile)
    return try writer.record(self).dictionary
  }

  /// The model as JSON, with the names in the order of their bytes.
  ///
  /// - Parameter profile: As for ``dictionary(_:)``.
  /// - Returns: The text, in one line.
  /// - Throws: As ``dictionary(_:)``.
  public func json(_ profile: InterchangeProfile = .standard) throws -> String {
    var writer = InterchangeEncoder(profile)
    return try writer.record(self).json(profile)
  }

  // MARK: In

  /// Makes a model of a dictionary. Properties that are not in it keep their initial values.
  ///
  /// - Parameters:
  ///   - dictionary: The names and the values.
  ///   - profile: The form of the JSON.
  /// - Throws: ``ValidationError`` with everything that is wrong, by property.
  public init(
    dictionary: [String: Value], _ profile: InterchangeProfile = .standard
  ) throws {
    self.init()
    try merge(dictionary: dictionary, profile)
  }

  /// Makes a model of JSON. Properties that are not in it keep their initial values.
  ///
  /// - Parameters:
  ///   - json: A text with one object.
  ///   - profile: The form of the JSON.
  /// - Throws: ``InputError`` where the text is no JSON; otherwise as
  ///   ``init(dictionary:_:)``.
  public init(json: String, _ profile: InterchangeProfile = .standard) throws {
    self.init()
    try merge(json: json, profile)
  }

  /// Takes over the values of a dictionary. Properties that are not in it stay; null makes nil.
  ///
  ///     try tx.update(id) { try $0.merge(dictionary: ["departureDelay": 12]) }
  ///
  /// - Parameters:
  ///   - dictionary: The names and the values. An id must be the model's own, if it has one.
  ///   - profile: The form of the JSON. Properties that it does not show count as unknown.
  /// - Throws: ``ValidationError`` with everything that is wrong, by property; the model is then as
  ///   it was.
  public mutating func merge(
    dictionary: [String: Value], _ profile: InterchangeProfile = .standard
  ) throws {
    try merge(ValueMap(pairs: dictionary.map { ($0, $1) }), profile)
  }

  /// Takes over what JSON has, as ``merge(dictionary:_:)``.
  ///
  /// - Parameters:
  ///   - json: A text with one object.
  ///   - profile: The form of the JSON.
  /// - Throws: ``InputError`` where the text is no JSON; otherwise as ``merge(dictionary:_:)``.
  public mutating func merge(json: String, _ profile: InterchangeProfile = .standard) throws {
    let source = ByteSource(bytes: Array(json.utf8), name: "JSON")
    var reader = try JSONReader(source, as: profile)
    let value = try reader.value()
    _ = try reader.next()
    try merge(value ?? .null, profile)
  }

  mutating func merge(_ value: Value, _ profile: InterchangeProfile) throws {
    guard case .map(let record) = value else {
      throw ValidationError(causes: [ValidationError("must be an object, not \(value.kindText)")])
    }
    try merge(record, profile)
  }

  mutating func merge(_ record: ValueMap, _ profile: InterchangeProfile) throws {
    let core = Self.schema.core
    try core.check()
    if let union = self as? any ModelUnion {
      self = try union.merged(with: record, profile) as? Self ?? self
      return
    }
    var reader = InterchangeDecoder(profile)
    let found = try reader.record(record, core.table)
    var copy = self
    if let id = found.id { copy.take(id: id, &reader) }
    for (index, value) in found.values {
      let property = core.properties[index]
      do { try property.read(value, into: &copy) } catch {
        reader.note(property.name, error)
      }
    }
    if !reader.problems.isEmpty {
      throw ValidationError(path: try? core.path(of: copy.id), causes: reader.problems)
    }
    self = copy
  }

  private mutating func take(id value: Value, _ reader: inout InterchangeDecoder) {
    if value == .null { return }
    do {
      let found = try ID(storedValue: value)
      if id.isAssigned, found != id {
        return reader.note("id", "must be \(id.key), which it is already")
      }
      id = found
    } catch { reader.note("id", error) }
  }
}

extension PropertyInfo {
  fileprivate func read<T>(_ value: Value, into owner: inout T) throws {
    try value.stored().lend { try read($0, depth: 0, into: &owner) }
  }

  /// The value that is stored for the property; null for nothing.
  fileprivate func storedValue<T>(in owner: T) throws -> Value {
    var writer = ValueWriter()
    try write(from: owner, to: &writer)
    return try writer.buffer.array().lend { try Value($0) }
  }
}

extension InterchangeDecoder {
  /// Notes what a type has against a value.
  fileprivate mutating func note(_ property: String, _ error: any Error) {
    switch error {
    case let mismatch as ValueMismatch:
      // A sentence that begins with the property.
      note(property, String(mismatch.reason.trimmingPrefix("it ")))
    case DatabaseError.badValue(_, let reason): note(property, "cannot be stored: \(reason)")
    default: note(property, "cannot be read: \(error)")
    }
  }
}

extension InterchangeEncoder {
  /// Writes a model that is asked for.
  mutating func record<M: Model>(_ model: M) throws -> ValueMap {
    let core = M.schema.core
    try core.check()
    if let union = model as? any ModelUnion { return try union.written { try $0(&self, nil) } }
    let path = model.id.isAssigned ? try core.path(of: model.id) : nil
    return try record(core.table, at: path) { try model.storedValue(of: $0, core) }
  }

  /// Writes a model in the place of a reference.
  mutating func object<M: Model>(_ model: M, at place: [String]) throws -> ValueMap {
    let core = M.schema.core
    if let union = model as? any ModelUnion { return try union.written { try $0(&self, place) } }
    return try object(core.table, place) { try model.storedValue(of: $0, core) }
  }
}

extension Model {
  fileprivate func storedValue(of property: Int?, _ core: SchemaCore) throws -> Value {
    guard let property else { return id.storedValue }
    return try core.properties[property].storedValue(in: self)
  }
}

extension ValueMap {
  /// The members as a dictionary. Names that Swift takes for equal are those of two properties
  /// only.
  var dictionary: [String: Value] {
    Dictionary(pairs) { first, _ in first }
  }

  /// The record as JSON.
  func json(_ profile: InterchangeProfile) -> String {
    var output: [UInt8] = []
    JSONWriter.append(self, as: profile, to: &output)
    return String(decoding: output, as: UTF8.self)
  }
}

extension JSONReader {
  /// Starts to read what was written with a profile.
  package init(
    _ source: consuming ByteSource, form: JSONTokens.Form = .document,
    as profile: InterchangeProfile
  ) throws(InputError) {
    let isTyped = profile.kinds == .kept
    let digits: Digits = profile.isLenient ? .keptWherePossible : .kept
    try self.init(source, form: form, isTyped: isTyped, digits: isTyped ? .rounded : digits)
  }
}
