// Running a query: along the keys, along a declared index, or over all children.

import Cambium
import FoundationEssentials

/// A child that answers a query.
struct FirebaseResult: Comparable {
  let value: FirebaseSortValue
  let name: FirebaseName

  static func < (a: FirebaseResult, b: FirebaseResult) -> Bool {
    a.value == b.value ? a.name < b.name : a.value < b.value
  }
}

extension FirebaseQuery {
  /// True if the answer takes a walk over all children, where an index would not.
  func isUnindexed(at node: Node, in view: FirebaseView) throws -> Bool {
    switch order {
    case .key, .priority: false
    case .value: true
    case .child: try IndexedRange(self, node, view) == nil
    }
  }

  /// Visits the answers, until `body` returns false: in the order of the query where it has a
  /// limit, and otherwise in the order in which they are found.
  ///
  /// - Throws: ``FirebaseError`` for a limit above ``limitMax`` where no index gives the order.
  func run(
    _ node: Node, _ view: FirebaseView, check: () throws -> Void = {},
    _ body: (FirebaseResult, FirebaseView.Child) throws -> Bool
  ) throws {
    if order == .priority, !contains(.null) { return }
    if order == .key || order == .priority { return try runAlongKeys(node, view, check, body) }
    if let range = try IndexedRange(self, node, view) {
      return try runAlongIndex(range, node, view, check, body)
    }
    guard let limit else { return try scan(node, view, check, body) }
    guard limit <= FirebaseQuery.limitMax else {
      throw FirebaseError.bad(
        "A limit above \(FirebaseQuery.limitMax) needs an index on what it is ordered by")
    }
    var best = BestResults(limit: limit, isFromEnd: isFromEnd)
    try scan(node, view, check) { result, _ in
      best.insert(result)
      return true
    }
    for result in best.sorted() {
      guard let child = try view.child(result.name, of: node) else { continue }
      if try !body(result, child) { return }
    }
  }

  /// Visits all children in the range, in the order of their keys.
  private func scan(
    _ node: Node, _ view: FirebaseView, _ check: () throws -> Void,
    _ body: (FirebaseResult, FirebaseView.Child) throws -> Bool
  ) throws {
    try view.forEachChild(of: node) { name, child in
      try check()
      let value = try sortValue(name, child, view)
      guard contains(value), try view.hasContent(child) else { return true }
      return try body(FirebaseResult(value: value, name: name), child)
    }
  }

  private func runAlongKeys(
    _ node: Node, _ view: FirebaseView, _ check: () throws -> Void,
    _ body: (FirebaseResult, FirebaseView.Child) throws -> Bool
  ) throws {
    var kept: [(FirebaseResult, FirebaseView.Child)] = []
    var count = 0
    let start = isFromEnd ? upper : lower
    var first: Key?
    if order == .key, case .key(let name)? = start?.value { first = name.key }
    try view.forEachChild(of: node, from: first, isReversed: isFromEnd) { name, child in
      try check()
      if order == .key {
        let value = FirebaseSortValue.key(name)
        if let end = isFromEnd ? lower : upper,
          isFromEnd ? value < end.value : end.value < value
        {
          return false
        }
        guard contains(value) else { return true }
      }
      guard try view.hasContent(child) else { return true }
      let value = try sortValue(name, child, view)
      let result = FirebaseResult(value: value, name: name)
      count += 1
      if isFromEnd {
        if kept.count >= FirebaseQuery.limitMax {
          throw FirebaseError.bad("limitToLast must be at most \(FirebaseQuery.limitMax)")
        }
        kept.append((result, child))
      } else if try !body(result, child) {
        return false
      }
      return limit.map { count < $0 } ?? true
    }
    for (result, child) in kept.reversed() where try !body(result, child) { return }
  }
}

extension FirebaseView {
  /// A child by its name; nil if there is none.
  func child(_ name: FirebaseName, of node: Node) throws -> Child? {
    guard let key = name.key else {
      return try ownTree(node)?[name].map { .part($0) }
    }
    switch try place(at: [key], below: node) {
    case .node(let child): return .node(child)
    case .part(let tree): return .part(tree)
    case .nothing: return nil
    }
  }
}
