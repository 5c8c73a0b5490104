// Many models as JSON, streamed; and models with what they refer to.

/// The layout of several values in a text of JSON.
public enum JSONForm: String, Hashable, Sendable {
  /// As the elements of one array.
  case array
  /// Each in a line of its own.
  case lines
}

extension ModelReader where Self: ~Copyable {
  /// A model as a dictionary, with what it refers to where the profile says so.
  ///
  /// - Parameters:
  ///   - model: The model; the records that it refers to are read here.
  ///   - profile: The form of the names and values.
  /// - Returns: As ``Model/dictionary(_:)``.
  /// - Throws: As ``Model/dictionary(_:)`` and `find(_:)`.
  public func dictionary<M: Model>(
    of model: M, _ profile: InterchangeProfile = .standard
  ) throws -> [String: Value] {
    var writer = InterchangeEncoder(profile, try readingSnapshot())
    return try writer.record(model).dictionary
  }

  /// A model as JSON, with what it refers to where the profile says so.
  ///
  /// - Parameters:
  ///   - model: The model; the records that it refers to are read here.
  ///   - profile: The form of the names and values.
  /// - Returns: As ``Model/json(_:)``.
  /// - Throws: As ``dictionary(of:_:)``.
  public func json<M: Model>(
    of model: M, _ profile: InterchangeProfile = .standard
  ) throws -> String {
    var writer = InterchangeEncoder(profile, try readingSnapshot())
    return try writer.record(model).json(profile)
  }
}

extension ModelQuery {
  /// The models that answer, as JSON. Use ``writeJSON(_:_:to:)`` where there may be many.
  ///
  /// - Parameters:
  ///   - form: An array, or lines.
  ///   - profile: The form of each model.
  /// - Returns: The text.
  /// - Throws: As ``fetch()`` and ``Model/json(_:)``.
  public func json(
    _ form: JSONForm = .array, _ profile: InterchangeProfile = .standard
  ) throws -> String {
    var bytes: [UInt8] = []
    try writeJSON(form, profile) { bytes += $0 }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Writes the models that answer as JSON, in pieces, all from one moment.
  ///
  ///     try database.query(Flight.self).writeJSON(.lines) { try file.write(contentsOf: $0) }
  ///
  /// - Parameters:
  ///   - form: An array, or lines.
  ///   - profile: The form of each model.
  ///   - body: Called with the next bytes, 64 KiB or more at once except for the last.
  /// - Throws: Any error that `body` throws; otherwise as ``Walk/fetch()`` and
  ///   ``Model/json(_:)``.
  /// - Complexity: as ``Walk/forEach(_:)``, with a lookup for each reference that is embedded.
  ///   Memory does not depend on how many models there are.
  public func writeJSON(
    _ form: JSONForm, _ profile: InterchangeProfile = .standard,
    to body: ([UInt8]) throws -> Void
  ) throws {
    let snapshot = try request.snapshot()
    var writer = InterchangeEncoder(profile, snapshot)
    var bytes: [UInt8] = form == .array ? [UInt8(ascii: "[")] : []
    var isFirst = true
    try pinned(to: snapshot).forEach { model in
      if form == .array, !isFirst { bytes += Array(",\n".utf8) }
      isFirst = false
      JSONWriter.append(try writer.record(model), as: profile, to: &bytes)
      if form == .lines { bytes.append(ASCII.lineFeed) }
      if bytes.count < JSONPieces.bytes { return }
      try body(bytes)
      bytes.removeAll(keepingCapacity: true)
    }
    if form == .array { bytes += Array("]\n".utf8) }
    if !bytes.isEmpty { try body(bytes) }
  }
}

/// The number of bytes of JSON that are passed on at once.
private enum JSONPieces { static let bytes = 64 << 10 }

extension Model {
  /// Reads models from a file of JSON, one after the other: what is done with them is an ordinary
  /// write.
  ///
  ///     try database.write { tx in
  ///       try Flight.forEach(inJSON: "flights.jsonl", .lines) { try tx.upsert($0) }
  ///     }
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - form: An array, or lines.
  ///   - profile: The form of each model.
  ///   - body: Called with each model.
  /// - Throws: Any error that `body` throws; ``InputError`` with line and column for text that is
  ///   not JSON, and for an invalid model. `body` has then been called with the models before it.
  /// - Complexity: O(bytes). Memory does not depend on the number of models.
  public static func forEach(
    inJSON path: String, _ form: JSONForm, _ profile: InterchangeProfile = .standard,
    _ body: (Self) throws -> Void
  ) throws {
    let source = try ByteSource(path: path)
    var reader = try JSONReader(source, form: form == .lines ? .lines : .document, as: profile)
    if form == .array, try reader.next() != .beginArray {
      throw reader.error(at: 0, "expected an array")
    }
    while let event = try reader.next(), event != .endArray {
      let offset = reader.eventOffset
      let value = try reader.value(from: event)
      var model = Self()
      do { try model.merge(value, profile) } catch let error as ValidationError {
        throw reader.error(at: offset, error.messages.joined(separator: "; "))
      }
      try body(model)
    }
    // Anything that follows the array is an error.
    if form == .array { _ = try reader.next() }
  }
}
