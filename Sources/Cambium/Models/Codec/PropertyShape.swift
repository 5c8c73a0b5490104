// The layout of values of one type in memory, and how they are read and written there. The
// commonest kinds of properties have a number, over which the codec's loop switches; the others
// have closures, made once per type.

import FoundationEssentials

/// The codec's way of reading and writing a property.
enum Form: UInt8, BitwiseCopyable, Sendable {
  case bool, int, double, string, date, uuid, custom
  case boolOrNil, intOrNil, doubleOrNil, stringOrNil, dateOrNil, uuidOrNil, customOrNil

  /// The form of the optional.
  var optional: Form {
    switch self {
    case .bool: .boolOrNil
    case .int: .intOrNil
    case .double: .doubleOrNil
    case .string: .stringOrNil
    case .date: .dateOrNil
    case .uuid: .uuidOrNil
    case .custom: .customOrNil
    default: self
    }
  }

  /// True if nil is a value of the type.
  var isOptional: Bool { rawValue >= Form.boolOrNil.rawValue }
}

/// A property's type: its form, and how it is handled where the form is `custom`.
@safe struct PropertyShape: Sendable {
  private(set) var form: Form
  /// The model that it refers to, by itself or in each of its elements or keys; nil for none.
  let reference: ReferenceShape?
  let typeID: ObjectIdentifier
  /// The reason why such a property cannot be stored; nil if it can.
  let problem: String?
  /// The type in the declaration. It is evaluated late, since it may lead to another schema.
  let propertyType: @Sendable () -> PropertyType
  /// The form of its values outside the database, evaluated late for the same reason.
  let interchange: @Sendable () -> InterchangeShape
  /// The place's value from stored bytes; the place holds a value already.
  private(set) var read: @Sendable (UnsafeMutableRawPointer, RawSpan, Int) throws -> Void
  let write: @Sendable (UnsafeRawPointer, inout ValueWriter) throws -> Void
  let isAbsent: @Sendable (UnsafeRawPointer) -> Bool
  /// True if two values would be stored as the same bytes.
  let isEqual: @Sendable (UnsafeRawPointer, UnsafeRawPointer) -> Bool
  let value: @Sendable (UnsafeRawPointer) -> Value
  /// Puts the value of one place into another, which holds a value already.
  let copy: @Sendable (UnsafeRawPointer, UnsafeMutableRawPointer) -> Void

  init<V: PropertyValue>(_ type: V.Type) {
    let (form, isReference) = PropertyShape.form(of: type)
    self.form = form
    reference = ReferenceShape(V.Base.self, isSingle: isReference)
    typeID = ObjectIdentifier(type)
    problem = PropertyShape.problem(of: type)
    propertyType = { V.propertyType }
    interchange = { .of(V.self) }
    unsafe read = { place, stored, depth in
      try unsafe place.put(V.readStored(stored, depth: depth))
    }
    unsafe write = { place, writer in
      try unsafe place.assumingMemoryBound(to: V.self).pointee.writeStored(to: &writer)
    }
    unsafe isAbsent = { unsafe $0.assumingMemoryBound(to: V.self).pointee._isAbsent }
    unsafe value = { unsafe $0.assumingMemoryBound(to: V.self).pointee.storedValue }
    unsafe copy = { unsafe $1.put($0.value(V.self)) }
    unsafe isEqual = PropertyShape.equality(type)
  }

  /// The shape of a type that is stored as another one, by code that is not its own.
  init<V: Equatable & Sendable, Stored: PropertyValue>(
    _ type: V.Type, storedAs stored: Stored.Type, isNullable: Bool,
    read: @escaping @Sendable (RawSpan, Int) throws -> V,
    write: @escaping @Sendable (V, inout ValueWriter) throws -> Void,
    isAbsent: @escaping @Sendable (V) -> Bool, value: @escaping @Sendable (V) -> Value
  ) {
    (form, reference) = (isNullable ? .customOrNil : .custom, nil)
    typeID = ObjectIdentifier(type)
    problem = PropertyShape.problem(of: Stored?.self)
    propertyType = { Stored.propertyType }
    interchange = { isNullable ? .of(Stored?.self) : .of(Stored.self) }
    unsafe self.read = { place, stored, depth in try unsafe place.put(read(stored, depth)) }
    unsafe self.write = { place, writer in try unsafe write(place.value(V.self), &writer) }
    unsafe self.isAbsent = { unsafe isAbsent($0.value(V.self)) }
    unsafe self.value = { unsafe value($0.value(V.self)) }
    unsafe copy = { unsafe $1.put($0.value(V.self)) }
    unsafe isEqual = { unsafe $0.value(V.self) == $1.value(V.self) }
  }

