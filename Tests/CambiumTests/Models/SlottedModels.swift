// Models with three numbers and four texts, of which a test decides what they are called and what
// they were before, and the rules by which a record of any form is read: the oracle of random
// migrations.

@testable import Cambium

protocol SlottedModel: Cambium.Model where Key == Int {
  static var ints: [WritableKeyPath<Self, Int?> & Sendable] { get }
  static var texts: [WritableKeyPath<Self, String?> & Sendable] { get }
}

extension SlottedModel {
  subscript(slot: Int) -> Value {
    get {
      slot < 3
        ? self[keyPath: Self.ints[slot]].storedValue
        : self[keyPath: Self.texts[slot - 3]].storedValue
    }
    set {
      switch newValue {
      case .integer(let number): self[keyPath: Self.ints[slot]] = Int(number)
      case .string(let text): self[keyPath: Self.texts[slot - 3]] = text
      default:
        if slot < 3 {
          self[keyPath: Self.ints[slot]] = nil
        } else {
          self[keyPath: Self.texts[slot - 3]] = nil
        }
      }
    }
  }
}

/// A property of a form: where it lies in the model, what it is called, what it was.
struct Slot: Sendable {
  enum Was: Sendable {
    case same
    case renamed(String)
    case converted(String)
    case joined(String, String)
    /// Made by a step of what records have under this name.
    case stepped(String)
    case split(String)
    case merged(String, String)
  }

  struct Failing: Error {}

  var index: Int
  var name: String
  var was = Was.same

  var isInt: Bool { index < 3 }
  var isLazy: Bool {
    switch was {
    case .renamed, .converted, .joined: true
    default: false
    }
  }
  var isStep: Bool {
    switch was {
    case .stepped, .split, .merged: true
    default: false
    }
  }
  /// The name that goes with the change.
  var former: String? {
    switch was {
    case .renamed(let name), .converted(let name): name == self.name ? nil : name
    default: nil
    }
  }

  // MARK: Records

  /// The value that a record holds for the property, by the form's own rules.
  func read(_ raw: [String: Value]) -> Value {
    if let own = raw[name] {
      switch own {
      case .integer where isInt, .string where !isInt, .null: return own
      default: return Slot.converted(own)
      }
    }
    return switch was {
    case .same: .null
    case .renamed(let name): raw[name] ?? .null
    case .converted(let name), .stepped(let name): Slot.converted(raw[name])
    case .joined(let one, let other), .merged(let one, let other):
      .string(Slot.text(raw[one]) + "|" + Slot.text(raw[other]))
    case .split(let name):
      isInt
        ? .integer(Int64(Slot.text(raw[name]).utf8.count))
        : .string(String(Slot.text(raw[name]).prefix(1)))
    }
  }

  /// Puts a value into a record of the form.
  func store(_ value: Value, in raw: inout [String: Value]) {
    var isJoined = false
    if case .joined = was { isJoined = true }
    raw[name] = value == .null && !isJoined ? nil : value
    if let former { raw[former] = nil }
  }

  /// A value converted to the other kind: text to a number, or a number to text.
  private static func converted(_ value: Value?) -> Value {
    switch value {
    case .string(let text)?: .integer(Int64(text) ?? Int64(text.utf8.count))
    case .integer(let number)?: .string("\(number)")
    default: .null
    }
  }

  private static func text(_ value: Value?) -> String {
    if case .string(let text)? = value { text } else { "-" }
  }

  // MARK: The schema

  /// The lines of the schema for the property: what it was, or the step that makes it.
  ///
  /// - Parameters:
  ///   - type: The model.
  ///   - step: A number for the step's name.
  ///   - fails: Returns true where the step throws, for the record with a key.
  /// - Returns: The lines.
  func items<M: SlottedModel>(
    of type: M.Type, step: Int, fails: @escaping @Sendable (Int) -> Bool
  ) -> [SchemaItem<M>] {
    let line =
      isInt
      ? line(Property(M.ints[index], name: name)) { (old: String) in Int(old) ?? old.utf8.count }
      : line(Property(M.texts[index - 3], name: name)) { (old: Int) in "\(old)" }
    if !isStep { return [line] }
    let body: MigrationStep<M>.Body = { old, new, _ in
      if fails(new.id.key) { throw Failing() }
      new[index] = read(old.values.dictionary)
    }
    let name = "\(name) made, \(step)"
    return [
      line,
      isInt
        ? Migration(name, changing: M.ints[index], body: body).item
        : Migration(name, changing: M.texts[index - 3], body: body).item,
    ]
  }

  private func line<M: SlottedModel, V: PropertyValue, Old: PropertyValue>(
    _ property: Property<M, V>, _ convert: @escaping @Sendable (Old) -> V
  ) -> SchemaItem<M> {
    switch was {
    case .renamed(let name): property.was(name).item
    case .converted(let name): property.was(name, as: Old.self, convert).item
    case .joined: property.was { try V(storedValue: read($0.values.dictionary)) }.item
    default: property.item
    }
  }
}

extension ValueMap {
  var dictionary: [String: Value] {
    Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) })
  }
}
