/// A property as the schema knows it: its place in the model, and what is declared about it.
struct PropertyInfo: PlacedProperty, Sendable {
  var name: String
  var offset: Int
  var shape: PropertyShape
  var rules = PropertyRules()
  var label: String?
  var documentation: String?
  var defaults = PropertyDefault()
  var older = OlderForms()
  /// The codec that stores it in the place of its type; nil for none.
  var codec: PropertyCoding?

  /// True if it can be without a value.
  var isNullable: Bool { shape.form.isOptional || shape.isReference }

  /// The types that it had under its own name.
  var formerTypes: [FormerName] { older.names.filter { $0.name == name && $0.type != nil } }

  /// The name of the step that reads it from older records; nil where it is as it was.
  var lazyStep: String? {
    let sources = older.sources
    if sources.isEmpty { return nil }
    return Evolution.name("\(name) was \(sources.joined(separator: ", "))", ofCase: older.ofCase)
  }

  /// An error of writing a value, with the property's name.
  func naming(_ error: any Error) -> any Error {
    switch error {
    case let mismatch as ValueMismatch: ValueMismatch(reason: "\(name): \(mismatch.reason)")
    case DatabaseError.badValue(let path, let reason) where path.isRoot:
      DatabaseError.badValue(path, reason: "\(name): \(reason)")
    default: error
    }
  }

  init(_ found: DiscoveredProperty) {
    name = found.name
    offset = found.offset
    shape = found.shape
  }
}

/// The conditions that a property's values meet.
struct PropertyRules: Sendable {
  /// True if a record without it cannot be read.
  var isRequiredToRead = false
  /// True if a record without it cannot be written.
  var isRequiredToWrite = false
  var domain: Domain?
  /// Keeps to the domain in the app, so that all messages come together.
  var check: PropertyCheck?
  /// The domains of the elements and of the keys, each with how the app keeps to it.
  var elementDomain: Domain?
  var elementCheck: ElementCheck?
  var keyDomain: Domain?
  var keyCheck: ElementCheck?
  var deleteRule: DeleteRule?
  /// Nil where the delete rule says it.
  var mustExist: Bool?

  /// True if the app looks at the property before each write.
  var isGuarded: Bool { check != nil || isRequiredToWrite || !elementChecks.isEmpty }

  /// The checks of the keys and of the elements.
  var elementChecks: [ElementCheck] { [keyCheck, elementCheck].compactMap(\.self) }
}

/// The value that a property has where nothing was said, and how that is stored.
struct PropertyDefault: Sendable {
  /// The template's value; nil where it is absent.
  var initial: Value?
  /// True if each model has another initial value.
  var isComputed = false
  /// True if other models have the collection as well, whose records know nothing of its default.
  var isShared = true
  /// The template's value, where it is not stored but read from absence.
  var absence: Value?
  /// True if nil must be stored as null, since absence stands for something else: the template's
  /// value, or one computed from the rest of an older record.
  var storesNull = false

  /// The default that is declared: the initial value, unless that is computed.
  var constant: Value? { isComputed ? nil : initial }

  /// The value that is not stored, in its stored form.
  func elided(_ declared: PropertyDefinition?) throws -> [UInt8]? {
    guard !isShared, let declared else { return try absence?.stored() }
    return declared.omitsAbsence ? try declared.absence?.stored() : nil
  }
}

/// The forms in which older records have a property.
struct OlderForms: Sendable {
  /// Its former names, and former types under its own.
  var names: [FormerName] = []
  /// Makes the value of what else an older record has.
  var computed: ComputedProperty?
  /// The former names of the case, where the property holds the name of the record's case.
  var caseNames: [String] = []
  /// The case that has the property, where several models share the collection.
  var ofCase: String?

  /// The forms in words.
  var sources: [String] {
    names.map(\.description) + caseNames.map { "'\($0)'" } + (computed == nil ? [] : ["computed"])
  }
}
