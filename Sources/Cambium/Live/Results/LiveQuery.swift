/// A query whose elements are boxed, so that whatever follows it need not know their type.
final class LiveQuery: Sendable {
  let request: QueryRequest
  private let forEach: @Sendable (QueryRun, (ElementBox) -> Void) throws -> Void
  /// True if two elements are equal; nil where they cannot be compared.
  private let compare: (@Sendable (ElementBox, ElementBox) -> Bool)?

  init<R: Results>(_ query: R) where R.Element: Sendable {
    request = query.request
    forEach = { run, body in
      try query.read(run) { element in
        body(BoxedElement(element))
        return true
      }
    }
    compare = LiveQuery.comparing(R.Element.self)
  }

  private static func comparing<Element: Sendable>(
    _ type: Element.Type
  ) -> (@Sendable (ElementBox, ElementBox) -> Bool)? {
    if !(type is any Equatable.Type) { return nil }
    return { one, other in
      guard let one = one.open(Element.self) as? any Equatable else { return false }
      return one.equals(other.open(Element.self))
    }
  }

  /// The elements of a run.
  func elements(of run: QueryRun) throws -> [ElementBox] {
    var boxes: [ElementBox] = []
    try forEach(run) { boxes.append($0) }
    return boxes
  }

  /// True if two elements can be compared and are equal.
  func areEqual(_ one: ElementBox, _ other: ElementBox) -> Bool { compare?(one, other) ?? false }
}

extension Equatable {
  fileprivate func equals(_ other: Any) -> Bool { self == other as? Self }
}
