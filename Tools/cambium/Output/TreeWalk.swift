import Cambium

/// Visits a node and those below it in path order, down to some depth, and of each node only the
/// first children. Memory is in proportion to the depth: each level is a walk, one child ahead.
struct TreeWalk {
  /// The characters of the lines that lead to a node.
  struct Marks {
    let branch: String
    let last: String
    let line: String
    let blank: String
    let more: String

    static let unicode = Marks(
      branch: "├── ", last: "└── ", line: "│   ", blank: "    ", more: "…")
    static let ascii = Marks(
      branch: "|-- ", last: "`-- ", line: "|   ", blank: "    ", more: "...")
    static let none = Marks(branch: "", last: "", line: "", blank: "", more: "")

    /// The marks that the locale can show; Unicode where none is set, since nothing says that it
    /// cannot.
    static func fitting(_ environment: [String: String]) -> Marks {
      let names = ["LC_ALL", "LC_CTYPE", "LANG"]
      let locale = names.compactMap { environment[$0] }.first { !$0.isEmpty }?.lowercased()
      guard let locale else { return .unicode }
      return locale.contains("utf-8") || locale.contains("utf8") ? .unicode : .ascii
    }
  }

  let marks: Marks
  /// The number of levels below the first node that are visited.
  let depthMax: Int
  /// The largest number of children that are visited of each node.
  let childrenMax: Int

  /// One level on the way down: a class, since an array cannot hold what cannot be copied.
  private final class Level {
    let parent: Node
    let prefix: String
    private var cursor: ChildCursor
    private(set) var next: Node?
    private(set) var visited = 0

    init(_ parent: Node, prefix: String, after key: Key? = nil) throws {
      self.parent = parent
      self.prefix = prefix
      let children = key.map { parent.children.from($0) } ?? parent.children
      var cursor = try children.makeCursor()
      next = try cursor.next()
      if key != nil && next?.key == key { next = try cursor.next() }
      self.cursor = cursor
    }

    /// Takes the next child.
    func take() throws -> Node? {
      let taken = next
      visited += 1
      next = try cursor.next()
      return taken
    }
  }

  /// Visits the node and those below it.
  ///
  /// With `place`, the keys that lead to a node below it, which need not exist, it begins with what
  /// comes after that in path order. `visit` takes what leads to a node, and the node. `cut` is
  /// called where a node has more children than are visited; it takes what leads there, the node,
  /// and how many were.
  func forEach(
    from node: Node, after place: [Key]? = nil, visit: (String, Node) throws -> Void,
    cut: (String, Node, Int) throws -> Void
  ) throws {
    if place == nil { try visit("", node) }
    var levels = try levels(from: node, after: place ?? [])
    while let level = levels.last {
      if level.next != nil && level.visited == childrenMax {
        try cut(level.prefix + marks.last, level.parent, level.visited)
        levels.removeLast()
        continue
      }
      guard let child = try level.take() else {
        levels.removeLast()
        continue
      }
      let isLast = level.next == nil
      try visit(level.prefix + (isLast ? marks.last : marks.branch), child)
      if levels.count < depthMax {
        levels.append(
          try Level(child, prefix: level.prefix + (isLast ? marks.blank : marks.line)))
      }
    }
  }

  /// The levels on the way to a place, each behind the child that leads there.
  private func levels(from node: Node, after place: [Key]) throws -> [Level] {
    var levels: [Level] = []
    var parent = node
    let blank = String(repeating: " ", count: marks.blank.count)
    for depth in 0...min(place.count, max(depthMax - 1, 0)) where depthMax > 0 {
      let key = depth < place.count ? place[depth] : nil
      levels.append(
        try Level(parent, prefix: String(repeating: blank, count: depth), after: key))
      if let key { parent = parent.child(key) }
    }
    return levels
  }
}

/// The number of children of a node. In the past they must be walked, so counting stops at a limit:
/// of children, and of places that had none yet.
struct ChildTally {
  private static let walkedMax = 1_000
  private static let placesMax = 2_000

  let number: Int
  /// True if there may be more.
  let isAtLeast: Bool

  /// Counts; `isPast` says that the node is of a past moment.
  init(_ node: Node, isPast: Bool) throws {
    guard isPast else {
      (number, isAtLeast) = (try node.childCount, false)
      return
    }
    let (count, isWhole) = try node.children.count(
      upTo: ChildTally.walkedMax, lookingAt: ChildTally.placesMax)
    (number, isAtLeast) = (count, !isWhole)
  }

  /// True if it is known that there are none.
  var isNone: Bool { number == 0 && !isAtLeast }

  /// `16 children`
  var text: String { "\(left(after: 0)) \(number == 1 ? "child" : "children")" }

  /// The number of children that are left after some, as text.
  func left(after count: Int) -> String {
    Quantity.count(max(0, number - count)) + (isAtLeast ? "+" : "")
  }
}
