// Finds the stored properties of a type: names, types and places, once per type. `Mirror` gives the
// names and the types; the places follow from the layout rule of Swift's structs, in order, each at
// its alignment. Where the sizes do not add up, there is something that `Mirror` does not see.

/// One stored property: its name, where it lies in the value, and how its type is handled.
struct DiscoveredProperty: PlacedProperty, Sendable {
  var name: String
  var offset: Int
  var shape: PropertyShape
}

/// A stored property of a type that cannot be stored in a record.
struct UnstorableProperty: Sendable {
  let name: String
  let offset: Int
  let reason: String
}

/// The stored properties of a type, or the reason why it cannot be stored.
struct Discovery {
  private(set) var properties: [DiscoveredProperty] = []
  /// The properties that the schema must ignore, or that make the type one that cannot be stored.
  private(set) var unstorable: [UnstorableProperty] = []
  /// The offset of the model's id.
  private(set) var idOffset: Int?
  /// The reason why the type cannot be stored; nil if it can.
  private(set) var problem: String?
  private let flattens: Bool

  /// Looks at a value.
  ///
  /// - Parameters:
  ///   - template: A value of the type.
  ///   - flattens: True if the properties of nested values count as the value's own.
  init<T>(of template: T, flattens: Bool) {
    self.flattens = flattens
    let end = walk(template, prefix: "", start: 0, type: "\(T.self)")
    if let end, end != MemoryLayout<T>.size {
      problem = """
        \(T.self) has stored properties that cannot be seen (\(MemoryLayout<T>.size) bytes, \(end) \
        are known); list them: Schema(listing: …)
        """
    }
  }

  /// Visits a value's children.
  ///
  /// - Returns: Where the last one ends, or nil where there is a problem.
  private mutating func walk(_ value: Any, prefix: String, start: Int, type: String) -> Int? {
    var end = start
    for child in Mirror(reflecting: value).children {
      let label = child.label ?? "?"
      let childType = Swift.type(of: child.value)
      guard let known = childType as? any PropertyValue.Type else {
        let (offset, next) = Discovery.place(of: childType, after: end)
        let reason = """
          \(type).\(prefix)\(label) is a \(childType), which cannot be stored: make it a \
          RawProperty, Nested, UnionProperty or CodableProperty, compute it, or leave it out by \
          Ignored(\\.\(prefix)\(label))
          """
        unstorable.append(
          UnstorableProperty(name: prefix + label, offset: offset, reason: reason))
        end = next
        continue
      }
      guard let next = place(known, child.value, prefix + label, end, type) else { return nil }
      end = next
    }
    return end
  }

  private mutating func place<V: PropertyValue>(
    _ property: V.Type, _ value: Any, _ name: String, _ end: Int, _ type: String
  ) -> Int? {
    let (offset, next) = Discovery.place(of: V.self, after: end)
    if flattens, V.self is any Nested.Type {
      let inner = walk(value, prefix: name + ".", start: offset, type: type)
      if let inner, inner != offset + MemoryLayout<V>.size {
        problem = "\(type).\(name) has stored properties that cannot be seen"
      }
      return inner
    }
    if flattens, name == "id" {
      idOffset = offset
    } else {
      let shape = PropertyShape(V.self)
      if let reason = shape.problem {
        unstorable.append(
          UnstorableProperty(name: name, offset: offset, reason: "\(type).\(name) \(reason)"))
      }
      properties.append(DiscoveredProperty(name: name, offset: offset, shape: shape))
    }
    return next
  }

  /// The bytes that a property of a type takes behind another one.
  private static func place<V>(of type: V.Type, after end: Int) -> (offset: Int, end: Int) {
    let mask = MemoryLayout<V>.alignment - 1
    let offset = (end + mask) & ~mask
    return (offset, offset + MemoryLayout<V>.size)
  }
}