  /// The name of a case, which is stored in the record, and is nowhere in the model.
  init(caseName name: String, formerly former: [String]) {
    (form, reference) = (.custom, nil)
    typeID = ObjectIdentifier(SchemaCore.self)
    problem = nil
    propertyType = { .string }
    interchange = { .of(String.self) }
    unsafe read = { _, stored, depth in
      try PropertyShape.check(stored, depth, name, formerly: former)
    }
    unsafe write = { _, writer in writer.write(text: name) }
    unsafe isAbsent = { _ in false }
    unsafe value = { _ in .string(name) }
    unsafe copy = { _, _ in }
    unsafe isEqual = { _, _ in true }
  }

  private static func check(
    _ stored: RawSpan, _ depth: Int, _ name: String, formerly former: [String]
  ) throws {
    let found = try String.readStored(stored, depth: depth)
    if ([name] + former).contains(where: { ByteOrder.areEqual(found, $0) }) { return }
    throw ValueMismatch(reason: "it is the case '\(found)', not '\(name)'")
  }

  /// True if it is a single reference, which may be without a key.
  var isReference: Bool { reference?.isSingle ?? false }

  /// Swift's equality is looser than that of stored bytes: −0.0 equals 0.0, and texts are equal in
  /// any normal form.
  private static func equality<V: PropertyValue>(
    _ type: V.Type
  ) -> @Sendable (UnsafeRawPointer, UnsafeRawPointer) -> Bool {
    { a, b in
      let a = unsafe a.assumingMemoryBound(to: V.self)
      let b = unsafe b.assumingMemoryBound(to: V.self)
      guard unsafe a.pointee == b.pointee else {
        // NaN differs from itself.
        guard V.self is any FloatingPoint.Type else { return false }
        return unsafe a.pointee.storedValue == b.pointee.storedValue
      }
      if isExact(V.self) { return true }
      return unsafe a.pointee.storedBytes == b.pointee.storedBytes
    }
  }

  /// True if equal values of a type are always stored as the same bytes.
  private static func isExact<V: PropertyValue>(_ type: V.Type) -> Bool {
    if let wrapped = (type as? any OptionalValue.Type)?.wrapped { return isExact(wrapped) }
    // An enum of one byte has cases, and nothing else that could differ.
    let isEnum = type is any RawProperty.Type && MemoryLayout<V>.size == 1
    return isEnum || type is any FixedWidthInteger.Type || type == Data.self || type == Blob.self
  }

  private static func form<V: PropertyValue>(of type: V.Type) -> (Form, isReference: Bool) {
    if let optional = type as? any OptionalValue.Type, let wrapped = optional.wrapped {
      let (form, isReference) = PropertyShape.form(of: wrapped)
      return (form.optional, isReference)
    }
    if let reference = type as? any ReferenceValue.Type {
      return (PropertyShape.form(of: reference.keyValueType).0, true)
    }
    let known: Form =
      if type == Bool.self { .bool } else if type == Int.self || type == Int64.self {
        .int
      } else if type == Double.self { .double } else if type == String.self {
        .string
      } else if type == Date.self { .date } else if type == UUID.self { .uuid } else { .custom }
    return (known, false)
  }

  private static func problem<V: PropertyValue>(of type: V.Type) -> String? {
    guard let wrapped = (type as? any OptionalValue.Type)?.wrapped else { return nil }
    guard wrapped is any OptionalValue.Type else { return nil }
    return "is a \(type): of two optionals only one can be stored"
  }
}

/// The way in which a property refers to models.
struct ReferenceShape: Sendable {
  /// True if it is one reference, which may be without a key.
  let isSingle: Bool
  /// The schema of the model, evaluated late, since it may lead back.
  let core: @Sendable () -> SchemaCore

  init?<V>(_ type: V.Type, isSingle: Bool) {
    guard let referring = type as? any ReferringProperty.Type else { return nil }
    self.isSingle = isSingle
    core = ReferenceShape.core(of: referring)
  }

  private static func core<R: ReferringProperty>(of type: R.Type) -> @Sendable () -> SchemaCore {
    { R.Referred.schema.core }
  }
}

/// An optional, with the type that it wraps.
private protocol OptionalValue {
  static var wrapped: (any PropertyValue.Type)? { get }
}

extension Optional: OptionalValue {
  fileprivate static var wrapped: (any PropertyValue.Type)? {
    Wrapped.self as? any PropertyValue.Type
  }
}

/// A value that lies in memory as its key does.
private protocol ReferenceValue { static var keyValueType: any PropertyValue.Type { get } }

extension ModelID: ReferenceValue {
  fileprivate static var keyValueType: any PropertyValue.Type { M.Key.self }
}

// Reading and writing one property of a value.

/// A property of which it is known where it lies in the value that has it.
protocol PlacedProperty {
  var offset: Int { get }
  var shape: PropertyShape { get }
}

extension PlacedProperty {
  func value<T>(in owner: T) -> Value {
    unsafe withUnsafePointer(to: owner) {
      unsafe shape.value(UnsafeRawPointer($0) + offset)
    }
  }

