import FoundationEssentials

/// One property of a ``Live`` object: its value, and all that is known about it.
///
///     let number = flight.properties.number        // or flight.property(\.number)
///     number.value = 7
///     if case .invalid(let messages) = number.validation { show(messages) }
///     for try await value in number.values { show(value) }
///
/// It is a value that holds its object.
public struct LiveProperty<M: Model, V: PropertyValue>: Sendable {
  /// The object.
  public let object: Live<M>
  let property: WritableKeyPath<M, V> & Sendable
  /// Its parts; nil for a computed property, which may follow from any.
  private let parts: Range<Int>?

  init(_ object: Live<M>, _ property: WritableKeyPath<M, V> & Sendable) {
    self.object = object
    self.property = property
    parts = ModelParts<M>().parts(of: property)
  }

  /// The names under which it is stored: one, or those of the properties of a nested value.
  public var names: [String] { parts?.compactMap { ModelParts<M>().name($0) } ?? [] }

  /// The declaration: its label, type and domain; nil for a nested value.
  public var definition: PropertyDefinition? { M.schema[property] }

  // MARK: The value

  /// The local value, the stored one, or where there is none the initial one. Setting it writes it
  /// through, on the calling thread; a value that is refused stays local. See ``Live``.
  public var value: V {
    get { object[property] }
    nonmutating set { try? object.set(property, to: newValue) }
  }

  /// The stored value; nil where there is no such object.
  public var stored: V? { object.stored?[keyPath: property] }

  /// Enters a value without storing it, until the object is saved.
  public func enter(_ value: V) { object.enter(property, value) }

  /// Stores a value, and throws where that is refused; see `set(_:to:metadata:actor:)` of ``Live``.
  ///
  /// - Parameters:
  ///   - value: The new value.
  ///   - metadata: Stored with the transaction.
  ///   - actor: Who makes the change; stored in the metadata as `actor`.
  /// - Throws: As that; the value stays as a local one.
  public func set(_ value: V, metadata: [String: String] = [:], actor: String? = nil) throws {
    try object.set(property, to: value, metadata: metadata, actor: actor)
  }

  /// The value now, and then each other one, whether it is entered here or stored by anybody.
  ///
  /// Iterating follows the object: its changes are shown meanwhile, on the thread of the iterator.
  ///
  /// - Complexity: as ``Live/follow(isolation:)``.
  public var values: LiveValues<V> {
    let (object, property) = (object, self)
    return LiveValues(isSame: { $0.isSame($1) }) {
      let watch = try RecordWatch(try object.id.path, object.database)
      let observer = object.observe { watch.nudge() }
      return LiveValues.Source {
        try object.refresh()
        return property.value
      } next: {
        defer { withExtendedLifetime(observer) {} }
        guard let snapshot = try await watch.next() else { return nil }
        return try object.database.unlessClosed {
          try object.show(snapshot)
          return property.value
        }
      }
    }
  }

  // MARK: The state

  /// The state of the property.
  public var loadState: LoadState { object.loadState(of: parts) }

  /// The messages of the model's rules about the property, and those that a write was refused with.
  public var validation: ValidationState { object.validation(of: parts) }

  /// Drops the local value: the stored one is shown again.
  public func revert() { object.change { $0.drop(parts) } }

  /// Resolves a conflict in favor of the local value, which the next save stores.
  public func keepLocal() { object.change { $0.keep(parts) } }

  // MARK: The past

  /// When the object was last written, with this value or another; nil where it is not there.
  ///
  /// - Throws: As `updatedAt(_:)` of a database.
  public var updatedAt: Date? { get throws { try object.database.updatedAt(object.id) } }

  /// The transaction that gave the property the value that is stored now; nil where there is none.
  ///
  /// - Throws: As ``Database/blame(_:at:)``.
  /// - Complexity: as ``Database/blame(_:at:)``: it walks the object's history back to it.
  public var lastChange: Blame.Setting? {
    get throws {
      let path = try object.id.path
      let settings = try names.flatMap { name in
        try object.database.blame(path.appending(try Key(name))).map(\.set)
      }
      return settings.max { $0.sequence < $1.sequence }
    }
  }

  /// When the property got the value that is stored now; nil where there is none, or compaction has
  /// removed the transaction.
  ///
  /// - Throws: As ``lastChange``.
  public var changedAt: Date? { get throws { try lastChange?.transaction?.time } }

  /// Who gave the property the value that is stored now: the `actor` of the transaction.
  ///
  /// - Throws: As ``lastChange``.
  public var author: String? { get throws { try lastChange?.transaction?.metadata["actor"] } }
}

extension LiveProperty: Equatable {
  /// True for the same property of the same handle.
  public static func == (a: LiveProperty, b: LiveProperty) -> Bool {
    a.object === b.object && a.property == b.property
  }
}

extension Blame.Setting {
  /// The transaction; nil where only the latest possible one is known.
  public var transaction: TransactionInfo? {
    if case .by(let transaction) = self { transaction } else { nil }
  }

  /// The transaction's place in the log, or the latest possible one.
  public var sequence: SequenceNumber {
    switch self {
    case .by(let transaction): transaction.sequence
    case .atOrBefore(let sequence): sequence
    }
  }
}

/// The properties of an object, by their names.
@dynamicMemberLookup
public struct LiveProperties<M: Model>: Sendable {
  fileprivate let object: Live<M>

  /// The property of a name.
  public subscript<V: PropertyValue>(
    dynamicMember property: WritableKeyPath<M, V> & Sendable
  ) -> LiveProperty<M, V> { LiveProperty(object, property) }
}

extension Live {
  /// The properties of the object, with all that is known about each: `flight.properties.number`.
  public var properties: LiveProperties<M> { LiveProperties(object: self) }

  /// A property of the object, with all that is known about it.
  ///
  /// - Parameter property: The key path of a stored property, or of a nested value.
  /// - Returns: The property.
  public func property<V: PropertyValue>(
    _ property: WritableKeyPath<M, V> & Sendable
  ) -> LiveProperty<M, V> { LiveProperty(self, property) }
}
