// Masks and forms of properties that the compiler knows. Swift 6.3 releases packs of closures twice
// that may not escape and are passed on; so these may escape.

extension InterchangeProfile {
  /// Only some properties of a model are shown, and the id.
  ///
  ///     let short = InterchangeProfile.standard.only(Flight.self, \.number, \.origin.name)
  ///
  /// - Parameters:
  ///   - type: The type of the model.
  ///   - properties: Its properties, those in nested values, and those behind references.
  /// - Returns: As ``only(_:)``.
  public func only<M: Model, each V: PropertyValue>(
    _ type: M.Type, _ properties: repeat @escaping (Fields<M>) -> Operand<each V>
  ) -> InterchangeProfile {
    var paths: [String] = []
    for property in repeat each properties { paths.append(property(Fields<M>()).dottedName) }
    return only(paths: paths)
  }

  /// Some properties of a model are not shown.
  ///
  /// - Parameters:
  ///   - type: The type of the model.
  ///   - properties: As for ``only(_:_:)``.
  /// - Returns: As ``except(_:)``.
  public func except<M: Model, each V: PropertyValue>(
    _ type: M.Type, _ properties: repeat @escaping (Fields<M>) -> Operand<each V>
  ) -> InterchangeProfile {
    var paths: [String] = []
    for property in repeat each properties { paths.append(property(Fields<M>()).dottedName) }
    return except(paths: paths)
  }

  /// One property has a form of its own.
  ///
  ///     let profile = InterchangeProfile.standard.converting(Flight.self, \.departureDelay) {
  ///       .string("\($0) min")
  ///     } back: { value in
  ///       guard case .string(let text) = value, let minutes = Int(text.prefix { $0.isNumber })
  ///       else { throw NotMinutes() }
  ///       return minutes
  ///     }
  ///
  /// - Parameters:
  ///   - type: The type of the model.
  ///   - property: Its property; behind a reference it is written only.
  ///   - out: Makes what is written of a value; nil is written as null.
  ///   - back: Makes the value of what was written, or throws; the error is reported for the
  ///     property.
  /// - Returns: The profile; the last form given to a property counts.
  public func converting<M: Model, V: PropertyValue>(
    _ type: M.Type, _ property: (Fields<M>) -> Operand<V>,
    out: @escaping @Sendable (V.Base) throws -> Value,
    back: @escaping @Sendable (Value) throws -> V.Base
  ) -> InterchangeProfile {
    let operand = property(Fields<M>())
    let codec = operand.core.layout.codec(at: operand.offset)
    return converting(
      InterchangeConversion(
        path: InterchangeProfile.parts(operand.dottedName),
        out: { stored in
          try out(codec?.value(stored, as: V.Base.self) ?? V.Base(storedValue: stored))
        },
        back: { try codec?.stored(back($0)) ?? back($0).storedValue }))
  }
}

extension InterchangeProfile {
  /// All values of a type have a form of their own, wherever they are: as properties, behind
  /// optionals, in arrays, sets and dictionaries, nested values and payloads.
  ///
  ///     let profile = InterchangeProfile.standard.converting(Color.self) { color in
  ///       .string(color.hex)
  ///     } back: { value in
  ///       guard case .string(let text) = value else { throw NoColor() }
  ///       return try Color(hex: text)
  ///     }
  ///
  /// A property's own form goes before that of its type. The members of a ``Nested`` value that is
  /// a property of the model itself are properties of their own: they are converted one by one.
  ///
  /// - Parameters:
  ///   - type: The type, without optionals: one of the app's, or a standard type; no collection and
  ///     no reference. Values that are stored as the type's without being of it, as an enum's raw
  ///     values, keep their form.
  ///   - out: Makes what is written of a value; nil is written as null.
  ///   - back: Makes the value of what was written, or throws; the error is reported for the
  ///     property.
  /// - Returns: The profile; the last form given to a type counts.
  public func converting<V: PropertyValue>(
    _ type: V.Type, out: @escaping @Sendable (V) throws -> Value,
    back: @escaping @Sendable (Value) throws -> V
  ) -> InterchangeProfile {
    converting(
      ObjectIdentifier(type),
      InterchangeConversion(
        out: { try out(try V(storedValue: $0)) }, back: { try back($0).storedValue }))
  }
}

extension Operand {
  /// The names that lead to the property.
  fileprivate var dottedName: String {
    // A computed property is never shown, and no property has an empty name.
    var name = path.problem == nil ? path.property ?? "id" : ""
    if path.problem != nil, let offset {
      let size = max(MemoryLayout<V>.size, 1)
      let inside = core.layout.properties(in: offset..<(offset + size)).map {
        core.properties[$0].name.split(separator: ".")
      }
      name = InterchangeProfile.commonStart(of: inside).joined(separator: ".")
    }
    return (path.hops + [name]).joined(separator: ".")
  }
}

extension InterchangeProfile {
  fileprivate static func commonStart(of names: [[Substring]]) -> [Substring] {
    guard var start = names.first else { return [] }
    for name in names { start = zip(start, name).prefix { $0 == $1 }.map(\.0) }
    return start
  }
}
