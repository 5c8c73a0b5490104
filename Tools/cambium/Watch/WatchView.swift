import Cambium

/// A watched list as a user sees it: changes are marked for a while, removed rows are shown for a
/// while longer, and scrolling keeps the rows that are seen where they are.
///
///     flights section by origin limit 50                 50 rows  tx 17
///       id      number  delay
///     JFK  2
///     + f12     1142    12
///     ↑ f7      1141    -5
///     ↑↓ PgUp PgDn Home End scroll, ←→ columns, q quits         1–4 of 52
///
/// It is a value: steps, keys and the time come in, lines come out.
struct WatchView {
  /// The time for which a change stays marked.
  static let markedFor = Duration.seconds(2)

  typealias Instant = ContinuousClock.Instant

  private enum Item {
    case heading(id: Int, Value, rows: Int)
    case row(WatchedList.Row)
    /// A removed row, until it vanishes.
    case removed(WatchedList.Row, until: Instant)
  }

  /// The place that removed rows are shown after.
  private enum Anchor: Hashable {
    case top
    case heading(id: Int)
    case row(id: Int)
  }

  private struct Mark {
    let sign: String
    let role: Role
    var names: Set<String> = []
    let until: Instant
  }

  private let title: String
  private var list: WatchedList
  private var items: [Item] = []
  /// The marks of rows, by their ids.
  private var marks: [Int: Mark] = [:]
  private var table = WatchTable()
  private var top = 0
  private var isEmpty = true

  /// A view of a list that is not read yet.
  init(title: String, _ list: WatchedList) {
    self.title = Terminal.escaped(title)
    self.list = list
  }

  // MARK: What comes in

  /// Shows the next state of the list. The first one is shown without marks.
  mutating func show(_ step: WatchStep, at now: Instant) {
    expire(at: now)
    let old = items
    var removed: [Anchor: [Item]] = [:]
    if !isEmpty {
      mark(step, until: now + Self.markedFor)
      removed = removals(in: step, until: now + Self.markedFor)
    }
    isEmpty = false
    list = step.list
    table.columns = list.columns
    items = WatchView.items(of: list, removed)
    if top > 0 { top = place(of: top, in: old) }
  }

  /// Drops marks and removed rows whose time is over.
  ///
  /// - Returns: True if there were any.
  @discardableResult
  mutating func expire(at now: Instant) -> Bool {
    let count = marks.count + items.count
    marks = marks.filter { $0.value.until > now }
    var kept: [Item] = []
    var above = 0
    for (index, item) in items.enumerated() {
      if case .removed(_, let until) = item, until <= now {
        if index < top { above += 1 }
      } else {
        kept.append(item)
      }
    }
    (items, top) = (kept, top - above)
    return marks.count + items.count != count
  }

  /// Scrolls as a key asks.
  ///
  /// - Returns: False if the key asks to leave.
  mutating func press(_ key: PressedKey, _ size: Screen.Size) -> Bool {
    let page = max(1, room(size) - 1)
    switch key {
    case .up, .character("k"): top -= 1
    case .down, .character("j"): top += 1
    case .pageUp, .character("b"): top -= page
    case .pageDown, .character(" "): top += page
    case .home, .character("g"): top = 0
    case .end, .character("G"): top = items.count
    case .left: table.first = max(0, table.first - 1)
    case .right: table.first = min(max(0, table.columns.count - 1), table.first + 1)
    case .character("q"): return false
    default: break
    }
    top = max(0, min(top, items.count - room(size)))
    return true
  }

  private mutating func mark(_ step: WatchStep, until: Instant) {
    for place in step.difference.insertions {
      marks[step.list[place].id] = Mark(sign: "+", role: .inserted, until: until)
    }
    let before = WatchView.numbers(of: list)
    let after = WatchView.numbers(of: step.list)
    for move in step.difference.moves {
      let id = step.list[move.to].id
      let isUp = after[id, default: 0] < before[id, default: 0]
      marks[id] = Mark(sign: isUp ? "↑" : "↓", role: .moved, until: until)
    }
    let moved = Set(step.difference.moves.map(\.to))
    for update in step.difference.updates {
      let id = step.list[update.after].id
      let mark = moved.contains(update.after) ? marks[id] : nil
      marks[id] = Mark(
        sign: mark?.sign ?? "~", role: mark?.role ?? .updated, names: Set(update.names),
        until: until)
    }
  }

