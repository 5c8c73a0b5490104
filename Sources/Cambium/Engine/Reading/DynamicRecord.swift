/// A record whose type the program does not know: for tools, importers and the steps of a
/// ``Migration``.
///
///     if var flight = try snapshot["flights/UA1545"].record {
///       let number = try flight["number", as: Int.self]
///       flight["delay"] = 12
///       try database.write { try $0.upsert(flight) }
///     }
///
/// It is a copy: changing it changes nothing that is stored. When it is written, the same rules
/// apply as to every other write, but the app's code does not run.
public struct DynamicRecord: Hashable, Sendable {
  /// The path of the record.
  public var path: NodePath
  /// The stored values, by name.
  public var values: ValueMap
  /// The value by which the query that found the record divides its results into sections, with
  /// `section by`; `null` where the record has none. Nil where there are no sections.
  ///
  ///     for try await diff in query.changes(by: { $0.section ?? .null }) { … }
  public internal(set) var section: Value?
  /// The defaults of values that are not stored.
  private var defaults: DeclaredDefaults?

  /// Makes a record from a path and values.
  public init(_ path: NodePath, _ values: ValueMap = ValueMap()) {
    self.path = path
    self.values = values
  }

  init(_ path: NodePath, _ values: ValueMap, _ defaults: DeclaredDefaults?) {
    self.init(path, values)
    self.defaults = defaults
  }

  /// The values, with the defaults of absent ones.
  package var allValues: ValueMap { defaults?.completing(values) ?? values }

  /// True if both have the same path and the same stored values, and are in the same section.
  public static func == (a: DynamicRecord, b: DynamicRecord) -> Bool {
    a.path == b.path && a.values == b.values && a.section == b.section
  }

  /// Hashes the path and the stored values; a section adds little to these.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(path)
    hasher.combine(values)
  }

  /// The key; nil for the root, whose path has none.
  public var key: Key? { path.last }

  /// The names of the stored properties, in byte order.
  public var names: [String] { values.members.map(\.name) }

  /// A property's value; if a record that was read has none, the declared default,
  /// ``PropertyDefinition/absence``; else nil. Assigning nil removes the property.
  public subscript(name: String) -> Value? {
    get { defaults?.value(of: name, in: values) ?? values[name] }
    set { values[name] = newValue }
  }
}

extension Node {
  /// The node's record; nil if there is none, or a single value.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  public var record: DynamicRecord? {
    get throws {
      guard case .map(let values)? = try ownValue else { return nil }
      return DynamicRecord(path, values, try declaredDefaults)
    }
  }
}
