// Compares the past in the database with the past in the model.

import Simulation

@testable import Cambium

extension RandomHistory {
  /// Counts of what was compared, so that a test can check that there was something.
  struct Told {
    var steps = 0
    var moves = 0
    var blamed = 0
    var differences = 0
  }

  /// Compares history, blame and diff, of random paths and between random moments.
  func compareTime(_ count: Int, _ told: inout Told) throws {
    for _ in 0..<count {
      let path = calls.path()
      let (one, other) = (moment(), moment())
      try compareHistory(of: path, after: min(one, other), upTo: max(one, other), &told)
      let present = pathThere(at: model.head) ?? calls.path()
      try compareHistory(of: present, after: model.horizon, upTo: model.head, &told)
      try compareBlame(path, at: one, &told)
      try compareBlame(pathThere(at: one) ?? path, at: one, &told)
      try compareDiff(from: one, to: other, under: path, &told)
      try compareDiff(from: other, to: one, under: .root, &told)
    }
  }

  /// A node that was there, or one of its properties.
  private func pathThere(at moment: SequenceNumber) -> NodePath? {
    let nodes = model.nodes(at: moment)
    guard !nodes.isEmpty else { return nil }
    let path = calls.random.pick(nodes.keys.sorted())
    guard let members = nodes[path]?.record?.members, !members.isEmpty, calls.random.oneIn(3),
      let key = try? Key(calls.random.pick(Array(members)).name)
    else { return path }
    return path.appending(key)
  }

  private func compareHistory(
    of path: NodePath, after: SequenceNumber, upTo: SequenceNumber, _ told: inout Told
  ) throws {
    let what = "of \(path) from \(after) to \(upTo)"
    let steps = model.history(of: path, followingMoves: false, after: after, upTo: upTo)
    try compare(database.history(of: path, after: after, upTo: upTo), steps, "history \(what)")
    let moved = model.history(of: path, followingMoves: true, after: after, upTo: upTo)
    try compare(
      database.history(of: path, .nodeThroughMoves, after: after, upTo: upTo), moved,
      "moves \(what)")
    told.steps += steps.count
    told.moves += moved.count { $0.origin != nil }
    let subtree = model.subtreeHistory(of: path, after: after, upTo: upTo)
    let history = try database.history(of: path, .subtree, after: after, upTo: upTo)
    try requireSame(history.fetch().map { ModelStep($0) }, subtree, "subtree \(what)")
    // The newest transaction comes first, and the changes of each in path order.
    let newestFirst = try history.reversed().fetch().map { ModelStep($0) }
    try requireSame(
      newestFirst.map(\.sequence), subtree.map(\.sequence).reversed(), "reversed \(what)")
  }

  private func compare(_ history: History, _ expected: [ModelStep], _ what: String) throws {
    try requireSame(history.fetch().map { ModelStep($0) }, expected, what)
    try requireSame(
      history.reversed().fetch().map { ModelStep($0) }, expected.reversed(), "reversed \(what)")
  }

  private func compareBlame(
    _ path: NodePath, at moment: SequenceNumber, _ told: inout Told
  ) throws {
    let expected = model.blame(path, at: moment)
    try requireSame(
      database.blame(path, at: .sequence(moment)).map { ModelBlame($0) }, expected,
      "blame of \(path) at \(moment)")
    told.blamed += expected.count
  }

  private func compareDiff(
    from: SequenceNumber, to: SequenceNumber, under: NodePath, _ told: inout Told
  ) throws {
    let diff = try database.diff(from: .sequence(from), to: .sequence(to), under: under)
    let expected = model.diff(from: from, to: to, under: under)
    try requireSame(diff.fetch(), expected, "diff from \(from) to \(to) under \(under)")
    told.differences += expected.count
  }
}
