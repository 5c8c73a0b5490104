@testable import Cambium

/// All that can be read of one node, for comparing the database with the model.
struct Row: Equatable, CustomStringConvertible {
  var path: NodePath
  var value: Value?
  var modified: SequenceNumber?
  var childCount: Int

  var description: String {
    let text = value.map { "\($0)" } ?? "nothing"
    return "\(path): \(text), modified by \(modified ?? 0), \(childCount) children"
  }
}

extension [NodePath: Tree.Node] {
  /// All nodes in path order.
  var rows: [Row] {
    var counts: [NodePath: Int] = [:]
    for path in keys { counts[path.parent ?? .root, default: 0] += 1 }
    return keys.sorted().map { path in
      Row(
        path: path, value: self[path]?.value, modified: self[path]?.modified,
        childCount: counts[path] ?? 0)
    }
  }

  /// The keys of a node's children, in order.
  func childKeys(of parent: NodePath) -> [Cambium.Key] {
    let depth = parent.depth + 1
    var found: [Cambium.Key] = []
    for path in keys where path.isWithin(parent) && path.depth == depth {
      if let key = path.last { found.append(key) }
    }
    return found.sorted()
  }
}

extension Node {
  /// The row of this node, as of one reached by walking.
  func row() throws -> Row {
    Row(path: path, value: try value, modified: try modified, childCount: try childCount)
  }

  /// The rows of all nodes below it.
  func rows() throws -> [Row] {
    var rows: [Row] = []
    var nodes = try descendants(includingSelf: false)
    while let node = try nodes.next() { rows.append(try node.row()) }
    return rows
  }
}

/// Where the database differs from the model. It ends the history, since all that follows differs,
/// too.
struct Divergence: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}

/// Compares two lists and names the first place where they differ.
func requireSame<Element: Equatable>(
  _ found: [Element], _ expected: [Element], _ what: @autoclosure () -> String
) throws {
  if found == expected { return }
  let index =
    zip(found, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    ?? min(found.count, expected.count)
  let one = index < found.count ? "\(found[index])" : "nothing"
  let other = index < expected.count ? "\(expected[index])" : "nothing"
  throw Divergence("\(what()): at \(index) there is \(one), and should be \(other)")
}

/// Compares all that can be read under a node by walking.
func requireSame(
  _ root: Node, _ nodes: [NodePath: Tree.Node], _ what: @autoclosure () -> String
) throws {
  try requireSame(try root.rows(), nodes.rows, what())
}
