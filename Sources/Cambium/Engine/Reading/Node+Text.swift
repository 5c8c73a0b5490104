// The texts of what is read through a snapshot. Printing reads nothing from the database, and what
// a debugger or a failed test unfolds does not lead into the engine.

import FoundationEssentials

extension Node: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The path, or `/` for the root; the node's value is not read.
  public var description: String { path.isRoot ? "/" : path.description }

  /// The path and the moment: `Node("users/ada", at: 12)`.
  public var debugDescription: String {
    "Node(\(path.debugDescription), at: \(snapshot.sequence))"
  }

  /// The path and the moment.
  public var customMirror: Mirror {
    Mirror(self, children: ["path": path, "sequence": snapshot.sequence], displayStyle: .struct)
  }
}

extension DynamicRecord: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The path and the stored values at a glance: `users/ada {born: 1815, name: "Ada"}`.
  public var description: String { "\(path) \(values)" }

  /// All of it: `DynamicRecord("users/ada", {"born": 1815, "name": "Ada"})`.
  public var debugDescription: String {
    let end = section.map { ", section: \($0.literal)" } ?? ""
    return "DynamicRecord(\(path.debugDescription), \(values.debugDescription)\(end))"
  }

  /// The path, the stored values, and the section if there is one.
  public var customMirror: Mirror {
    var children: [(label: String?, value: Any)] = [("path", path), ("values", values)]
    if let section { children.append(("section", section)) }
    return Mirror(self, children: children, displayStyle: .struct)
  }
}

extension Snapshot: CustomStringConvertible, CustomReflectable {
  /// The moment: `snapshot of transaction 12`.
  public var description: String { "snapshot of transaction \(sequence)" }

  /// The moment.
  public var customMirror: Mirror {
    Mirror(self, children: ["sequence": sequence], displayStyle: .class)
  }
}

extension Moment: CustomStringConvertible, CustomDebugStringConvertible {
  /// The moment in words: `now`, `transaction 12`, `2013-01-01T10:00:00Z`, `tag release`.
  public var description: String {
    switch self {
    case .now: "now"
    case .sequence(let sequence): "transaction \(sequence)"
    case .time(let time): time.literalText
    case .tag(let name): "tag \(name)"
    }
  }

  /// The moment as a program writes it: `Moment.tag("release")`.
  public var debugDescription: String {
    switch self {
    case .now: "Moment.now"
    case .sequence(let sequence): "Moment.sequence(\(sequence))"
    case .time(let time): "Moment.time(\(time.literalText))"
    case .tag(let name): "Moment.tag(\(name.debugDescription))"
    }
  }
}

extension Database: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The directory: `/var/lib/shop.cambium`.
  public var description: String { path }

  /// The directory in quotes: `Database("/var/lib/shop.cambium")`.
  public var debugDescription: String { "Database(\(path.debugDescription))" }

  /// The directory.
  public var customMirror: Mirror { Mirror(self, children: ["path": path], displayStyle: .class) }
}
