import FoundationEssentials

/// A value type that is stored as a record, under a key of its own in a collection.
///
///     struct Flight: Model {
///       var id = ID()
///       var carrier: Airline.ID?
///       var number = 0
///       var scheduled = Date.distantPast
///
///       static let schema = ModelSchema<Flight>("flights") {
///         Property(\.number).validated("must be positive") { $0 > 0 }
///         Index(\.carrier, \.scheduled.descending)
///       }
///     }
///
/// Every property is a `var` with an initial value: that is what a record without the property
/// reads as. The schema finds the properties by itself; it lists only those that have more to say.
/// A property that cannot be stored (a class, a type that is no ``PropertyValue``) is reported when
/// the model is first used, in the error's text, unless the schema leaves it out (``Ignored``).
///
/// Threads: a model is a value; the schema is made once, by whoever uses it first.
public protocol Model: Identifiable, MemberSource, JoinedSide
where ID == ModelID<Self>, JoinedModel == Self {
  /// The type of the key: a `UUID`, unless the model says otherwise.
  associatedtype Key: ModelKey = UUID
  /// The type of the id, which wraps the key.
  associatedtype ID = ModelID<Self>

  /// The model's id; `ID()` until it is given one.
  var id: ID { get set }

  /// Makes a model with the initial value of every property.
  init()

  /// The properties that are stored, under which names, and the rules that hold for them.
  static var schema: ModelSchema<Self> { get }
}

extension Model {
  /// The properties that the schema has found.
  public static var members: MemberList { MemberList(core: schema.core) }

  /// The records that refer to this one by a property: the other side of a reference.
  ///
  ///     var flights: Many<Flight> { many(\.carrier) }
  ///
  /// Only the reference is stored, so the two sides cannot disagree.
  ///
  /// - Parameter reference: The other model's property that refers to this one, or has an array or
  ///   a set of references, or a dictionary by them: many to many.
  /// - Returns: The models that refer to this one, to be queried and named in conditions.
  public func many<Other: Model, V: PropertyValue>(
    _ reference: KeyPath<Other, V> & Sendable
  ) -> Many<Other> where V.Base: ReferringProperty, V.Base.Referred == Self {
    Many(reference, key: id.storedValue)
  }
}

/// The models that refer to one: a description that reads nothing.
public struct Many<Other: Model>: Sendable {
  /// The property that refers, by its path; looked up when it is asked for, since the other schema
  /// may be the one that is being made.
  let reference: AnyKeyPath & Sendable
  let offset: Int?
  /// The key that is referred to.
  let key: Value

  fileprivate init<V>(_ reference: KeyPath<Other, V> & Sendable, key: Value) {
    self.reference = reference
    offset = MemoryLayout<Other>.offset(of: reference)
    self.key = key
  }

  /// The property that refers.
  var path: PropertyPath { Other.schema.core.path(at: offset, of: reference) }
}
