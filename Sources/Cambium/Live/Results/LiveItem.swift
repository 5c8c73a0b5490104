// One row of a live result that is observed by itself.
//
//     LiveResults ── items: change with insertions, deletions and moves
//         └─ LiveItem ── element: changes with the row's own updates

import Observation
import Synchronization

/// A row of a ``LiveResults``: the same object as long as the row is in the result, which shows the
/// row's element and notifies of its changes alone.
///
///     ForEach(late.items) { item in Text(item.element.name) }
///
/// A list view of items is told of rows that come, go and move; the view of one row of its updates.
///
/// Threads: any for reading. It changes, and notifies, where its result takes a step.
public final class LiveItem<Element: Sendable>: Observable, Identifiable, Sendable {
  private let registrar = ObservationRegistrar()
  private let shown: Mutex<Element>

  init(_ element: Element) { shown = Mutex(element) }

  /// The element as it is now; the last one after the row has left the result.
  public var element: Element {
    registrar.access(self, keyPath: \.element)
    return shown.withLock { $0 }
  }

  func show(_ element: Element) {
    registrar.withMutation(of: self, keyPath: \.element) { shown.withLock { $0 = element } }
  }
}

extension LiveElements {
  /// Applies a step of a result to the items of its rows.
  ///
  /// - Returns: True if the items are others, or in another order.
  /// - Complexity: As the step.
  mutating func apply<Row>(_ diff: LiveDiff<Row>) -> Bool where Element == LiveItem<Row> {
    let isRearranged = !(diff.deletions.isEmpty && diff.insertions.isEmpty && diff.moves.isEmpty)
    if isRearranged {
      let moved = diff.moves.map { ($0.to, self[$0.from]) }
      let inserted = diff.insertions.map { ($0.position, LiveItem($0.element)) }
      edit(
        removing: (diff.deletions.map { $0.position } + diff.moves.map { $0.from }).sorted(),
        inserting: (inserted + moved).sorted { $0.0 < $1.0 })
    }
    for update in diff.updates { self[update.after].show(update.new) }
    return isRearranged
  }
}
