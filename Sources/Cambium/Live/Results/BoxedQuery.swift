/// A query whose elements are boxed, so that whatever follows it need not know their type.
final class BoxedQuery: Sendable {
  let request: QueryRequest
  /// The part of the result that is asked for.
  var extent: WindowExtent {
    WindowExtent(offset: request.description.offset, limit: request.description.limit)
  }
  private let forEach: @Sendable (QueryRun, (ElementBox) -> Void) throws -> Void
  /// True if two elements are equal.
  let areEqual: ElementComparison

  init<R: Results>(_ query: R) where R.Element: Sendable {
    request = query.request
    forEach = { run, body in
      try query.read(run) { element in
        body(BoxedElement(element))
        return true
      }
    }
    areEqual = BoxedElement<R.Element>.comparison
  }

  /// The elements of a run.
  func elements(of run: QueryRun) throws -> [ElementBox] {
    var boxes: [ElementBox] = []
    try forEach(run) { boxes.append($0) }
    return boxes
  }
}
