import Cambium
import FoundationEssentials

/// The transactions to print.
///
/// Conditions on the same field are alternatives, those on different fields must all hold, and `+`
/// starts another group, of which one must hold: journalctl's rules. The conditions and the pattern
/// on changes must hold for one and the same change.
struct CommitFilter {
  /// The conditions between two `+`, by field.
  private struct Group {
    var globs: [Match.Field: [Glob]] = [:]

    var asksForChanges: Bool { globs.keys.contains(where: \.isOfChange) }

    func holds(_ field: Match.Field, _ texts: [String]) -> Bool {
      guard let globs = globs[field] else { return true }
      return globs.contains { glob in texts.contains(where: glob.matches) }
    }
  }

  private let groups: [Group]
  private let pattern: TextPattern?
  private let tags: [CommitTag]
  /// True for a caller who may not see everything, and so no events.
  private let isScoped: Bool

  /// True if it lets everything pass.
  var isEmpty: Bool { pattern == nil && groups.allSatisfy(\.globs.isEmpty) }

  /// The filter of a command line: its conditions, and `--grep`.
  init(_ call: Call, _ database: Database) throws {
    var groups = [Group()]
    for argument in call.all(.matches) {
      if let match = argument.match {
        groups[groups.count - 1].globs[match.field, default: []].append(match.value)
      } else if groups.last?.globs.isEmpty == false {
        groups.append(Group())
      }
    }
    if groups.count > 1, groups.last?.globs.isEmpty == true { groups.removeLast() }
    self.groups = groups
    pattern = try CommitFilter.pattern(call)
    let asksForTags = groups.contains { $0.globs[.tag] != nil }
    if asksForTags && call.isScoped { throw Failure.outOfScope("tags") }
    if call.isScoped && groups.contains(where: { $0.globs[.event] != nil }) {
      throw Failure.outOfScope("events")
    }
    isScoped = call.isScoped
    tags = asksForTags ? try database.tags : []
  }

  /// As journalctl does, a pattern without capitals matches them too.
  private static func pattern(_ call: Call) throws -> TextPattern? {
    guard let text = call[.grep]?.text else { return nil }
    let isSensitive = call.has(.caseSensitive) || text.contains(where: \.isUppercase)
    return try TextPattern(text, ignoresCase: !isSensitive)
  }

  /// True if a transaction passes the filter.
  func accepts(_ commit: Commit) throws -> Bool {
    let candidates = groups.filter { accepts(commit, $0) }
    if candidates.isEmpty { return false }
    if candidates.contains(where: { !$0.asksForChanges }) {
      if pattern == nil { return true }
      let events = isScoped ? [] : commit.events
      for event in events where try found(in: event.name) || found(in: event.payload) {
        return true
      }
    }
    var changes = commit.changes.makeCursor()
    while let change = try changes.next() {
      if candidates.contains(where: { accepts(change, $0) }), try found(in: change) { return true }
    }
    return false
  }

  private func accepts(_ commit: Commit, _ group: Group) -> Bool {
    group.globs.keys.allSatisfy { field in
      switch field {
      case .actor: group.holds(field, [CommitText.actor(commit.metadata)].compactMap(\.self))
      case .reason: group.holds(field, [CommitText.reason(commit.metadata)].compactMap(\.self))
      case .origin: group.holds(field, [commit.origin.uuidString.lowercased()])
      case .sequence: group.holds(field, [commit.sequence.description])
      case .tag: group.holds(field, tags.filter { $0.sequence == commit.sequence }.map(\.name))
      case .event: group.holds(field, commit.events.map(\.name))
      case .metadata(let name): group.holds(field, [commit.metadata[name]].compactMap(\.self))
      case .kind, .path: true
      }
    }
  }

  private func accepts(_ change: Change, _ group: Group) -> Bool {
    let kind = change.old == nil ? "insert" : change.new == nil ? "delete" : "update"
    return group.holds(.kind, [kind]) && group.holds(.path, [change.path.description])
  }

  // MARK: The pattern

  private func found(in change: Change) throws -> Bool {
    if pattern == nil { return true }
    if try found(in: change.path.description) { return true }
    for value in [change.old, change.new] {
      guard let value else { continue }
      if try found(in: value) { return true }
      guard case .map(let record) = value else { continue }
      for member in record.members
      where try found(in: "\(change.path)/\(NodePath.escaped(member.name))") { return true }
    }
    return false
  }

  /// Looks into a value. It calls itself for what is inside, so not deeper than values nest.
  private func found(in value: Value) throws -> Bool {
    switch value {
    case .string(let text): try found(in: text)
    case .array(let elements): try elements.contains { try found(in: $0) }
    case .map(let record): try record.members.contains { try found(in: $0.value) }
    default: try found(in: ValueText.whole(value))
    }
  }

  private func found(in text: String) throws -> Bool {
    guard let pattern else { return true }
    do { return try pattern.matches(text) } catch let error as QueryError {
      throw Failure(.usage, "pattern_too_slow", error.reason)
    }
  }
}
