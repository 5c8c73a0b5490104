/// The sections that went and came in a step, and the order before if it has changed.
struct ArrangedSections {
  /// By number, with the positions before.
  var gone: [Int: Int] = [:]
  /// By number.
  var fresh: Set<Int> = []
  /// The numbers and positions before of all sections that stay, in the order before; nil if none
  /// of them is at another place among the others.
  var before: [(id: Int, position: Int)]?
  /// The numbers and counts of all sections in the order after, if that before is known.
  var after: [(id: Int, count: Int)] = []
}

// Brings the sections into their order again.
extension Sectioning {
  /// Drops sections that became empty, and puts new and changed ones where they belong.
  ///
  /// Sections that were not touched are in order, as an order looks at nothing but the sections.
  mutating func arrange(
    _ touched: Set<Int>, sectionsBefore: Int
  ) -> (sections: ArrangedSections, goneKeys: [Int: Key]) {
    var arranged = ArrangedSections()
    var goneKeys: [Int: Key] = [:]
    let fresh = (sectionsBefore..<list.count).map { _ in takeOut(at: list.count - 1) }
    arranged.fresh = Set(fresh.map { $0.id })
    let positions = touched.subtracting(arranged.fresh).map(index(of:)).sorted()
    for position in positions.reversed() where list[position].payload.count == 0 {
      let section = takeOut(at: position)
      numbers[section.key] = nil
      arranged.gone[section.id] = position
      goneKeys[section.id] = section.key
    }
    let stay = touched.subtracting(arranged.fresh).subtracting(arranged.gone.keys)
    if !stay.allSatisfy({ isInOrder(at: index(of: $0)) }) {
      arranged.before = idsAndPositions(besides: Array(arranged.gone.values))
      let sections = stay.map(index(of:)).sorted(by: >).map { takeOut(at: $0) }
      sections.forEach { insert($0) }
    }
    fresh.forEach { insert($0) }
    if arranged.before != nil {
      arranged.after = list.entries.map { ($0.payload.id, $0.payload.count) }
    }
    return (arranged, goneKeys)
  }

  private mutating func takeOut(at position: Int) -> Section {
    let section = list.remove(at: position).payload
    tokens[section.id] = nil
    return section
  }

  private mutating func insert(_ section: Section) {
    let position = list.entries.position { order.isBefore($0.payload, section) }
    insert(section, at: position)
  }

  private func isInOrder(at position: Int) -> Bool {
    let section = list[position].payload
    return (position == 0 || order.isBefore(list[position - 1].payload, section))
      && (position + 1 == list.count || order.isBefore(section, list[position + 1].payload))
  }

  /// The sections in the list, with their positions when others were still there.
  private func idsAndPositions(besides gone: [Int]) -> [(id: Int, position: Int)] {
    let positions = ListPositions(removed: gone, inserted: [], moves: [])
    return list.entries.enumerated().map { index, entry in
      (entry.payload.id, positions.before(index) ?? index)
    }
  }
}
