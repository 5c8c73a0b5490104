/// A record whose type the program does not know: for tools, importers and the steps of a
/// ``Migration``.
///
///     if var flight = try snapshot["flights/UA1545"].record {
///       let number = try flight["number", as: Int.self]
///       flight["delay"] = 12
///       try database.write { try $0.upsert(flight) }
///     }
///
/// It is a copy: changing it changes nothing that is stored. Written, it obeys the same rules as
/// every other write, but not the app's code.
public struct DynamicRecord: Hashable, Sendable {
  /// Where it is.
  public var path: Path
  /// The values that are stored, by name.
  public var values: Record
  /// The defaults that stand for values that are not stored.
  private var defaults: DeclaredDefaults?

  /// Takes a place and values.
  public init(_ path: Path, _ values: Record = Record()) {
    self.path = path
    self.values = values
  }

  init(_ path: Path, _ values: Record, _ defaults: DeclaredDefaults?) {
    self.init(path, values)
    self.defaults = defaults
  }

  /// The values with those that absence stands for.
  package var allValues: Record { defaults?.completing(values) ?? values }

  /// True if both are at one place and store the same.
  public static func == (a: DynamicRecord, b: DynamicRecord) -> Bool {
    a.path == b.path && a.values == b.values
  }

  /// Takes in what makes records equal.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(path)
    hasher.combine(values)
  }

  /// The key; nil for a path that has none, the root.
  public var key: Key? { path.last }

  /// The names of the properties that are stored, in the order of their bytes.
  public var names: [String] { values.members.map(\.name) }

  /// A property's value; where a record that was read has none, what is declared to stand for it,
  /// ``PropertyDefinition/absence``; else nil. Assigning nil takes the property out.
  public subscript(name: String) -> Value? {
    get { defaults?.value(of: name, in: values) ?? values[name] }
    set { values[name] = newValue }
  }
}

extension Node {
  /// The node's record; nil where there is none, or a single value.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  public var record: DynamicRecord? {
    get throws {
      guard case .map(let values)? = try ownValue else { return nil }
      return DynamicRecord(path, values, try declaredDefaults)
    }
  }
}
