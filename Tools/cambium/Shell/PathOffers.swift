import Cambium
import FoundationEssentials

/// The paths that one can become that is only begun: the children of the node it is in, and the
/// properties of its record, whose names start with what is written.
///
/// However many children there are, few are looked at: the keys that start with some text lie in a
/// handful of stretches of key order. Where a stretch is cut short its last key is offered too, so
/// that what all offers have in common is common to those left out.
///
/// It never fails, waits or writes: where a database cannot be read as it is, it offers nothing.
struct PathOffers {
  /// The largest number of children that are offered of one range.
  static let most = 200

  let database: String
  /// The node that paths without a leading slash start at.
  let base: NodePath

  /// The texts that may replace what is written. A node with children ends with a slash.
  func offers(for written: String) -> [String] {
    let lead = written.lastIndex(of: "/").map { written[...$0] } ?? ""
    let start = String(written[lead.endIndex...])
    guard let parent = try? Surroundings.path(String(lead), from: base) else { return [] }
    var options = Database.Options()
    options.createIfMissing = false
    options.readOnly = true
    options.busyTimeout = .zero
    guard let opened = try? Database(at: database, options: options, progress: { _ in false })
    else { return [] }
    defer { try? opened.close() }
    guard let node = try? opened.snapshot()[parent] else { return [] }
    return ((try? names(in: node, start)) ?? []).map { lead + $0 }
  }

  private func names(in node: Node, _ start: String) throws -> [String] {
    var names: [String] = []
    for stretch in KeyStretch.all(startingWith: PathOffers.unescaped(start)) {
      try stretch.forEach(in: node, most: PathOffers.most) { child in
        guard let key = child.key else { return }
        names.append(NodePath.escaped(key.description) + (try child.childCount > 0 ? "/" : ""))
      }
    }
    if case .map(let record)? = try node.value {
      names += record.members.map(\.name).filter { (try? Key($0)) != nil }.map(NodePath.escaped)
    }
    return names.filter { $0.utf8.starts(with: start.utf8) && PathOffers.canBeTyped($0) }
  }

  /// The text that the start of a key means; it may end in the middle of an escape.
  private static func unescaped(_ start: String) -> String {
    let whole = start.hasSuffix("~") ? String(start.dropLast()) : start
    return whole.replacing("~1", with: "/").replacing("~0", with: "~")
  }

  /// True if a name has no characters that would have to be typed in some special way.
  private static func canBeTyped(_ name: String) -> Bool { Terminal.escaped(name) == name }
}

/// Keys that lie beside each other in key order.
private struct KeyStretch {
  var first: Key?
  var last: Key?

  /// Where the keys are that start with a text; keys that do not may lie among them.
  static func all(startingWith text: String) -> [KeyStretch] {
    if text.isEmpty { return [KeyStretch()] }
    let texts = KeyStretch(first: .text(text), last: .text(text + "\u{10FFFF}"))
    return integers(text) + uuids(text) + [texts]
  }

  /// Integers are ordered by value: 12 is followed by 120 to 129 after some, by 1200 to 1299 after
  /// more.
  private static func integers(_ text: String) -> [KeyStretch] {
    if text == "-" { return [KeyStretch(first: .integer(.min), last: .integer(-1))] }
    guard case .integer(let number)? = try? Key(text) else { return [] }
    var stretches = [KeyStretch(first: .integer(number), last: .integer(number))]
    var (near, span) = (number, Int64(0))
    while number != 0 {
      let next = near.multipliedReportingOverflow(by: 10)
      if next.overflow { break }
      (near, span) = (next.partialValue, span * 10 + 9)
      let far = near.addingReportingOverflow(number < 0 ? -span : span)
      let end = far.overflow ? (number < 0 ? .min : .max) : far.partialValue
      stretches.append(
        KeyStretch(first: .integer(min(near, end)), last: .integer(max(near, end))))
    }
    return stretches
  }

  private static func uuids(_ text: String) -> [KeyStretch] {
    func filled(_ digit: String) -> Key? {
      let all = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx".replacing("x", with: digit)
      return UUID(uuidString: text + all.dropFirst(text.count)).map(Key.uuid)
    }
    guard text.utf8.count <= 36, let first = filled("0"), let last = filled("f") else { return [] }
    return [KeyStretch(first: first, last: last)]
  }

  /// Visits the first children within, and the last one where there are more.
  func forEach(in node: Node, most: Int, _ body: (Node) throws -> Void) throws {
    var walk = try (first.map(node.children.from) ?? node.children).limit(most).makeCursor()
    var (count, end) = (0, Key?.none)
    while let child = try walk.next() {
      guard let key = child.key, last.map({ key <= $0 }) ?? true else { return }
      try body(child)
      (count, end) = (count + 1, key)
    }
    guard count == most else { return }
    let reversed = node.children.reversed()
    var back = try (last.map(reversed.from) ?? reversed).limit(1).makeCursor()
    if let child = try back.next(), child.key != end { try body(child) }
  }
}
