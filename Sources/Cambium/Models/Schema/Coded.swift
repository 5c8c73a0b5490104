/// A property that is stored by a codec of its own; a line of a ``ModelSchema``.
///
///     struct Parcel: Model {
///       var id = ID()
///       var weight = Measurement(value: 0, unit: UnitMass.grams)
///       var color: Color?
///       var note = ""
///
///       static let schema = ModelSchema<Parcel>("parcels") {
///         Coded(\.weight, by: Grams()).indexed()                   // a number
///         Coded(\.color, by: HexColor().reading(NamedColor()))     // "#FF0000", formerly "red"
///         Coded(\.note, by: Sealed(key))                           // encrypted
///       }
///     }
///
/// The type of the property need not be a ``PropertyValue``. Where it is one, conditions and
/// orderings name the property as any other, and compare stored forms as far as the codec's
/// ``CodecGuarantee`` allows. All that goes further, or needs the values themselves (functions of
/// them, sums, selections, groups, changes in place), throws, and says so. ``Fields/stored(_:as:)``
/// names the stored form instead, in all of these. Tools, the query language, JSON and rules that
/// are data know the stored form only; rules about values are code, ``Property/validated(_:_:)``.
///
/// Nil is stored as it is without a codec, which is not asked. A value that equals the one before
/// counts as unchanged, and is not encoded again.
public struct Coded<M: Model, Value: Equatable & Sendable>: SchemaPart, Refinable, Sendable {
  private let add: @Sendable (inout SchemaDraft) -> Int?
  private let isOptional: Bool
  /// The path to the property, looked up when the declaration is asked for.
  private let path: @Sendable () -> PropertyPath
  private var formers: [FormerName] = []
  private var isIndexed = false
  private var isUnique = false

  /// Names the codec of a property.
  ///
  /// - Parameters:
  ///   - property: The key path of a stored `var`.
  ///   - name: The name that it is stored under; nil for its name in the type.
  ///   - codec: The codec.
  public init<C: PropertyCodec<Value>>(
    _ property: KeyPath<M, Value> & Sendable, name: String? = nil, by codec: C
  ) {
    isOptional = false
    add = { $0.code(property, name, PropertyShape(by: codec), PropertyCoding(codec)) }
    path = { M.schema.core.path(at: MemoryLayout<M>.offset(of: property), of: property) }
  }

  /// Names the codec of a property that can be nil.
  ///
  /// - Parameters:
  ///   - property: The key path of a stored `var`.
  ///   - name: The name that it is stored under; nil for its name in the type.
  ///   - codec: The codec of its values.
  public init<C: PropertyCodec<Value>>(
    _ property: KeyPath<M, Value?> & Sendable, name: String? = nil, by codec: C
  ) {
    isOptional = true
    add = { $0.code(property, name, PropertyShape(optionalBy: codec), PropertyCoding(codec)) }
    path = { M.schema.core.path(at: MemoryLayout<M>.offset(of: property), of: property) }
  }

  /// Stored under another name before, in the same form.
  public func was(_ name: String) -> Coded { changed { $0.formers.append(FormerName(name)) } }

  /// Stored under another name, or the same, as another type before: as one without a codec, too.
  ///
  /// - Parameters:
  ///   - name: The name under which it was stored before.
  ///   - type: The type as which it was stored before.
  ///   - convert: Makes the value; an error is that of reading the record.
  /// - Returns: The line with the former name.
  public func was<Old: PropertyValue>(
    _ name: String, as type: Old.Type, _ convert: @escaping @Sendable (Old) throws -> Value
  ) -> Coded {
    let former =
      isOptional
      ? FormerName(name) { (old: Old) -> Value? in try convert(old) } : FormerName(name, convert)
    return changed { $0.formers.append(former) }
  }

  /// Keeps an index over the stored form, as ``Index`` does for a property that it can name.
  public func indexed() -> Coded { changed { $0.isIndexed = true } }

  /// Keeps an index in which no two records may have the same stored form; null is never the same.
  public func unique() -> Coded { changed { ($0.isIndexed, $0.isUnique) = (true, true) } }

  /// The schema item that names the codec.
  public var item: SchemaItem<M> {
    SchemaItem(
      code: { [add, formers] draft in
        guard let index = add(&draft) else { return }
        draft.properties[index].older.names += formers
      }, define: isIndexed ? index : nil)
  }

  /// Declares the index.
  private var index: @Sendable (inout CollectionDefinition) throws -> Void {
    { [path, isUnique] definition in
      let path = path()
      // An index serves equality as well as order, and nothing else.
      let stored = path.guarantee == .nothing ? path : path.ofStoredForm
      var index = IndexDefinition([.init(try stored.ownProperty(of: "\(M.self)"))])
      index.isUnique = isUnique
      definition.add(index)
    }
  }
}

