// The form of values of a type outside the database. A declaration gives it for simple values and
// for types composed of them; nested values, unions and references add to that.

import FoundationEssentials

/// A type that is composed of others, or that is a reference.
private protocol ComposedProperty { static var interchangeShape: InterchangeShape { get } }

extension InterchangeShape {
  /// The shape of a type.
  static func of<V: PropertyValue>(_ type: V.Type) -> InterchangeShape {
    if let composed = type as? any ComposedProperty.Type { return composed.interchangeShape }
    return .typed(ObjectIdentifier(type), plain(of: type))
  }

  /// The shape of a type that is not composed of others, without the type.
  private static func plain<V: PropertyValue>(of type: V.Type) -> InterchangeShape {
    if let composed = type as? any ComposedProperty.Type { return composed.interchangeShape }
    if let nested = type as? any Nested.Type { return .nested { members(of: nested) } }
    if let union = type as? any UnionProperty.Type { return .union { cases(of: union) } }
    if let raw = type as? any RawProperty.Type { return rawValue(of: raw) }
    if type is any CodableProperty.Type { return .json }
    return InterchangeShape(V.propertyType)
  }

  private static func members<N: Nested>(of type: N.Type) -> [InterchangeMember] {
    NestedShape.of(type).properties.map {
      InterchangeMember(name: $0.name, shape: $0.shape.interchange())
    }
  }

  private static func cases<U: UnionProperty>(of type: U.Type) -> [InterchangeMember] {
    U.cases.all.map { InterchangeMember(name: $0.name, shape: $0.interchange()) }
  }

  private static func rawValue<R: RawProperty>(of type: R.Type) -> InterchangeShape {
    plain(of: R.RawValue.self)
  }
}

extension Optional: ComposedProperty where Wrapped: PropertyValue {
  fileprivate static var interchangeShape: InterchangeShape { .optional(.of(Wrapped.self)) }
}

extension Array: ComposedProperty where Element: PropertyValue {
  fileprivate static var interchangeShape: InterchangeShape { .array { .of(Element.self) } }
}

extension Set: ComposedProperty where Element: PropertyValue {
  fileprivate static var interchangeShape: InterchangeShape { .array { .of(Element.self) } }
}

extension Dictionary: ComposedProperty where Key: DictionaryKey, Value: PropertyValue {
  fileprivate static var interchangeShape: InterchangeShape { .map { .of(Value.self) } }
}

extension StoredFile: ComposedProperty {
  fileprivate static var interchangeShape: InterchangeShape {
    .nested {
      [
        InterchangeMember(name: "content", shape: .of(Blob.self)),
        InterchangeMember(name: "name", shape: .of(String.self)),
        InterchangeMember(name: "type", shape: .of(String?.self)),
        InterchangeMember(name: "created", shape: .of(Date?.self)),
        InterchangeMember(name: "modified", shape: .of(Date?.self)),
      ]
    }
  }
}

extension ModelID: ComposedProperty {
  fileprivate static var interchangeShape: InterchangeShape {
    .reference(
      InterchangeReference(
        keys: M.Key._keyType, unassigned: M.Key._unassigned.storedValue,
        embed: { writer, key, place in
          guard let snapshot = writer.snapshot else { return nil }
          let id = try ModelID(storedValue: key)
          return try writer.embed(try id.path) { writer in
            try snapshot.find(id).map { try writer.object($0, at: place) }
          }
        }))
  }
}
