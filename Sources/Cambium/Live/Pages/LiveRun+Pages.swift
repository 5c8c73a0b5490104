// A run whose window is turned page by page.

extension LiveRun {
  /// Brings the result up to the newest moment, and takes more rows in behind it.
  ///
  /// - Parameters:
  ///   - count: The number of rows.
  ///   - most: The most rows of the window then.
  /// - Returns: The difference.
  /// - Throws: As ``step(then:)``.
  func goOn(by count: Int, keeping most: Int?) throws -> BoxedDiff {
    try turn { try $0.goOn(by: count, keeping: most, $1) }
  }

  /// Brings the result up to the newest moment, and takes the rows before it in.
  ///
  /// - Parameters: As ``goOn(by:keeping:)``.
  /// - Returns: The difference.
  /// - Throws: As ``step(then:)``.
  func goBack(by count: Int, keeping most: Int?) throws -> BoxedDiff {
    try turn { try $0.goBack(by: count, keeping: most, $1) }
  }

  private func turn(
    _ body: (MaintainedRows, LiveReading) throws -> WindowDiff
  ) throws -> BoxedDiff {
    try step { work, reading in
      guard let pages = work.pages else { return nil }
      let diff = try body(pages, reading)
      reading.extent = pages.extent
      return diff
    }
  }
}

extension LiveWork {
  /// The rows as an operator whose window can be turned; nil where it cannot, and before the first
  /// step.
  var pages: MaintainedRows? { result as? MaintainedRows }

  /// Finds the start of the window again where places have another form after a change of
  /// declarations: it is then the first row that was shown and is still there, or the beginning.
  func anchorAgain(_ reading: LiveReading) throws {
    guard extent?.start != nil, let pages else { return }
    let former = pages.evaluator
    let evaluator = try ResultEvaluator(reading.description().withOrderOfTies, reading.records)
    if evaluator.hasSamePlaces(as: former) { return }
    let shown = pages.visible.map(\.identity)
    let rows = try evaluator.rows(of: SortedKeys(shown.map(\.key)), reading)
    let places = Dictionary(
      rows.map { ($0.identity, $0.place) }, uniquingKeysWith: { first, _ in first })
    extent?.start = shown.lazy.compactMap { places[$0] }.first
    reading.extent.start = extent?.start
  }
}
