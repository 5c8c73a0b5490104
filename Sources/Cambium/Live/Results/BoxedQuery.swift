/// A query whose elements are boxed, so that whatever follows it need not know their type.
final class BoxedQuery: Sendable {
  let request: QueryRequest
  /// The part of the result that is asked for.
  let extent: WindowExtent
  private let forEach: @Sendable (QueryRun, (ElementBox) -> Void) throws -> Void
  /// True if two elements are equal.
  let areEqual: ElementComparison

  init<R: Results>(_ query: R) where R.Element: Sendable {
    request = query.request
    let description = request.description
    extent = WindowExtent(offset: description.offset, limit: description.limit)
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