  private static func numbers(of list: WatchedList) -> [Int: Int] {
    let ids = list.sections.flatMap { $0.rows.map(\.id) }
    return Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1, $0) })
  }

  // MARK: Removed rows

  /// The rows that a step removes, and those that are still shown, by what is above them and stays
  /// where it is.
  private func removals(in step: WatchStep, until: Instant) -> [Anchor: [Item]] {
    let left = Set(step.list.sections.flatMap { $0.rows.map(\.id) })
    let moved = Set(step.difference.moves.map { step.list[$0.to].id })
    let returned = Set(step.difference.insertions.map { step.list[$0].identity })
    let sections = Set(step.list.sections.map(\.id))
    var removed: [Anchor: [Item]] = [:]
    var anchor = Anchor.top
    for item in items {
      switch item {
      case .heading(let id, _, _):
        if sections.contains(id) { anchor = .heading(id: id) }
      case .row(let row) where !left.contains(row.id):
        removed[anchor, default: []].append(.removed(row, until: until))
      case .row(let row):
        if !moved.contains(row.id) { anchor = .row(id: row.id) }
      case .removed(let row, _):
        // One that came back is shown as the row that it is.
        if !returned.contains(row.identity) { removed[anchor, default: []].append(item) }
      }
    }
    return removed
  }

  private static func items(of list: WatchedList, _ removed: [Anchor: [Item]]) -> [Item] {
    var items = removed[.top] ?? []
    for section in list.sections {
      if list.isSectioned {
        items.append(.heading(id: section.id, section.value, rows: section.rows.count))
        items += removed[.heading(id: section.id)] ?? []
      }
      for row in section.rows {
        items.append(.row(row))
        items += removed[.row(id: row.id)] ?? []
      }
    }
    return items
  }

  /// The number of the first line, so that the first row that was seen and is left stays where it
  /// was on the screen.
  private func place(of top: Int, in old: [Item]) -> Int {
    var places: [Int: Int] = [:]
    for (index, item) in items.enumerated() {
      if case .row(let row) = item { places[row.id] = index }
    }
    for (index, item) in old.enumerated().dropFirst(top) {
      if case .row(let row) = item, let place = places[row.id] {
        return max(0, place - index + top)
      }
    }
    return top
  }

  // MARK: What is shown

  /// The lines of a screen: the query, the names, rows, and help. A small one has rows alone.
  mutating func lines(_ size: Screen.Size) -> [StyledLine] {
    let room = room(size)
    top = max(0, min(top, items.count - room))
    let seen = items[top..<min(items.count, top + room)]
    var body = rows(seen, size.columns)
    if !hasFrame(size) { return body }
    body += Array(repeating: StyledLine(), count: room - body.count)
    let count = list.count == 1 ? "1 row" : "\(list.count) rows"
    let head = WatchView.line(
      StyledLine(title, .heading), StyledLine("\(count)  tx \(list.sequence)", .metadata),
      size.columns)
    let place = items.isEmpty ? "" : "\(top + 1)–\(top + seen.count) of \(items.count)"
    let keys = "↑↓ PgUp PgDn Home End scroll, ←→ columns, q quits"
    let foot = WatchView.line(
      StyledLine(keys, .metadata), StyledLine(place, .metadata), size.columns)
    return [head, table.header(hasKeys: list.hasKeys)] + body + [foot]
  }

  /// The whole list, under the names of its columns.
  mutating func page(columns: Int) -> [StyledLine] {
    let body = rows(items[...], columns)
    return [table.header(hasKeys: list.hasKeys)] + body
  }

  private func hasFrame(_ size: Screen.Size) -> Bool { size.rows > 4 }

  /// The number of lines for rows and headings.
  private func room(_ size: Screen.Size) -> Int { hasFrame(size) ? size.rows - 3 : size.rows }

  private mutating func rows(_ items: ArraySlice<Item>, _ columns: Int) -> [StyledLine] {
    for case .row(let row) in items { table.fit(row) }
    return items.map { item in
      switch item {
      case .heading(_, let value, let count):
        return StyledLine(ValueText.short(value), .heading)
          + StyledLine("  \(count)", .metadata)
      case .row(let row):
        let mark = marks[row.id]
        let all = mark?.role == .inserted ? mark?.role : nil
        return StyledLine("\(mark?.sign ?? " ") ", mark?.role)
          + table.cells(row, all: all, changed: mark?.names ?? [], hasKeys: list.hasKeys, columns)
      case .removed(let row, _):
        return StyledLine("− ", .deleted)
          + table.cells(row, all: .deleted, changed: [], hasKeys: list.hasKeys, columns)
      }
    }
  }

  /// Puts a text at either end of a line; the right one goes first where both have no room.
  private static func line(_ left: StyledLine, _ right: StyledLine, _ columns: Int) -> StyledLine {
    let spaces = columns - left.width - right.width
    return spaces < 2 ? left : left + StyledLine(spaces: spaces) + right
  }
}

