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
    rule = ModelRule(property: nil, message: message, holds: holds)
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
  let message: String
  let holds: @Sendable (M) -> Bool

  init(
    property: (@Sendable () -> String)?, message: String, holds: @escaping @Sendable (M) -> Bool
  ) {
    self.property = property
    place = nil
    self.message = message
    self.holds = holds
  }

  init<V: PropertyValue>(
    _ keyPath: KeyPath<M, V> & Sendable, _ message: String,
    _ holds: @escaping @Sendable (V) -> Bool
  ) {
    place = MemoryLayout<M>.offset(of: keyPath).map { $0..<$0 + max(1, MemoryLayout<V>.size) }
    property = { Self.name(keyPath) }
    self.message = message
    self.holds = { holds($0[keyPath: keyPath]) }
  }

  /// A rule about a property that looks at the whole model.
  init<V: PropertyValue>(
    about keyPath: KeyPath<M, V> & Sendable, _ message: String,
    _ holds: @escaping @Sendable (M) -> Bool
  ) {
    place = nil
    property = { Self.name(keyPath) }
    self.message = message
    self.holds = holds
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
  /// Makes the property what it is in the template, where the condition does not hold.
  let settle: @Sendable (_ model: inout M, _ template: M) -> Void

  init<V>(_ keyPath: KeyPath<M, V> & Sendable, _ holds: @escaping @Sendable (M) -> Bool) {
    settle = { model, template in
      if holds(model) { return }
      // The schema refuses others.
      guard let place = keyPath as? WritableKeyPath<M, V> else { return }
      model[keyPath: place] = template[keyPath: place]
    }
  }
}

extension ModelSchema {
  /// Makes the properties initial that are not stored of a model like this.
  func settle(_ model: inout M) {
    for condition in conditions { condition.settle(&model, template) }
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
    for rule in rules where !rule.holds(model) {
      problems.append(ValidationError(property: rule.property?(), rule.message))
    }
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
