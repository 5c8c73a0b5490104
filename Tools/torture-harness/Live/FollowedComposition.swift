import Cambium
import Simulation

/// Several differences of a live query as one, beside that of an observer that missed all but the
/// last.
struct FollowedComposition<R: Results> where R.Element: Equatable & Sendable {
  typealias Diff = LiveDiff<R.Element>

  private let question: Question<R>
  private let twin: LiveResults<R>
  /// The result at which the differences begin.
  private var view: StrictListView<R.Element, Int>
  private var composed: Diff?
  private var twins: Diff?
  /// The differences that are composed.
  private var parts: [Diff] = []

  /// The number of differences that are composed.
  private static var most: Int { 4 }

  /// Nil if somebody else has written since the live query looked.
  init?(_ question: Question<R>, _ live: LiveResults<R>) throws {
    self.question = question
    twin = try question.query.live()
    view = StrictListView(live.elements)
    if twin.sequence != live.sequence { return nil }
    try demand(
      twin.elements == live.elements, "a second observer begins with \(twin.elements)")
  }

  /// Takes the next difference; compares after some.
  mutating func take(_ diff: Diff, isAlone: Bool) throws {
    composed = composed?.composed(with: diff) ?? diff
    parts.append(diff)
    guard isAlone, parts.count >= Self.most, let composed else { return }
    do { try compare(composed) } catch {
      throw Violation("composed of \(parts.map(\.words)): \(error)")
    }
  }

  private mutating func compare(_ composed: Diff) throws {
    let own = try twin.refresh()
    let missed = twins?.composed(with: own) ?? own
    guard missed.sequence == composed.sequence else { return twins = missed }
    var other = view
    try view.apply(composed)
    try other.apply(missed)
    try demand(composed.elements == missed.elements, "the composition leads elsewhere")
    if let path = question.path {
      let left = Set(try composed.deletions.map { try path($0.element) })
      let isBack = try composed.insertions.contains { left.contains(try path($0.element)) }
      if !isBack {
        do { try composed.demandSame(as: missed) } catch {
          throw Violation("composed \(composed.words), and \(error)")
        }
      }
    }
    (self.composed, twins, parts) = (nil, nil, [])
  }
}
