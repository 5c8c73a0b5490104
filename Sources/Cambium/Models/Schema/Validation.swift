/// A rule about a model as a whole, checked by the app's code; a line of a ``ModelSchema``.
///
///     Rule("must arrive after it departs") { $0.arrival > $0.departure }
public struct Rule<M: Model>: SchemaPart, Sendable {
  private let rule: ModelRule<M>

  /// Declares a rule.
  ///
  /// - Parameters:
  ///   - message: Says what is wrong.
  ///   - holds: Returns true if a model is good.
  public init(_ message: String, _ holds: @escaping @Sendable (M) -> Bool) {
    rule = ModelRule(message, holds)
  }

  /// The schema item that adds the rule.
  public var item: SchemaItem<M> { SchemaItem(rules: [rule]) }
}

/// A rule that is code.
struct ModelRule<M: Model>: Sendable {
  /// The property's name, asked for late: the schema is being made.
  let property: (@Sendable () -> String)?
  /// The range of the model that the rule looks at; nil for the whole model.
  let place: Range<Int>?
  /// The rule in words.
  var words: String { [property?(), message].compactMap(\.self).joined(separator: " ") }
  private let message: String
  private let find: @Sendable (M) -> [(element: Value?, message: String)]

  /// The problems that a model has by the rule.
  func problems(of model: M) -> [ValidationError] {
    find(model).map { ValidationError(property: property?(), element: $0.element, $0.message) }
  }

  init(_ message: String, _ holds: @escaping @Sendable (M) -> Bool) {
    (property, place) = (nil, nil)
    self.message = message
    find = { holds($0) ? [] : [(nil, message)] }
  }

  init<V: PropertyValue>(
    _ keyPath: KeyPath<M, V> & Sendable, _ message: String,
    _ holds: @escaping @Sendable (V) -> Bool
  ) {
    place = ModelRule.place(of: keyPath)
    property = { Self.name(keyPath) }
    self.message = message
    find = { holds($0[keyPath: keyPath]) ? [] : [(nil, message)] }
  }

  /// A rule about each element of a property.
  init<V: PropertyValue>(
    eachOf keyPath: KeyPath<M, V> & Sendable, _ message: String,
    _ holds: @escaping @Sendable (V.Base.ElementValue) -> Bool
  ) where V.Base: ElementsProperty {
    place = ModelRule.place(of: keyPath)
    property = { Self.name(keyPath) }
    self.message = "has elements, each of which \(message)"
    find = { model in
      guard let whole = model[keyPath: keyPath] as? V.Base else { return [] }
      return whole._elements.filter { !holds($0.value) }.map { ($0.place, message) }
    }
  }

  /// A rule about each key of a dictionary.
  init<V: PropertyValue, Key: DictionaryKey, Element: PropertyValue>(
    eachKeyOf keyPath: KeyPath<M, V> & Sendable, _ message: String,
    _ holds: @escaping @Sendable (Key) -> Bool
  ) where V.Base == [Key: Element] {
    place = ModelRule.place(of: keyPath)
    property = { Self.name(keyPath) }
    self.message = "has keys, each of which \(message)"
    find = { model in
      guard let map = model[keyPath: keyPath] as? V.Base else { return [] }
      return map.keys.filter { !holds($0) }.map(\._keyText).sorted()
        .map { (nil, ElementPlan.refusal(ofKey: $0, message)) }
    }
  }

  private static func place<V>(of keyPath: KeyPath<M, V>) -> Range<Int>? {
    MemoryLayout<M>.offset(of: keyPath).map { $0..<$0 + max(1, MemoryLayout<V>.size) }
  }

  /// A rule about a property that looks at the whole model.
  init<V: PropertyValue>(
    about keyPath: KeyPath<M, V> & Sendable, _ message: String,
    _ holds: @escaping @Sendable (M) -> Bool
  ) {
    place = nil
    property = { Self.name(keyPath) }
    self.message = message
    find = { holds($0) ? [] : [(nil, message)] }
  }

  /// True if the rule is checked after a change of the property, or nested value, that lies in a
  /// range.
  func isAsked(in changed: Range<Int>) -> Bool { place?.overlaps(changed) ?? true }

  private static func name<V: PropertyValue>(_ keyPath: KeyPath<M, V>) -> String {
    let core = M.schema.core
    let offset = MemoryLayout<M>.offset(of: keyPath)
    if core.problem == nil, let name = core.path(at: offset, of: keyPath, V.self).property {
      return name
    }
    return "\(keyPath)".split(separator: ".").dropFirst().joined(separator: ".")
  }
}

/// A property that is stored only under a condition.
struct ModelCondition<M: Model>: Sendable {
  /// True if it is read only under the condition, too.
  let decidesReads: Bool
  let holds: @Sendable (_ model: M) -> Bool
  /// Makes the property what it is in the template.
  let reset: @Sendable (_ model: inout M, _ template: M) -> Void

  init<V>(
    _ keyPath: KeyPath<M, V> & Sendable, _ holds: @escaping @Sendable (M) -> Bool,
    decidesReads: Bool = false
  ) {
    self.decidesReads = decidesReads
    self.holds = holds
    reset = { model, template in
      // The schema refuses others.
      guard let place = keyPath as? WritableKeyPath<M, V> else { return }
      model[keyPath: place] = template[keyPath: place]
    }
  }
}

extension ModelSchema {
  /// Makes the properties initial that are not stored of a model like this.
  func settle(_ model: inout M) {
    for condition in conditions where !condition.holds(model) {
      condition.reset(&model, template)
    }
  }

  /// Makes the properties initial that are not read of a model like this.
  @usableFromInline
  func hideUnread(_ model: inout M) {
    let whole = model
    for condition in conditions where condition.decidesReads && !condition.holds(whole) {
      condition.reset(&model, template)
    }
  }

  /// Puts values into their domains where those say so, and checks everything else.
  ///
  /// - Returns: The problems: of the properties in their order, then of the rules; empty where
  ///   there are none.
  /// - Complexity: O(properties with a rule).
  func problems(in model: inout M) -> [ValidationError] {
    if let problemsOfCase { return problemsOfCase(&model) }
    settle(&model)
    var problems = core.checked(&model)
    for rule in rules { problems += rule.problems(of: model) }
    return problems
  }

  /// True if any rule is checked after a change of what lies in a range of the model.
  func hasRules(in changed: Range<Int>) -> Bool { rules.contains { $0.isAsked(in: changed) } }

  /// Throws where a model is not as it must be.
  @usableFromInline
  func validate(_ model: inout M) throws {
    let problems = problems(in: &model)
    if problems.isEmpty { return }
    throw ValidationError(path: try? core.path(of: model.id), causes: problems)
  }
}

extension Model {
  /// Checks the model without writing it: for forms.
  ///
  /// - Returns: Every message with its property; empty where it can be written, as far as can be
  ///   said without looking at the database.
  public func validationErrors() -> [ValidationError] {
    var copy = self
    return Self.schema.problems(in: &copy)
  }
}
