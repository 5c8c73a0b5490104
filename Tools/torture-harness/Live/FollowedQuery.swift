// A live query, and beside it everything that its differences must agree with: the query run again,
// list views that refuse contradictions, the same differences composed, a second observer that
// looks less often.

import Cambium
import Simulation

/// A query that is followed, with the ways to check its differences.
struct Question<R: Results> where R.Element: Equatable & Sendable {
  typealias Element = R.Element

  let text: String
  /// The form of its results, for the counts.
  let shape: String
  let query: R
  /// Runs it again at a moment, in the order that a live query has.
  let again: (Snapshot) throws -> [Element]
  /// The record that an element is, where it is one and nothing else.
  let path: ((Element) throws -> NodePath)?
  /// The stored values of such an element, where they can be had.
  let values: ((Element) -> ValueMap)?
  /// The values of an element that is one row's, by the paths to them; nil for other elements.
  let selected: ((Element) -> ValueMap)?
  let isWindowed: Bool
}

/// A live query of any type.
protocol Followed: AnyObject {
  var shape: String { get }

  /// Takes a step, and checks it.
  ///
  /// - Parameter isAlone: True if nobody else writes meanwhile.
  /// - Throws: ``Violation``.
  func step(isAlone: Bool) throws

  /// Asks another question from now on.
  func ask() throws
}

final class FollowedQuery<R: Results>: Followed where R.Element: Equatable & Sendable {
  typealias Element = R.Element

  private let database: Database
  private let draw: () throws -> Question<R>
  private var question: Question<R>
  private let live: LiveResults<R>
  private var view: StrictListView<Element, Int>
  private var sections: FollowedSections<Element>?
  private var composition: FollowedComposition<R>?
  private let counts: LiveCounts
  /// True after a step has failed: the next difference may replace everything.
  private var hasFailed = false

  var shape: String { question.shape }

  /// - Parameters:
  ///   - database: The database.
  ///   - counts: Counts what is tried.
  ///   - isDivided: True if the result is followed in sections as well.
  ///   - isCompared: True if a second observer looks less often.
  ///   - section: Gives the section of an element.
  ///   - draw: Draws a question.
  /// - Throws: ``Violation``; and what drawing a question throws.
  init(
    _ database: Database, _ counts: LiveCounts, isDivided: Bool, isCompared: Bool,
    _ section: @escaping @Sendable (Element) -> String, _ draw: @escaping () throws -> Question<R>
  ) throws {
    (self.database, self.counts, self.draw) = (database, counts, draw)
    question = try draw()
    live = try question.query.live()
    let elements = live.elements
    view = StrictListView(elements)
    if isDivided { sections = try FollowedSections(elements, live.sequence, section) }
    if isCompared { composition = try FollowedComposition(question, live) }
    counts[question.shape].queries += 1
    try demandCurrent()
  }

  func step(isAlone: Bool) throws {
    let (before, former) = (Array(live.elements), live.sequence)
    let diff: LiveDiff<Element>
    do { diff = try live.refresh() } catch {
      return try demandRefused(error, before, isAlone: isAlone)
    }
    counts[question.shape].steps += 1
    try take(diff, before)
    try demandCauses(diff, since: former, isAsked: false)
    try naming(diff) { try composition?.take(diff, isAlone: isAlone) }
  }

  func ask() throws {
    let (before, former) = (Array(live.elements), live.sequence)
    let asked = question
    question = try draw()
    let diff: LiveDiff<Element>
    do { diff = try live.ask(question.query) } catch {
      question = asked
      throw error
    }
    counts[question.shape].queries += 1
    try take(diff, before, since: asked)
    try demandCauses(diff, since: former, isAsked: true)
    composition = composition == nil ? nil : try FollowedComposition(question, live)
  }

  // MARK: Checks

  // The former result answers `asked`, where that was another question.
  private func take(
    _ diff: LiveDiff<Element>, _ before: [Element], since asked: Question<R>? = nil
  ) throws {
    if !diff.isEmpty { counts[question.shape].note(diff) }
    try naming(diff) {
      try view.apply(diff)
      try demand(diff.applied(to: before).elementsEqual(diff.elements), "it leads elsewhere")
      // Records are compared with records alone.
      if ((asked ?? question).path != nil) == (question.path != nil), !hasFailed {
        if let path = question.path { try diff.demandExact(before, path) }
        if let values = question.values { try diff.demandProperties(values) }
      }
      if asked == nil, !hasFailed, let values = question.selected { try diff.demandFar(values) }
      try sections?.apply(diff)
    }
    hasFailed = false
    try demandCurrent()
  }

  /// Demands that the result is what the query gives at the result's moment.
  private func demandCurrent() throws {
    let now = try database.snapshot()
    let sequence = live.sequence
    let moment = now.sequence == sequence ? now : try database.snapshot(at: .sequence(sequence))
    let wanted = try question.again(moment)
    if live.elements.elementsEqual(wanted) { return }
    throw Violation(
      "\(question.text) at \(sequence) is \(live.elements.map { brief($0) }), and run again "
        + "\(wanted.map { brief($0) })")
  }

  /// A step may fail where running the query again does, and changes nothing.
  private func demandRefused(_ error: any Error, _ before: [Element], isAlone: Bool) throws {
    hasFailed = true
    try demand(before.elementsEqual(live.elements), "\(question.text): changed though it failed")
    guard isAlone else { return }
    let found = try? question.again(try database.snapshot())
    try demand(found == nil, "\(question.text): \(error), but run again it has an answer")
  }

  private func demandCauses(
    _ diff: LiveDiff<Element>, since former: SequenceNumber, isAsked: Bool
  ) throws {
    let causes =
      diff.deletions.map { ($0.cause, $0.element) } + diff.insertions.map { ($0.cause, $0.element) }
      + diff.updates.map { ($0.cause, $0.new) }
    try naming(diff) {
      for (cause, _) in causes {
        try demand((cause == .question) == isAsked, "an entry has the cause \(cause)")
        try demand(cause != .window || question.isWindowed, "it has no window that could move")
      }
      guard let path = question.path, causes.contains(where: { $0.0 == .own }) else { return }
      let then = try database.snapshot(at: .sequence(former))
      let now = try database.snapshot(at: .sequence(diff.sequence))
      for (cause, element) in causes.prefix(4) where cause == .own {
        let path = try path(element)
        let (old, new) = try (then[path].record, now[path].record)
        try demand(old != new, "\(path) has not changed itself")
      }
    }
  }

  /// Says of which query and moment something is that is wrong.
  private func naming(_ diff: LiveDiff<Element>, _ body: () throws -> Void) throws {
    do { try body() } catch {
      throw Violation("\(question.text) at \(diff.sequence): \(error); \(diff.words.prefix(3000))")
    }
  }
}
