/// One change of a value in place: of a number, an array, a set or a dictionary.
///
///     try tx.change("users/ada", "tags", .include("vip"))
///
/// It describes the change and not the result, so that two writers who both add lose nothing. The
/// log, the transaction, scripts and undo use this one type; in the engine its payload is a stored
/// value, in public a ``Value``.
///
/// A set is stored as an array with each element once, in the order of their bytes; a dictionary as
/// a map. A part of either is identified by its content and not by its place, so changes of
/// different parts can be made and undone in any order.
public enum ValueChange<Payload> {
  /// Adds to a number; an absent one counts as zero.
  case increment(by: Payload)
  /// Adds an element at the end of an array; an absent one counts as empty.
  case append(Payload)
  /// Inserts an element into an array before the one at a position, counted from 0.
  case insert(Payload, at: UInt64)
  /// Removes the element at a position from an array.
  case removeElement(at: UInt64)
  /// Adds an element to a set that does not have it.
  case include(Payload)
  /// Removes an element from a set that has it.
  case exclude(Payload)
  /// Sets the value of a dictionary's key; nil removes the entry.
  case setEntry(key: String, Payload?)
  /// Adds to the number under a key of a dictionary; an absent one counts as zero.
  case incrementEntry(key: String, by: Payload)

  /// The value that the change carries; nil if it has none.
  public var payload: Payload? {
    switch self {
    case .increment(let value), .append(let value), .insert(let value, _), .include(let value),
      .exclude(let value), .incrementEntry(_, let value):
      value
    case .setEntry(_, let value): value
    case .removeElement: nil
    }
  }

  /// The position in an array that the change applies to.
  public var position: UInt64? {
    switch self {
    case .insert(_, let position), .removeElement(let position): position
    default: nil
    }
  }

  /// The key of the dictionary's entry that it changes.
  public var key: String? {
    switch self {
    case .setEntry(let key, _), .incrementEntry(let key, _): key
    default: nil
    }
  }

  /// The same change with another payload.
  ///
  /// - Parameter transform: Makes the new payload.
  /// - Returns: The change.
  /// - Throws: Any error that `transform` throws.
  public func map<Other, Failure>(
    _ transform: (Payload) throws(Failure) -> Other
  ) throws(Failure) -> ValueChange<Other> {
    switch self {
    case .increment(let step): .increment(by: try transform(step))
    case .append(let element): .append(try transform(element))
    case .insert(let element, let position): .insert(try transform(element), at: position)
    case .removeElement(let position): .removeElement(at: position)
    case .include(let element): .include(try transform(element))
    case .exclude(let element): .exclude(try transform(element))
    case .setEntry(let key, let value?): .setEntry(key: key, try transform(value))
    case .setEntry(let key, nil): .setEntry(key: key, nil)
    case .incrementEntry(let key, let step): .incrementEntry(key: key, by: try transform(step))
    }
  }
}

extension ValueChange: Equatable where Payload: Equatable {}
extension ValueChange: Hashable where Payload: Hashable {}
extension ValueChange: Sendable where Payload: Sendable {}

// MARK: Names

/// The names of changes in scripts and exports; removing an entry has one of its own.
package enum ValueChangeName: String, CaseIterable, Sendable {
  case increment, append, insert, removeElement, include, exclude, setEntry, removeEntry
  case incrementEntry

  /// The name of the payload.
  package var payload: String { isStep ? "by" : "value" }

  /// True if the payload is added to a number.
  package var isStep: Bool { self == .increment || self == .incrementEntry }

  /// True if it removes nothing that exists, so that two such changes do not interfere.
  var adds: Bool { isStep || self == .append || self == .include }
}

extension ValueChange {
  package var name: ValueChangeName {
    switch self {
    case .increment: .increment
    case .append: .append
    case .insert: .insert
    case .removeElement: .removeElement
    case .include: .include
    case .exclude: .exclude
    case .setEntry(_, let value): value == nil ? .removeEntry : .setEntry
    case .incrementEntry: .incrementEntry
    }
  }

  /// Makes the change with a name out of its parts; a closure is called for each part that it has.
  package init(
    _ name: ValueChangeName, key: @autoclosure () throws -> String,
    position: @autoclosure () throws -> UInt64, payload: @autoclosure () throws -> Payload
  ) rethrows {
    switch name {
    case .increment: self = .increment(by: try payload())
    case .append: self = .append(try payload())
    case .insert:
      let position = try position()
      self = .insert(try payload(), at: position)
    case .removeElement: self = .removeElement(at: try position())
    case .include: self = .include(try payload())
    case .exclude: self = .exclude(try payload())
    case .setEntry: self = .setEntry(key: try key(), try payload())
    case .removeEntry: self = .setEntry(key: try key(), nil)
    case .incrementEntry: self = .incrementEntry(key: try key(), by: try payload())
    }
  }

  /// The change in words, up to the name of the changed value.
  package var words: String {
    switch self {
    case .increment: "increment"
    case .append: "append to"
    case .insert: "insert into"
    case .removeElement(let position): "remove element \(position) of"
    case .include: "put into the set"
    case .exclude: "take out of the set"
    case .setEntry: "set in"
    case .incrementEntry: "increment in"
    }
  }
}
