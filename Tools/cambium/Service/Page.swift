/// Ends a list after a page, for a request that asks for one. On a command line it does nothing.
final class Page {
  /// Thrown where a page is full: the parameters of the request for what follows.
  struct End: Error {
    /// A parameter to set; nil takes it out.
    typealias Changes = [(name: String, value: String?)]

    let changes: Changes
  }

  /// The largest number of rows; nil where there is no end.
  let size: Int?
  private var count = 0

  init(size: Int?) { self.size = size }

  /// Counts a row that is about to be written.
  ///
  /// - Throws: ``End``, where the page is full before it.
  func turn(_ changes: () throws -> End.Changes) throws {
    guard let size else { return }
    if count >= size { throw End(changes: try changes()) }
    count += 1
  }
}
