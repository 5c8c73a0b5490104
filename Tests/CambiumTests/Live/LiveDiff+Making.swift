@testable import Cambium

// Diffs that are made by hand.
extension LiveDiff {
  init(
    sequence: SequenceNumber, elements: LiveElements<Element>, deletions: [Deletion],
    insertions: [Insertion], moves: [Move], updates: [Update]
  ) {
    self.init(
      BoxedDiff(
        sequence: sequence, elements: elements.boxes, deletions: deletions.map { $0.boxed },
        insertions: insertions.map { $0.boxed }, moves: moves.map { $0.boxed },
        updates: updates.map { $0.boxed }))
  }
}

extension LiveDiff.Deletion {
  init(position: Int, element: Element, cause: LiveCause) {
    self.init(boxed: .init(position: position, element: BoxedElement(element), cause: cause))
  }
}

extension LiveDiff.Insertion {
  init(position: Int, element: Element, cause: LiveCause) {
    self.init(boxed: .init(position: position, element: BoxedElement(element), cause: cause))
  }
}

extension LiveDiff.Move {
  init(from: Int, to: Int, element: Element) {
    self.init(boxed: .init(from: from, to: to, element: BoxedElement(element)))
  }
}

extension LiveDiff.Update {
  init(
    before: Int, after: Int, old: Element, new: Element, properties: [PropertyUpdate],
    cause: LiveCause
  ) {
    self.init(
      boxed: .init(
        before: before, after: after, old: BoxedElement(old), new: BoxedElement(new),
        properties: .told(properties), cause: cause))
  }
}
