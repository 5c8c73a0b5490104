// The elements of inner results one after the other, in the order of the outer result's elements.
//
//     outer    issue 4        issue 9        issue 2
//     inner    a  b  c        -              d  e
//     shown    a  b  c  d  e                           issue 2 begins at the sum before it, 3
//
// An outer element's inner result has a number, which its differences name: its place is found by
// the number, its offset by the numbers of elements before it.

/// Keeps the elements of inner results, and gives one difference for each of theirs and of the
/// outer result's.
///
/// Invariants, checked by the tests against the inner results one after the other:
/// 1. `owners`, `counts` and the outer result have as many elements, in the same order.
/// 2. `tokens` and `keys` have one entry for each owner.
struct InnerResults<Source: Sendable, Element: Sendable, Key: Hashable & Sendable>: Sendable {
  /// The outcome of a difference of the outer result.
  struct OuterStep {
    let diff: LiveDiff<Element>
    /// The inner results that are not followed any more.
    let ended: [Int]
    /// The inner results to be followed from now on, empty yet, and the elements that have them.
    let begun: [(number: Int, element: Source)]
  }

  /// The numbers of the inner results.
  private var owners = TokenList<Int>([])
  private var tokens: [Int: UInt64] = [:]
  private var keys: [Int: Key] = [:]
  private var counts = PrefixSums()
  private(set) var elements = LiveElements<Element>(EmptyCollection())
  private var sequence = SequenceNumber.zero
  private var lastNumber = 0

  /// Takes a difference of an inner result in; nil if it is not followed any more.
  mutating func apply(_ diff: LiveDiff<Element>, of number: Int) -> LiveDiff<Element>? {
    guard let position = tokens[number].map({ owners.position(of: $0) }) else { return nil }
    let range = counts.range(of: position)
    precondition(diff.countBefore == range.count, "the diff is not of the following step")
    sequence = max(sequence, diff.sequence)
    let derived = Self.parts(of: diff, from: range.lowerBound).diff(from: elements, at: sequence)
    counts.replace(at: position, with: diff.elements.count)
    elements = derived.elements
    return derived
  }

  private static func parts(
    of diff: LiveDiff<Element>, from start: Int
  ) -> DerivedParts<Element> {
    var parts = DerivedParts<Element>()
    for deletion in diff.deletions {
      parts.delete(deletion.element, at: start + deletion.position, deletion.cause)
    }
    for insertion in diff.insertions {
      parts.insert(insertion.element, at: start + insertion.position, insertion.cause)
    }
    parts.touched = diff.moves.map { ListMove(before: start + $0.from, after: start + $0.to) }
    for update in diff.updates {
      parts.update(
        update.old, to: update.new,
        at: ListMove(before: start + update.before, after: start + update.after),
        properties: update.properties, update.cause)
    }
    return parts
  }

  /// Takes a difference of the outer result in.
  ///
  /// - Parameters:
  ///   - diff: The difference.
  ///   - key: Gives what an element's inner result depends on.
  /// - Returns: The difference, and the inner results that end and begin.
  mutating func apply(_ diff: LiveDiff<Source>, by key: (Source) -> Key) -> OuterStep {
    precondition(diff.countBefore == counts.count, "the diff is not of the following step")
    sequence = max(sequence, diff.sequence)
    let before = counts
    var ended = diff.deletions.map { owners[$0.position].payload }
    var changed: [LiveDiff<Source>.Update] = []
    for update in diff.updates {
      let number = owners[update.before].payload
      if keys[number] == key(update.new) { continue }
      changed.append(update)
      ended.append(number)
    }
    counts.apply(diff.edit(of: before, inserting: diff.insertions.map { _ in 0 }))
    for update in changed { counts.replace(at: update.after, with: 0) }
    var parts = FlattenedParts(elements: elements, before: before, after: counts)
    parts.add(diff, emptying: changed)
    let derived = parts.parts.diff(from: elements, at: sequence)
    elements = derived.elements
    let begun = reorder(diff, changed)
    for number in ended { forget(number) }
    for (number, element) in begun { keys[number] = key(element) }
    return OuterStep(diff: derived, ended: ended, begun: begun)
  }

  private mutating func forget(_ number: Int) {
    keys[number] = nil
    tokens[number] = nil
  }

  /// Brings the owners into the order after a step.
  ///
  /// - Returns: The new owners, with their elements.
  private mutating func reorder(
    _ diff: LiveDiff<Source>, _ changed: [LiveDiff<Source>.Update]
  ) -> [(number: Int, element: Source)] {
    var begun: [(number: Int, element: Source)] = []
    var arrivals = diff.moves.map { ($0.to, owners[$0.from].payload) }
    for insertion in diff.insertions {
      lastNumber += 1
      begun.append((lastNumber, insertion.element))
      arrivals.append((insertion.position, lastNumber))
    }
    let removed = diff.deletions.map { $0.position } + diff.moves.map { $0.from }
    for position in removed.sorted(by: >) { _ = owners.remove(at: position) }
    for (position, number) in arrivals.sorted(by: { $0.0 < $1.0 }) {
      let (token, spread) = owners.insert(number, at: position)
      for other in spread { tokens[other.payload] = other.new }
      tokens[number] = token
    }
    for update in changed {
      lastNumber += 1
      begun.append((lastNumber, update.new))
      tokens[lastNumber] = owners[update.after].token
      owners.update(at: update.after) { [lastNumber] in $0 = lastNumber }
    }
    return begun
  }
}

extension FlattenedParts {
  /// Adds the inner elements of outer ones that left, moved, or lose their inner results.
  fileprivate mutating func add<Source>(
    _ diff: LiveDiff<Source>, emptying changed: [LiveDiff<Source>.Update]
  ) {
    for deletion in diff.deletions { delete(childrenOf: deletion.position, deletion.cause) }
    for update in changed { delete(childrenOf: update.before, update.cause) }
    let emptied = Set(changed.map { $0.after })
    for move in diff.moves where !emptied.contains(move.to) { self.move(move.from, to: move.to) }
  }
}