extension SchemaDraft {
  /// Stores a property by a codec.
  ///
  /// - Returns: Its place; nil where it is none.
  fileprivate mutating func code<M: Model, V>(
    _ keyPath: KeyPath<M, V>, _ name: String?, _ shape: PropertyShape, _ codec: PropertyCoding
  ) -> Int? {
    guard let offset = offset(ofVariable: keyPath) else { return nil }
    let place = offset..<offset + max(1, MemoryLayout<V>.size)
    let found =
      properties.filter { place.contains($0.offset) }.map(\.name)
      + omissions.unstorable.filter { place.contains($0.offset) }.map(\.name)
    guard !(V.self is any Nested.Type), offset != idOffset, found.count < 2,
      let name = name ?? found.first
    else {
      problem =
        problem ?? "\(typeName): \(keyPath) is no property of its own, which a codec could store"
      return nil
    }
    problem = problem ?? shape.problem.map { "\(typeName).\(name) \($0)" }
    properties.removeAll { place.contains($0.offset) }
    omissions.unstorable.removeAll { place.contains($0.offset) }
    var info = PropertyInfo(DiscoveredProperty(name: name, offset: offset, shape: shape))
    info.codec = codec
    let index = properties.firstIndex { $0.offset > offset } ?? properties.count
    properties.insert(info, at: index)
    return index
  }
}

extension PropertyInfo {
  /// The reason why a property that a codec stores cannot have what its schema says besides; nil if
  /// it can.
  var codecProblem: String? {
    guard let codec else { return nil }
    if rules.domain != nil || rules.elementDomain != nil || rules.keyDomain != nil
      || rules.deleteRule != nil
    {
      return """
        \(name) is stored by \(codec.name), and rules that are data are about what is stored: say \
        what holds for its values by validated(_:_:)
        """
    }
    if codec.guarantee == .nothing, defaults.absence != nil {
      return """
        \(name) cannot be left out where it is as it is initially: \(codec.name) does not store \
        equal values equally
        """
    }
    return nil
  }
}

extension Fields {
  /// The stored form of a property that has a codec, ``Coded``, for conditions, orderings, sums
  /// and everything else.
  ///
  ///     query.where { $0.stored(\.weight, as: Double.self) > 500 }
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - type: The type that the codec stores, or an optional of it.
  /// - Returns: The stored form. Whatever uses it throws where the property has no codec, or one
  ///   that stores another type.
  public func stored<V, Stored: PropertyValue>(
    _ property: KeyPath<M, V>, as type: Stored.Type
  ) -> Operand<Stored> {
    let core = M.schema.core
    let offset = MemoryLayout<M>.offset(of: property)
    var path = core.path(at: offset, of: property, behind: hops)
    if let codec = core.layout.codec(at: offset) {
      (path.problem, path.guarantee) = (nil, nil)
      if !codec.stores(type) {
        path.problem = "\(core.typeName): \(codec.name) does not store \(path) as \(type)"
      }
    } else {
      path.problem = path.problem ?? "\(core.typeName): \(path) has no codec; name it by itself"
    }
    return Operand(path: path, core: core, offset: nil)
  }
}

extension ModelLayout {
  /// The codec of the property at an offset of the model; nil for none.
  func codec(at offset: Int?) -> PropertyCoding? {
    offset.flatMap { index(at: $0) }.flatMap { properties[$0].codec }
  }
}

extension PropertyPath {
  /// The path to the stored form.
  var ofStoredForm: PropertyPath { changed { ($0.problem, $0.guarantee) = (nil, nil) } }

  /// The path to a property. One that a codec stores is a problem except where stored forms are
  /// known to do.
  init(of property: PropertyInfo, _ typeName: String, behind hops: [String]) {
    self.init(hops: hops, property.name)
    guard let codec = property.codec else { return }
    guarantee = codec.guarantee
    problem = """
      \(typeName).\(self) is stored by \(codec.name), and this would need its values, or an order \
      or equality that is not kept: name the stored form, stored(_:as:), or use filter(_:)
      """
  }
}

extension Operand {
  /// The path and the values as a condition compares them, in their stored form. A comparison that
  /// the property's codec does not allow is a problem of the path.
  func compared<T: PropertyValue>(
    _ values: [T], needing needed: CodecGuarantee
  ) -> (path: PropertyPath, values: [Value]) {
    guard let guarantee = path.guarantee, let codec = core.layout.codec(at: offset) else {
      return (path, values.map(\.storedValue))
    }
    let asksForNil = values.allSatisfy(\._isAbsent)
    if guarantee < needed, !asksForNil {
      let what = needed == .order ? "the order of values" : "which values are equal"
      return (failing("it does not keep \(what)", codec), [])
    }
    do { return (path.ofStoredForm, try values.map { try codec.stored($0) }) } catch {
      return (failing("it does not encode what is compared: \(error)", codec), [])
    }
  }

  private func failing(_ reason: String, _ codec: PropertyCoding) -> PropertyPath {
    path.changed {
      $0.problem = "\(core.typeName).\(path) is stored by \(codec.name): \(reason)"
    }
  }
}
