/// A query whose elements are boxed, so that whatever follows it need not know their type.
protocol FollowedQuery: AnyObject, Sendable {
  var request: QueryRequest { get }
  /// True if two elements are equal.
  var areEqual: ElementComparison { get }
  /// The elements of a run.
  func elements(of run: QueryRun) throws -> [ElementBox]
}

extension FollowedQuery {
  /// The part of the result that is asked for.
  var extent: WindowExtent {
    let description = request.description
    return WindowExtent(offset: description.offset, limit: description.limit)
  }
}

/// A query of one shape of results. A live query and its result share it, since a question takes
/// about a kilobyte.
final class BoxedQuery<R: Results>: FollowedQuery where R.Element: Sendable {
  let query: R
  let areEqual: ElementComparison

  init(_ query: R) {
    self.query = query
    areEqual = BoxedElement<R.Element>.comparison
  }

  var request: QueryRequest { query.request }

  func elements(of run: QueryRun) throws -> [ElementBox] {
    var boxes: [ElementBox] = []
    try query.read(run) { element in
      boxes.append(BoxedElement(element))
      return true
    }
    return boxes
  }
}
