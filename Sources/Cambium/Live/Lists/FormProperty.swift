/// One line of a form: a property, and how a person edits it.
///
/// The schema fills it in. An app may change the label and the editor, make it read-only, and put
/// the properties of a form into another order, or leave some out.
public struct FormProperty: Hashable, Sendable, Identifiable {
  /// The property's name; dotted if it is in a nested value. `id` is the key.
  public let name: String
  /// The text that is shown to people: the declared label, else the name in words.
  public var label: String
  /// A description of the property for people.
  public var documentation: String?
  /// The type of the property's values.
  public let type: PropertyType
  /// The kind of editor that fits the type.
  public var editor: FormEditor
  /// True if it must have a value.
  public var isRequired: Bool
  /// True if its value is shown, and cannot be changed.
  public var isReadOnly: Bool
  /// The permitted values; nil for all of the type.
  public let domain: Domain?

  /// The name, which no other property of a form has.
  public var id: String { name }

  /// Makes the line for a declared property.
  ///
  /// - Parameters:
  ///   - property: The declaration.
  ///   - choices: The values to choose from; nil if any of the type can be entered.
  public init(_ property: PropertyDefinition, choices: [FormChoice]? = nil) {
    name = property.name
    label = property.label ?? FormProperty.label(of: property.name)
    documentation = property.documentation
    type = property.type
    domain = property.domain
    isRequired = (property.isRequired || property.isNullable == false) && !property.hasDefault
    let offered = choices ?? FormProperty.choices(of: property.domain)
    editor = offered.map { .choice($0) } ?? FormEditor(property.type)
    isReadOnly = property.type == .blob
  }

  /// The line for the key of a record.
  init(key type: CollectionDefinition.KeyType?, isReadOnly: Bool) {
    name = "id"
    label = "Id"
    self.type = type == .integer ? .integer : type == .uuid ? .uuid : .string
    domain = nil
    isRequired = true
    editor = FormEditor(self.type)
    self.isReadOnly = isReadOnly
  }

  private static func choices(of domain: Domain?) -> [FormChoice]? {
    guard case .list(let values)? = domain?.values else { return nil }
    return values.map { FormChoice($0, FormText.text(of: $0)) }
  }

  /// A name in words: `scheduledAt` is “Scheduled at”, `place.postCode` is “Place post code”, and
  /// `imageURL` keeps its capitals.
  ///
  /// - Complexity: O(length).
  public static func label(of name: String) -> String {
    var words: [String] = []
    var word = ""
    let letters = Array(name)
    for (index, letter) in letters.enumerated() {
      if !letter.isLetter && !letter.isNumber {
        words.append(word)
        word = ""
        continue
      }
      let next = index + 1 < letters.count ? letters[index + 1] : nil
      let endsCapitals = word.last?.isUppercase == true && next?.isLowercase == true
      if letter.isUppercase && (word.last?.isUppercase != true || endsCapitals) {
        words.append(word)
        word = ""
      }
      word.append(letter)
    }
    let all = (words + [word]).filter { !$0.isEmpty }.map { word in
      word.count > 1 && word.allSatisfy { !$0.isLowercase } ? word : word.lowercased()
    }
    let text = all.joined(separator: " ")
    return text.prefix(1).uppercased() + text.dropFirst()
  }
}

/// The kinds of editors that the properties of a form have.
public indirect enum FormEditor: Hashable, Sendable {
  /// A line of text; for bytes, of base64.
  case text
  /// A number; a whole one, or any.
  case number(isWhole: Bool)
  /// A switch.
  case toggle
  /// A moment.
  case date
  /// One of several values: the cases of an enum, or the values of a domain.
  case choice([FormChoice])
  /// A record of another collection.
  case reference(NodePath)
  /// Values in order, each with an editor.
  case list(FormEditor)
  /// Values by name, each with an editor.
  case nested(FormEditor)

  /// The editor that fits a type.
  public init(_ type: PropertyType) {
    switch type {
    case .any, .string, .data, .uuid, .blob: self = .text
    case .bool: self = .toggle
    case .integer: self = .number(isWhole: true)
    case .double, .decimal: self = .number(isWhole: false)
    case .date: self = .date
    case .reference(let collection): self = .reference(collection)
    case .array(let element): self = .list(FormEditor(element))
    case .map(let element), .keyed(_, let element): self = .nested(FormEditor(element))
    }
  }
}

/// A value to choose from.
public struct FormChoice: Hashable, Sendable {
  /// The value as it is stored.
  public let value: Value
  /// The text that is shown to people.
  public var label: String

  /// Offers a value.
  public init(_ value: Value, _ label: String) {
    self.value = value
    self.label = label
  }
}

/// The cases of an app's enums as choices.
enum EnumChoices {
  /// The choices of the properties that are enums with known cases, optional ones as well.
  static func found<M: Model>(in model: M) -> [String: [FormChoice]] {
    var found: [String: [FormChoice]] = [:]
    for (name, value) in Mirror(reflecting: model).children {
      guard let name, let type = type(of: value) as? any PropertyValue.Type else { continue }
      found[name] = base(type)
    }
    return found
  }

  private static func base<V: PropertyValue>(_ type: V.Type) -> [FormChoice]? {
    guard let cases = V.Base.self as? any (PropertyValue & CaseIterable).Type else { return nil }
    return choices(cases)
  }

  private static func choices<V: PropertyValue & CaseIterable>(_ type: V.Type) -> [FormChoice] {
    type.allCases.map { FormChoice($0.storedValue, FormProperty.label(of: "\($0)")) }
  }
}
