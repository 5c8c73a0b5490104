/// A path with wildcards: `*` is one key, whatever it is, and `**` any number of keys, none
/// included.
///
///     users/*/name        the name of each user
///     users/**            each user and everything below
///     **/name             whatever is called name, wherever it is
///
/// Keys are written as in a ``NodePath``; `~*` is a key that is a star. The last step may name a
/// property of a record, as the last key of a path may.
public struct PathPattern: Hashable, Sendable {
  private enum Step: Hashable {
    case key(Key)
    case one
    case any
  }

  private let steps: [Step]
  /// The keys before the first wildcard: everything that matches lies there or below.
  public let prefix: NodePath

  /// Reads the text form.
  ///
  /// - Parameter text: Keys and wildcards, joined by `/`; one leading `/` is allowed.
  /// - Throws: ``DatabaseError/badKey(_:reason:)`` with the first invalid key.
  public init(_ text: some StringProtocol) throws(DatabaseError) {
    let body = text.utf8.first == UInt8(ascii: "/") ? Substring(text).dropFirst() : Substring(text)
    var steps: [Step] = []
    for part in body.split(separator: "/", omittingEmptySubsequences: false) where !body.isEmpty {
      steps.append(try PathPattern.step(part))
    }
    self.steps = steps
    prefix = NodePath(
      keys: steps.prefix { $0 != .one && $0 != .any }.compactMap { step in
        if case .key(let key) = step { key } else { nil }
      })
  }

  private static func step(_ part: Substring) throws(DatabaseError) -> Step {
    if part == "*" { return .one }
    if part == "**" { return .any }
    let isStar = part.hasPrefix("~*")
    guard let key = try NodePath(isStar ? part.dropFirst() : part).last else {
      throw .badKey(String(part), reason: "a key cannot be empty")
    }
    return .key(key)
  }

  /// True if a path is one that the pattern describes.
  ///
  /// - Complexity: O(keys) without `**`, O(keys × steps) with it.
  public func matches(_ path: NodePath) -> Bool { matches(path.keys) }

  func matches(_ keys: [Key]) -> Bool {
    Wildcards.match(steps.count, keys.count) {
      steps[$0] == .any
    } fits: { step, index in
      if case .key(let wanted) = steps[step] { wanted == keys[index] } else { true }
    }
  }
}

extension PathPattern: CustomStringConvertible, ExpressibleByStringLiteral {
  /// The text form.
  public var description: String {
    steps.map { step in
      switch step {
      case .one: "*"
      case .any: "**"
      case .key(let key):
        (key.description.hasPrefix("*") ? "~" : "") + NodePath.escaped(key.description)
      }
    }.joined(separator: "/")
  }

  /// Makes a pattern from a literal; an invalid literal is a programmer's mistake and stops the
  /// program.
  public init(stringLiteral text: String) {
    do { try self.init(text) } catch { preconditionFailure("\(error)") }
  }
}
