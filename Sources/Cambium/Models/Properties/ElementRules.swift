// Rules for each element of an array, a set or a dictionary, and for a dictionary's keys. Those
// that are data are declared as domains, and bind every writer; those that are code run in the app.

/// The rules for each element of a property; see ``Property/each(_:)``.
public struct ElementRules<Element: PropertyValue>: Refinable, Sendable {
  fileprivate var domain: ValueDomain<Element>?
  fileprivate var tests: [(message: String, holds: @Sendable (Element) -> Bool)] = []

  fileprivate init() {}

  /// A rule that the app checks before a write is logged.
  ///
  /// - Parameters:
  ///   - message: Says what is wrong, behind the element's place: `must not be empty`.
  ///   - holds: Returns true if an element is good.
  /// - Returns: The rules with this one.
  public func validated(
    _ message: String, _ holds: @escaping @Sendable (Element) -> Bool
  ) -> ElementRules {
    changed { $0.tests.append((message, holds)) }
  }

  /// An element that is none of some values is refused, or treated as it is said:
  /// ``Domain/Treatment/clamp`` puts the first of the list into its place,
  /// ``Domain/Treatment/clear`` removes it.
  public func oneOf(_ values: [Element], else treatment: Domain.Treatment = .reject) -> ElementRules
  {
    changed { $0.domain = ValueDomain(values, treatment) }
  }
}

extension ElementRules where Element: Comparable {
  /// An element outside becomes the nearest value inside.
  public func clamped(to range: ClosedRange<Element>) -> ElementRules {
    clamped(below: range.lowerBound, above: range.upperBound)
  }

  /// An element below one value, or above another, becomes that.
  public func clamped(below least: Element? = nil, above greatest: Element? = nil) -> ElementRules {
    changed { $0.domain = ValueDomain(least, greatest, .clamp) }
  }

  /// An element outside is refused.
  public func rejected(outside range: ClosedRange<Element>) -> ElementRules {
    rejected(below: range.lowerBound, above: range.upperBound)
  }

  /// An element below one value, or above another, is refused.
  public func rejected(below least: Element? = nil, above greatest: Element? = nil) -> ElementRules
  {
    changed { $0.domain = ValueDomain(least, greatest, .reject) }
  }

  /// An element outside is removed.
  public func cleared(outside range: ClosedRange<Element>) -> ElementRules {
    cleared(below: range.lowerBound, above: range.upperBound)
  }

  /// An element below one value, or above another, is removed.
  public func cleared(below least: Element? = nil, above greatest: Element? = nil) -> ElementRules {
    changed { $0.domain = ValueDomain(least, greatest, .clear) }
  }
}

/// The rules for each key of a dictionary; see ``Property/eachKey(_:)``.
public struct KeyRules<Key: DictionaryKey>: Refinable, Sendable {
  fileprivate var permitted: [Key]?
  fileprivate var tests: [(message: String, holds: @Sendable (Key) -> Bool)] = []

  fileprivate init() {}

  /// A rule that the app checks before a write is logged.
  ///
  /// - Parameters:
  ///   - message: Says what is wrong with a key: `must be short`.
  ///   - holds: Returns true if a key is good.
  /// - Returns: The rules with this one.
  public func validated(
    _ message: String, _ holds: @escaping @Sendable (Key) -> Bool
  ) -> KeyRules {
    changed { $0.tests.append((message, holds)) }
  }

  /// A key that is none of these is refused.
  public func oneOf(_ keys: [Key]) -> KeyRules { changed { $0.permitted = keys } }
}

extension Property where V.Base: ElementsProperty {
  /// Sets the rules for each element of an array or a set, and for each value of a dictionary.
  ///
  ///     Property(\.tags).each { $0.validated("must not be empty") { !$0.isEmpty } }
  ///     Property(\.ratings).each { $0.rejected(outside: 1...5) }
  ///
  /// Domains (``ElementRules/oneOf(_:else:)``, ``ElementRules/rejected(outside:)`` and their like)
  /// are declared in the database and bind every writer; ``ElementRules/validated(_:_:)`` is code,
  /// and runs in the app. Both are asked about what is changed in place as well. A message names
  /// the element by its position, or by its key: `ratings[2] must be from 1 to 5`.
  ///
  /// - Parameter rules: Adds the rules to the empty ones that it is given.
  /// - Returns: The property with the rules.
  /// - Complexity: each write of the property looks at all of its elements, about 0.1 µs each.
  public func each(
    _ rules: (ElementRules<V.Base.ElementValue>) -> ElementRules<V.Base.ElementValue>
  ) -> Property {
    let rules = rules(ElementRules())
    var property = self
    for test in rules.tests {
      property = property.ruled(by: ModelRule(eachOf: path, test.message, test.holds))
    }
    guard let domain = rules.domain else { return property }
    return property.declaring { info, _ in
      info.rules.elementDomain = domain.definition
      info.rules.elementCheck = ElementCheck { (value: inout V) in
        guard var whole = value as? V.Base else { return [] }
        switch domain.definition.treatment {
        case .reject:
          return whole._elements.filter { domain.nearest($0.value) != nil }
            .map { ValidationError(element: $0.place, domain.message) }
        case .clamp: whole = whole._replacing { domain.nearest($0) ?? $0 }
        case .clear: whole = whole._replacing { domain.nearest($0) == nil ? $0 : nil }
        }
        if let whole = whole as? V { value = whole }
        return []
      }
    }
  }
}

extension Property {
  /// Sets the rules for each key of a dictionary.
  ///
  ///     Property(\.prices).eachKey { $0.oneOf(["EUR", "USD"]) }
  ///
  /// - Parameter rules: Adds the rules to the empty ones that it is given.
  /// - Returns: The property with the rules.
  public func eachKey<Key: DictionaryKey, Element: PropertyValue>(
    _ rules: (KeyRules<Key>) -> KeyRules<Key>
  ) -> Property where V.Base == [Key: Element] {
    let rules = rules(KeyRules())
    var property = self
    for test in rules.tests {
      property = property.ruled(by: ModelRule(eachKeyOf: path, test.message, test.holds))
    }
    guard let permitted = rules.permitted.map({ $0.map(\._keyText) }) else { return property }
    return property.declaring { info, _ in
      info.rules.keyDomain = Domain(.list(permitted.map { .string($0) }))
      info.rules.keyCheck = ElementCheck { (value: inout V) in
        guard let map = value as? V.Base else { return [] }
        let message =
          "must be one of \(permitted.map { Value.string($0).text }.joined(separator: ", "))"
        return map.keys.map(\._keyText).filter { name in
          !permitted.contains { ByteOrder.areEqual($0, name) }
        }.sorted().map { ValidationError(ElementPlan.refusal(ofKey: $0, message)) }
      }
    }
  }
}
