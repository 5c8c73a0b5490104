import Cambium
import Synchronization

/// All channels, by the path of the node that they listen to, so that a commit finds those that it
/// concerns without looking at the others: one step down for each key of a place that it changed.
final class FirebaseChannels: Sendable {
  /// A place in the tree of the listened paths.
  private final class Branch {
    var children: [Key: Branch] = [:]
    var channels: [FirebaseQuery?: FirebaseChannel] = [:]

    var isEmpty: Bool { children.isEmpty && channels.isEmpty }
  }

  private struct State {
    var position: SequenceNumber
    var root = Branch()
    var count = 0
  }

  private let state: Mutex<State>

  init(position: SequenceNumber) { state = Mutex(State(position: position)) }

  /// The last commit that was handed out.
  var position: SequenceNumber { state.withLock { $0.position } }

  /// The number of channels.
  var count: Int { state.withLock { $0.count } }

  /// Lets a stream join that was told everything up to `position`.
  ///
  /// - Returns: Its channel; nil if more was handed out meanwhile: tell it that, and try again.
  func join(
    _ stream: EventStream, _ told: FirebaseTold, at position: SequenceNumber
  ) -> FirebaseChannel? {
    state.withLock { state in
      guard state.position == position else { return nil }
      var branch = state.root
      for key in told.path.keys {
        if let child = branch.children[key] {
          branch = child
        } else {
          let child = Branch()
          branch.children[key] = child
          branch = child
        }
      }
      let channel = branch.channels[told.query] ?? FirebaseChannel(told)
      if branch.channels.updateValue(channel, forKey: told.query) == nil { state.count += 1 }
      channel.add(stream)
      return channel
    }
  }

  /// Takes a stream out.
  func leave(_ stream: EventStream, _ channel: FirebaseChannel) {
    state.withLock { state in
      if channel.remove(stream.number) { FirebaseChannels.remove(channel, &state) }
    }
  }

  /// Takes a channel out that could not be told a commit, and ends its streams: their clients come
  /// back with the last event that they have seen, and get what is long in pieces.
  func drop(_ channel: FirebaseChannel) {
    state.withLock { FirebaseChannels.remove(channel, &$0) }
    for stream in channel.streams { stream.end() }
  }

  /// Moves on past commits that cannot be handed out, and drops all channels.
  func skip(to position: SequenceNumber) {
    let channels: [FirebaseChannel] = state.withLock { state in
      guard state.position < position else { return [] }
      state.position = position
      var found: [ObjectIdentifier: FirebaseChannel] = [:]
      FirebaseChannels.collect(.root, state.root, &found)
      (state.root, state.count) = (Branch(), 0)
      return Array(found.values)
    }
    for channel in channels { drop(channel) }
  }

  private static func remove(_ channel: FirebaseChannel, _ state: inout State) {
    let keys = channel.path.keys
    var branches = [state.root]
    for key in keys {
      guard let child = branches[branches.count - 1].children[key] else { return }
      branches.append(child)
    }
    let last = branches[branches.count - 1]
    guard last.channels[channel.query] === channel else { return }
    last.channels.removeValue(forKey: channel.query)
    state.count -= 1
    for index in keys.indices.reversed() where branches[index + 1].isEmpty {
      branches[index].children.removeValue(forKey: keys[index])
    }
  }

  /// Begins after a commit, unless one was handed out already.
  func begin(after position: SequenceNumber) {
    state.withLock { $0.position = max($0.position, position) }
  }

  /// Moves on to a commit if there is no channel. True if there is any.
  func advance(to position: SequenceNumber) -> Bool {
    state.withLock { state in
      if state.count > 0 { return true }
      state.position = max(state.position, position)
      return false
    }
  }

  /// Moves on to a commit, and gives the channels that it concerns, with the streams that have
  /// joined before; none for one that was skipped.
  func advance(
    to position: SequenceNumber, _ places: [FirebaseTouches.Place]
  ) -> [(channel: FirebaseChannel, streams: [EventStream])] {
    state.withLock { state in
      guard state.position < position else { return [] }
      state.position = position
      var found: [ObjectIdentifier: FirebaseChannel] = [:]
      for place in places { FirebaseChannels.collect(place.path, state.root, &found) }
      return found.values.map { ($0, $0.streams) }
    }
  }

  /// The channels at, above and below a path.
  private static func collect(
    _ path: NodePath, _ root: Branch, _ found: inout [ObjectIdentifier: FirebaseChannel]
  ) {
    var branch = root
    add(branch, &found)
    for key in path.keys {
      guard let child = branch.children[key] else { return }
      branch = child
      add(branch, &found)
    }
    var below = Array(branch.children.values)
    while let next = below.popLast() {
      add(next, &found)
      below += next.children.values
    }
  }

  private static func add(
    _ branch: Branch, _ found: inout [ObjectIdentifier: FirebaseChannel]
  ) {
    for channel in branch.channels.values { found[ObjectIdentifier(channel)] = channel }
  }
}
