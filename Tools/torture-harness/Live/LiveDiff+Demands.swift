// The demands on one difference that need nothing but the results before and after.

import Cambium

extension LiveDiff where Element: Equatable {
  /// Demands that it tells of each record once, and of none that is as it was.
  ///
  /// - Parameters:
  ///   - before: The elements before, each of which is another record.
  ///   - path: The record that an element is.
  /// - Throws: ``Violation``.
  func demandExact(_ before: [Element], _ path: (Element) throws -> NodePath) throws {
    let former = try Self.byPath(before, path)
    let now = try Self.byPath(Array(elements), path)
    for deletion in deletions {
      let path = try path(deletion.element)
      try demand(now[path] == nil, "\(path) is deleted, and stays")
    }
    for insertion in insertions {
      let path = try path(insertion.element)
      try demand(former[path] == nil, "\(path) is inserted, and was there")
    }
    for update in updates {
      let (old, new) = try (path(update.old), path(update.new))
      try demand(old == new, "an update of \(old) makes \(new) of it")
      try demand(update.old != update.new, "\(new) is updated, and is as it was")
    }
    if moves.isEmpty { return }
    let stayed = try before.map(path).filter { now[$0] != nil }
    let stays = try elements.map(path).filter { former[$0] != nil }
    try demand(stayed != stays, "moves are told, and nothing has another order")
  }

  private static func byPath(
    _ elements: [Element], _ path: (Element) throws -> NodePath
  ) throws -> [NodePath: Element] {
    var all: [NodePath: Element] = [:]
    for element in elements {
      let old = all.updateValue(element, forKey: try path(element))
      try demand(old == nil, "a record is there twice: \(element)")
    }
    return all
  }

  /// Demands that updates name the properties that differ, if they name any.
  func demandProperties(_ values: (Element) -> ValueMap) throws {
    for update in updates where !update.properties.isEmpty {
      let (old, new) = (values(update.old), values(update.new))
      let names = Set((old.members.map(\.name) + new.members.map(\.name)))
      let differing = names.filter { old[$0] != new[$0] }
      let told = update.properties.map(\.name)
      try demand(
        differing.isSubset(of: told), "\(differing.sorted()) differ, and \(told) are told")
      for property in update.properties {
        try demand(
          old[property.name] == property.old && new[property.name] == property.new,
          "\(property) is told, from \(old) to \(new)")
      }
    }
  }

  /// Demands that updates name the values behind references that differ in rows of values, if they
  /// name any, with the values before and after.
  func demandFar(_ values: (Element) -> ValueMap) throws {
    for update in updates where !update.properties.isEmpty {
      let (old, new) = (values(update.old), values(update.new))
      for name in old.members.map(\.name) where name.contains(".") && old[name] != new[name] {
        // Words of the language are quoted in the names of values.
        let path = name.filter { $0 != "`" }
        let told = update.properties.first { $0.name == path }
        try demand(told != nil, "\(name) differs, and \(update.properties) are told")
        try demand(
          told?.old ?? .null == old[name] && told?.new ?? .null == new[name],
          "\(told.map { "\($0)" } ?? "") is told, from \(old) to \(new)")
      }
    }
  }

  /// Demands that it tells the same as another one between the same results. Only moves may differ.
  func demandSame(as other: LiveDiff) throws {
    try demand(
      deletions.map(\.position) == other.deletions.map(\.position),
      "other deletions: \(other.words)")
    try demand(
      insertions.map(\.position) == other.insertions.map(\.position),
      "other insertions: \(other.words)")
    try demand(updates.count == other.updates.count, "other updates: \(other.words)")
    for (one, another) in zip(updates, other.updates) {
      try demand(
        one.before == another.before && one.after == another.after && one.old == another.old
          && one.new == another.new, "another update: \(other.words)")
    }
  }
}