  /// Gives a value the property of another one of its type.
  func copy<T>(from source: T, to target: inout T) {
    unsafe withUnsafePointer(to: source) { source in
      unsafe withUnsafeMutablePointer(to: &target) { target in
        unsafe shape.copy(
          UnsafeRawPointer(source) + offset, UnsafeMutableRawPointer(target) + offset)
      }
    }
  }

  /// True if the property of two values would be stored as the same bytes.
  func isEqual<T>(in one: T, and other: T) -> Bool {
    unsafe withUnsafePointer(to: one) { one in
      unsafe withUnsafePointer(to: other) { other in
        unsafe shape.isEqual(UnsafeRawPointer(one) + offset, UnsafeRawPointer(other) + offset)
      }
    }
  }

  func isAbsent<T>(in owner: T) -> Bool {
    unsafe withUnsafePointer(to: owner) {
      unsafe shape.isAbsent(UnsafeRawPointer($0) + offset)
    }
  }

  func read<T>(_ stored: RawSpan, depth: Int, into owner: inout T) throws {
    try unsafe withUnsafeMutablePointer(to: &owner) {
      try unsafe shape.read(UnsafeMutableRawPointer($0) + offset, stored, depth)
    }
  }

  func write<T>(from owner: T, to writer: inout ValueWriter) throws {
    try unsafe withUnsafePointer(to: owner) {
      try unsafe shape.write(UnsafeRawPointer($0) + offset, &writer)
    }
  }
}

/// A name that a property had before, and how what was stored under it is read.
@safe struct FormerName: Sendable {
  let name: String
  /// The name with that of the type that it had.
  let description: String
  /// The type that it had; nil where it was the same. Asked for late, as a shape's is.
  let type: (@Sendable () -> PropertyType)?
  /// Reads the former type into a place that holds a value; nil where it was the same.
  let read: (@Sendable (UnsafeMutableRawPointer, RawSpan) throws -> Void)?

  init(_ name: String) {
    self.name = name
    description = name
    type = nil
    unsafe read = nil
  }

  init<Old: PropertyValue, New>(
    _ name: String, _ convert: @escaping @Sendable (Old) throws -> New
  ) {
    self.name = name
    description = "\(name): \(Old.self)"
    type = { Old.propertyType }
    unsafe read = { place, stored in
      try unsafe place.put(convert(Old.readStored(stored, depth: 0)))
    }
  }
}

extension PropertyShape {
  /// The shape of a property that had other types under its own name: what is not of its own type
  /// is read as one of those. The codec's loop need not know.
  func converting(_ formers: [FormerName]) -> PropertyShape {
    formers.reduce(self) { $1.type == nil ? $0 : $0.converting($1) }
  }

  private func converting(_ former: FormerName) -> PropertyShape {
    guard let formerRead = unsafe former.read else { return self }
    var copy = self
    copy.form = form.isOptional ? .customOrNil : .custom
    let ownRead = unsafe read
    unsafe copy.read = { place, stored, depth in
      do { try unsafe ownRead(place, stored, depth) } catch let mismatch as ValueMismatch {
        // Where the former type does not fit either, the property's own is the one to name.
        do { try unsafe formerRead(place, stored) } catch is ValueMismatch { throw mismatch }
      }
    }
    return copy
  }
}

/// Makes a property's value of what an older record has under other names.
@safe struct ComputedProperty: Sendable {
  /// Puts it into a place that holds a value.
  let make: @Sendable (UnsafeMutableRawPointer, DynamicRecord) throws -> Void

  init<V: PropertyValue>(_ make: @escaping @Sendable (DynamicRecord) throws -> V) {
    unsafe self.make = { place, old in try unsafe place.put(make(old)) }
  }
}

/// Puts a property's value into its domain, or says why it is not in it.
@safe struct PropertyCheck: Sendable {
  let run: @Sendable (UnsafeMutableRawPointer) -> String?

  init<V: PropertyValue>(_ check: @escaping @Sendable (inout V) -> String?) {
    unsafe run = { unsafe check(&$0.assumingMemoryBound(to: V.self).pointee) }
  }
}

/// Puts the elements of a property's value into their domain, or says which are not in it.
@safe struct ElementCheck: Sendable {
  let run: @Sendable (UnsafeMutableRawPointer) -> [ValidationError]

  init<V: PropertyValue>(_ check: @escaping @Sendable (inout V) -> [ValidationError]) {
    unsafe run = { unsafe check(&$0.assumingMemoryBound(to: V.self).pointee) }
  }
}

extension UnsafeRawPointer {
  /// The value at a place in a model.
  @inline(__always)
  func value<V>(_ type: V.Type) -> V { unsafe assumingMemoryBound(to: type).pointee }
}

extension UnsafeMutableRawPointer {
  /// Replaces the value at a place in a model.
  @inline(__always)
  func put<V>(_ value: V) { unsafe assumingMemoryBound(to: V.self).pointee = value }
}
