/// A query whose elements are boxed, so that whatever follows it need not know their type.
final class BoxedQuery: Sendable {
  let request: QueryRequest
  private let forEach: @Sendable (QueryRun, (ElementBox) -> Void) throws -> Void
  /// True if two elements are equal; nil where they cannot be compared.
  let comparison: ElementComparison?

  init<R: Results>(_ query: R) where R.Element: Sendable {
    request = query.request
    forEach = { run, body in
      try query.read(run) { element in
        body(BoxedElement(element))
        return true
      }
    }
    comparison = BoxedElement<R.Element>.comparison
  }

  /// The elements of a run.
  func elements(of run: QueryRun) throws -> [ElementBox] {
    var boxes: [ElementBox] = []
    try forEach(run) { boxes.append($0) }
    return boxes
  }

  /// True if two elements can be compared and are equal.
  func areEqual(_ one: ElementBox, _ other: ElementBox) -> Bool { comparison?(one, other) ?? false }
}
