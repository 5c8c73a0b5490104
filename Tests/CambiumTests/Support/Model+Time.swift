@testable import Cambium

// The model's view of the past: every moment is looked at, one after the other.

/// A step of a history, as far as it is compared.
struct ModelStep: Equatable, CustomStringConvertible {
  var sequence: SequenceNumber
  var kind: HistoryStep.Kind
  var path: NodePath
  var old: Value?
  var new: Value?
  var origin: NodePath?

  var description: String {
    "\(sequence): \(path) \(kind), \(old ?? .null) → \(new ?? .null), from \(origin ?? path)"
  }
}

extension ModelStep {
  init(_ step: HistoryStep) {
    self.init(
      sequence: step.transaction.sequence, kind: step.kind, path: step.path, old: step.old,
      new: step.new, origin: step.origin)
  }
}

/// The node or property at a path at a moment, if there is one.
private struct Held: Equatable {
  var exists: Bool
  var value: Value?
  var modified: SequenceNumber?
}

extension Model {
  private func held(_ path: NodePath, at sequence: SequenceNumber) -> Held {
    var tree = Tree()
    tree.nodes = nodes(at: sequence)
    let node = tree.nodes[path]
    return Held(
      exists: node != nil || tree.property(path) != nil, value: tree.value(path),
      modified: node?.modified)
  }

  /// The history of what is at a path, the oldest first.
  func history(
    of path: NodePath, followingMoves: Bool, after: SequenceNumber, upTo: SequenceNumber
  ) -> [ModelStep] {
    var steps: [ModelStep] = []
    var (path, sequence) = (path, upTo)
    while sequence > after {
      let origin = followingMoves ? origin(of: path, in: sequence) : path
      let (old, new) = (held(origin, at: sequence.previous), held(path, at: sequence))
      let isSame = old.exists == new.exists && old.value == new.value
      if !isSame || new.modified == sequence || old.exists && origin != path {
        let kind: HistoryStep.Kind =
          !old.exists ? .came : !new.exists ? .went : isSame ? .rewritten : .changed
        steps.append(
          ModelStep(
            sequence: sequence, kind: kind, path: path, old: old.value, new: new.value,
            origin: origin == path || !old.exists ? nil : origin))
      }
      (path, sequence) = (origin, sequence.previous)
    }
    return steps.reversed()
  }

  /// Where the node at a path was before a transaction; one that was not there belongs below its
  /// parent.
  private func origin(of path: NodePath, in sequence: SequenceNumber) -> NodePath {
    guard let parent = path.parent, let key = path.last else { return path }
    if let node = nodes(at: sequence)[path] {
      let before = nodes(at: sequence.previous)
      if before[path]?.identity == node.identity { return path }
      if let found = before.first(where: { $0.value.identity == node.identity }) {
        return found.key
      }
    }
    return origin(of: parent, in: sequence).appending(key)
  }

  /// The history of a subtree, the oldest first.
  func subtreeHistory(
    of path: NodePath, after: SequenceNumber, upTo: SequenceNumber
  ) -> [ModelStep] {
    var steps: [ModelStep] = []
    var sequence = after
    while sequence < upTo {
      for change in diff(from: sequence, to: sequence.next, under: path) {
        let existed = held(change.path, at: sequence).exists
        let exists = held(change.path, at: sequence.next).exists
        steps.append(
          ModelStep(
            sequence: sequence.next, kind: !existed ? .came : !exists ? .went : .changed,
            path: change.path, old: change.old, new: change.new))
      }
      sequence = sequence.next
    }
    return steps
  }

  /// The differences between two moments, in path order.
  func diff(from: SequenceNumber, to: SequenceNumber, under: NodePath) -> [Change] {
    let (old, new) = (nodes(at: from), nodes(at: to))
    var paths = Set(old.keys).union(new.keys)
    if !under.isRoot { paths.insert(under) }
    return paths.filter { $0.isWithin(under) }.sorted().compactMap { path in
      let isTop = path == under
      let before = isTop ? held(path, at: from).value : old[path]?.value
      let after = isTop ? held(path, at: to).value : new[path]?.value
      return before == after ? nil : Change(path: path, old: before, new: after)
    }
  }

  /// The transaction that set each property, or the single value, of what is at a path.
  func blame(_ path: NodePath, at moment: SequenceNumber) -> [ModelBlame] {
    let now = held(path, at: moment)
    guard let value = now.value else { return [] }
    guard case .map(let record) = value, now.modified != nil else {
      let name = now.modified == nil ? path.last?.description : nil
      return [
        ModelBlame(property: name, value: value, set: lastSet(path, moment) { $0 == value })
      ]
    }
    return record.members.map { member in
      let set = lastSet(path, moment) { held in
        if case .map(let record)? = held { record[member.name] == member.value } else { false }
      }
      return ModelBlame(property: member.name, value: member.value, set: set)
    }
  }

  private func lastSet(
    _ path: NodePath, _ moment: SequenceNumber, isSame: (Value?) -> Bool
  ) -> SequenceNumber {
    var sequence = moment
    while sequence > horizon, isSame(held(path, at: sequence.previous).value) {
      sequence = sequence.previous
    }
    return sequence
  }
}

/// A line of blame, as far as it is compared.
struct ModelBlame: Equatable {
  var property: String?
  var value: Value
  var set: SequenceNumber
}

extension ModelBlame {
  init(_ line: Blame) {
    property = line.property
    value = line.value
    set =
      switch line.set {
      case .by(let transaction): transaction.sequence
      case .atOrBefore(let sequence): sequence
      }
  }
}
