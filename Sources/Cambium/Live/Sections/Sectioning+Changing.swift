// Carries the changes of a step out, on the list of all rows and on the sections:
//
//   locate before ─▶ leave sections ─▶ join sections ─▶ arrange sections ─▶ locate after ─▶ diff
//
// Sections keep their positions until they are arranged: a new one waits at the end of the list,
// one that has become empty stays where it was.

extension Sectioning {
  typealias Entry = SectionedEntry<Element, Key>

  mutating func step(
    _ entries: [Entry], at sequence: SequenceNumber, isReordered: Bool = false
  ) -> SectionedDiff<Element, Key> {
    let countBefore = list.count
    var changes: [SectionedChange] = []
    for (index, entry) in entries.enumerated() {
      var change = entry.change
      change.index = index
      change.oldPlace = change.before.map { place(of: $0) }
      change.newID = newID(for: entry.key, change)
      changes.append(change)
    }
    leaveSections(changes)
    joinSections(changes, entries)
    let touched = isReordered ? Set(tokens.keys) : Self.touched(changes)
    let arranged = arrange(touched, sectionsBefore: countBefore)
    for index in changes.indices {
      changes[index].newPlace = changes[index].after.map { place(of: $0) }
    }
    return SectionedDiff(changes, entries, arranged.sections, arranged.goneKeys, sections, sequence)
  }

  private static func touched(_ changes: [SectionedChange]) -> Set<Int> {
    var ids: Set<Int> = []
    for change in changes {
      if let id = change.oldPlace?.id { ids.insert(id) }
      if let id = change.newID { ids.insert(id) }
    }
    return ids
  }

  /// The section of a row of the result, and the place in it.
  private func place(of position: Int) -> SectionedChange.Place {
    let row = rows[position]
    let section = index(of: row.payload)
    let item = list[section].payload.tokens.position { $0 < row.token }
    return SectionedChange.Place(
      id: row.payload, position: SectionedPosition(section: section, item: item))
  }

  /// The position of a section.
  func index(of id: Int) -> Int {
    guard let token = tokens[id] else { preconditionFailure("a row is in a section that is gone") }
    return list.position(of: token)
  }

  /// The number of the section that a row will be in, which is made if there is none yet.
  private mutating func newID(for key: Key?, _ change: SectionedChange) -> Int? {
    if change.after == nil { return nil }
    guard let key else { return change.oldPlace?.id }
    if let id = numbers[key] { return id }
    lastNumber += 1
    numbers[key] = lastNumber
    insert(Section(key: key, id: lastNumber), at: list.count)
    return lastNumber
  }

  /// Inserts a section into the list of sections.
  mutating func insert(_ section: Section, at position: Int) {
    let (token, spread) = list.insert(section, at: position)
    for other in spread { tokens[other.payload.id] = other.new }
    tokens[section.id] = token
  }

  private mutating func leaveSections(_ changes: [SectionedChange]) {
    let places = changes.filter { $0.leavesSection }.compactMap { $0.oldPlace?.position }.sorted()
    for place in places.reversed() {
      list.update(at: place.section) { section in
        section.elements.remove(at: place.item)
        section.tokens.remove(at: place.item)
      }
    }
  }

  private mutating func joinSections(_ changes: [SectionedChange], _ entries: [Entry]) {
    changeSections(changes, entries)
    let removals = changes.filter { $0.after == nil || $0.isMoved }.compactMap { $0.before }
    for position in removals.sorted(by: >) { _ = rows.remove(at: position) }
    let arrivals = changes.filter { $0.before == nil || $0.isMoved }
    for change in arrivals.sorted(by: { ($0.after ?? 0) < ($1.after ?? 0) }) {
      guard let after = change.after, let id = change.newID else { continue }
      let (token, spread) = rows.insert(id, at: after)
      follow(spread)
      add(entries[change.index].element, token, to: id)
    }
    for change in changes where !change.leavesSection {
      replace(change, entries[change.index].element)
    }
  }

  /// Puts rows that keep their place in the result into other sections.
  private mutating func changeSections(_ changes: [SectionedChange], _ entries: [Entry]) {
    for change in changes where change.leavesSection && !change.isMoved && change.after != nil {
      guard let before = change.before, let id = change.newID else { continue }
      rows.update(at: before) { $0 = id }
      add(entries[change.index].element, rows[before].token, to: id)
    }
  }

  private mutating func add(_ element: Element, _ token: UInt64, to id: Int) {
    list.update(at: index(of: id)) { section in
      let item = section.tokens.position { $0 < token }
      section.tokens.insert(token, at: item)
      section.elements.insert(element, at: item)
    }
  }

  /// Puts the element that a row has now into the place where it is.
  private mutating func replace(_ change: SectionedChange, _ element: Element) {
    guard let place = change.after.map({ place(of: $0) })?.position else { return }
    list.update(at: place.section) { section in
      section.elements.replace(at: place.item, with: element)
    }
  }

  /// Gives rows the tokens that they have got in the list of all rows. All are found by their old
  /// tokens before the first one changes, as between the two the tokens are not in order.
  private mutating func follow(_ spread: [TokenList<Int>.Spread]) {
    let places = spread.map { row in
      let section = index(of: row.payload)
      return (section, list[section].payload.tokens.position { $0 < row.old })
    }
    for ((section, item), row) in zip(places, spread) {
      list.update(at: section) { _ = $0.tokens.replace(at: item, with: row.new) }
    }
  }
}
