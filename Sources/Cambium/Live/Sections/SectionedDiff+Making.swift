// Puts the elements of a step to the places that are told.
extension SectionedDiff {
  init(
    _ changes: [SectionedChange], _ entries: [SectionedEntry<Element, Key>],
    _ arranged: ArrangedSections, _ goneKeys: [Int: Key], _ sections: LiveSections<Element, Key>,
    _ sequence: SequenceNumber
  ) {
    let step = SectionedStep(changes, arranged)
    var (deletions, insertions): ([Deletion], [Insertion]) = ([], [])
    var (moves, updates): ([Move], [Update]) = ([], [])
    for change in SectionedStep.sorted(changes, by: { $0.newPlace }) {
      let entry = entries[change.index]
      switch (step.shown(change.oldPlace), step.shown(change.newPlace)) {
      case (_, nil): break
      case (nil, let new?): insertions.append(entry.insertion(at: new))
      case (let old?, let new?):
        if step.isMove(change) { moves.append(.init(from: old, to: new, element: entry.element)) }
        if let update = entry.update(from: old, to: new) { updates.append(update) }
      }
    }
    for change in SectionedStep.sorted(changes, by: { $0.oldPlace }) {
      guard let old = step.shown(change.oldPlace), step.shown(change.newPlace) == nil else {
        continue
      }
      deletions.append(entries[change.index].deletion(at: old))
    }
    var gone = step.redrawn.map {
      SectionDeletion(position: $0.before, key: sections[$0.after].key)
    }
    for (id, key) in goneKeys {
      guard let position = arranged.gone[id] else { continue }
      gone.append(SectionDeletion(position: position, key: key))
    }
    self.init(
      sequence: sequence, sections: sections,
      sectionDeletions: gone.sorted { $0.position < $1.position },
      sectionInsertions: step.sectionInsertions.map { .init(position: $0, key: sections[$0].key) },
      sectionMoves: step.sectionMoves.map {
        .init(from: $0.before, to: $0.after, key: sections[$0.after].key)
      },
      deletions: deletions, insertions: insertions, moves: moves, updates: updates)
  }
}

extension SectionedEntry {
  fileprivate typealias Diff = SectionedDiff<Element, Key>

  fileprivate func deletion(at position: SectionedPosition) -> Diff.Deletion {
    .init(position: position, element: update?.old ?? element, cause: cause)
  }

  fileprivate func insertion(at position: SectionedPosition) -> Diff.Insertion {
    .init(position: position, element: element, cause: cause)
  }

  fileprivate func update(
    from old: SectionedPosition, to new: SectionedPosition
  ) -> Diff.Update? {
    update.map {
      .init(
        before: old, after: new, old: $0.old, new: $0.new, properties: $0.properties, cause: cause)
    }
  }
}