/// The columns of a watched list. They become wider with what is shown in them, and never narrower,
/// so that they do not jump.
struct WatchTable {
  private static let widthMax = 32

  var columns: [String] = []
  /// The number of columns that are scrolled out to the left.
  var first = 0
  private var widths: [String: Int] = [:]
  private var keyWidth = 2

  /// Makes the columns wide enough for a row.
  mutating func fit(_ row: WatchedList.Row) {
    keyWidth = max(keyWidth, Terminal.displayWidth(WatchTable.key(row)))
    for name in columns {
      let text = WatchTable.text(row.values[name])
      let width = max(Terminal.displayWidth(text), widths[name] ?? WatchTable.nameWidth(name))
      widths[name] = width
    }
  }

  /// The names of the columns.
  func header(hasKeys: Bool) -> StyledLine {
    var cells = Cells()
    if hasKeys { cells.add("id", keyWidth, .metadata) }
    for name in columns.dropFirst(first) {
      let text = Terminal.truncated(Terminal.escaped(name), to: WatchTable.widthMax)
      cells.add(text, width(name), .metadata)
    }
    return StyledLine("  ") + cells.line
  }

  /// The values of a row, all in one role, or those that changed in another.
  func cells(
    _ row: WatchedList.Row, all: Role?, changed: Set<String>, hasKeys: Bool, _ columns: Int
  ) -> StyledLine {
    var cells = Cells()
    if hasKeys { cells.add(WatchTable.key(row), keyWidth, all ?? .heading) }
    for name in self.columns.dropFirst(first) where cells.line.width < columns {
      let value = row.values[name]
      let role = all ?? (changed.contains(name) ? .updated : nil)
      let (text, width) = (WatchTable.text(value), width(name))
      let isNumber = WatchTable.isNumber(value)
      cells.add(isNumber ? Terminal.padded(text, to: width, leading: true) : text, width, role)
    }
    return cells.line
  }

  /// A line of cells. The spaces that align a cell come before it, so that no line ends with any.
  private struct Cells {
    private(set) var line = StyledLine()
    private var start = 0

    mutating func add(_ text: String, _ width: Int, _ role: Role?) {
      defer { start += width + 2 }
      if text.isEmpty { return }
      line.add(StyledLine(spaces: start - line.width))
      line.add(text, role)
    }
  }

  private func width(_ name: String) -> Int { widths[name] ?? WatchTable.nameWidth(name) }

  private static func nameWidth(_ name: String) -> Int {
    min(widthMax, Terminal.displayWidth(Terminal.escaped(name)))
  }

  private static func key(_ row: WatchedList.Row) -> String {
    ValueText.short(row.identity, columns: widthMax)
  }

  private static func text(_ value: Value?) -> String {
    value.map { $0 == .null ? "" : ValueText.short($0, columns: widthMax) } ?? ""
  }

  private static func isNumber(_ value: Value?) -> Bool {
    switch value {
    case .integer, .double, .decimal: true
    default: false
    }
  }
}
