/// The values that a person is editing in a form: those that are stored, and what is entered
/// instead.
///
/// A value is entered as a ``Value``, or as text, which is kept as it was typed where it cannot be
/// read. Nothing here looks at a database. It is a value itself: a copy is a draft of its own.
///
/// Invariants:
/// 1. `entered` has no name whose value is the stored one; ``set(_:to:)`` keeps it so.
/// 2. A name is in `entered` or in `unread`, never in both.
public struct FormDraft: Sendable {
  /// The properties, in the order in which they are shown.
  public var properties: [FormProperty]
  private var stored: [String: Value]
  private var entered: [String: Value] = [:]
  /// The texts that could not be read, as they were typed.
  private var unread: [String: String] = [:]

  init(_ properties: [FormProperty], stored: [String: Value]) {
    self.properties = properties
    self.stored = stored
  }

  /// A property of the form; nil where the form does not have it.
  public func property(_ name: String) -> FormProperty? { properties.first { $0.name == name } }

  // MARK: Values

  /// The value of a property as it is entered, else as it is stored; null for none.
  public subscript(name: String) -> Value { entered[name] ?? stored[name] ?? .null }

  /// The value of a property before it was edited.
  public func storedValue(of name: String) -> Value { stored[name] ?? .null }

  /// Enters a value; null for none. Read-only properties and names that the form does not have are
  /// left as they are.
  public mutating func set(_ name: String, to value: Value) {
    guard property(name)?.isReadOnly == false else { return }
    unread[name] = nil
    entered[name] = value == storedValue(of: name) ? nil : value
  }

  /// The text of a property's editor: as it was typed if it cannot be read, else as the value is
  /// written.
  public func text(of name: String) -> String { unread[name] ?? FormText.text(of: self[name]) }

  /// Enters a value as text; see ``text(of:)``. An empty text is no value, except for a text that
  /// must have one.
  public mutating func set(_ name: String, text: String) {
    guard let property = self.property(name), !property.isReadOnly else { return }
    if text.isEmpty && !(property.type == .string && property.isRequired) {
      return set(name, to: .null)
    }
    if let value = FormText.value(of: text, as: property.type) { return set(name, to: value) }
    entered[name] = nil
    unread[name] = text
  }

  // MARK: Edited or not

  /// The names of the properties that were edited, in the order of the form.
  public var editedNames: [String] { properties.map(\.name).filter { isEdited($0) } }

  /// True if anything was edited.
  public var isEdited: Bool { !entered.isEmpty || !unread.isEmpty }

  /// True if a property was edited.
  public func isEdited(_ name: String) -> Bool { entered[name] != nil || unread[name] != nil }

  /// Goes back to what is stored.
  public mutating func revert() { (entered, unread) = ([:], [:]) }

  /// Goes back to what is stored of one property.
  public mutating func revert(_ name: String) { (entered[name], unread[name]) = (nil, nil) }

  /// Takes over what is stored now: properties that were edited stay so, and the others follow.
  mutating func follow(_ stored: [String: Value]) {
    self.stored = stored
    entered = entered.filter { $0.value != storedValue(of: $0.key) }
  }

  /// The values that were entered, by name.
  var entries: [String: Value] { entered }

  // MARK: Problems

  /// The problems with what is entered, as far as the declaration can tell: texts that cannot be
  /// read, what is missing, and values outside their domain.
  ///
  /// - Returns: The problems with their properties, in the order of the form.
  /// - Complexity: O(properties).
  public func problems() -> [ValidationError] {
    properties.compactMap { property in
      problem(property).map { ValidationError(property: property.name, $0) }
    }
  }

  private func problem(_ property: FormProperty) -> String? {
    if unread[property.name] != nil { return "must be \(property.type)" }
    let value = self[property.name]
    if value == .null { return property.isRequired && !property.isReadOnly ? "is required" : nil }
    // Stored values are not for the one who edits others to repair.
    guard isEdited(property.name) else { return nil }
    if !FormText.takes(property.type, value) { return "must be \(property.type)" }
    if case .choice(let choices) = property.editor, !choices.contains(where: { $0.value == value })
    {
      return "must be one of \(choices.map(\.label).joined(separator: ", "))"
    }
    return outside(property, value)
  }

  /// The message for a value outside its domain, if that refuses it.
  private func outside(_ property: FormProperty, _ value: Value) -> String? {
    guard let domain = property.domain, domain.treatment == .reject,
      let plan = try? DomainPlan(domain, as: property.type),
      let isInside = try? value.stored().lend({ try plan.holds($0) }), !isInside
    else { return nil }
    return "must be \(plan)"
  }
}
