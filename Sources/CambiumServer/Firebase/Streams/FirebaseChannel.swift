import Cambium
import Synchronization

/// The streams of one node and one query: what they are told is found and written once.
///
/// Invariants:
/// 1. A stream is sent every commit after the position at which it joined, in order.
///    ``FirebaseChannels`` adds it at its own position, and hands commits out one after another.
/// 2. The window is that of the last commit that was handed out. A channel that could not be told
///    one is dropped, with its window.
final class FirebaseChannel: Sendable {
  private struct State {
    var streams: [UInt64: EventStream] = [:]
    var window: FirebaseWindow?
  }

  let path: NodePath
  let query: FirebaseQuery?
  private let state: Mutex<State>

  init(_ told: FirebaseTold) {
    path = told.path
    query = told.query
    state = Mutex(State(window: told.window))
  }

  func add(_ stream: EventStream) { state.withLock { $0.streams[stream.number] = stream } }

  /// Removes a stream; true if it was the last one.
  func remove(_ number: UInt64) -> Bool {
    state.withLock { state in
      state.streams.removeValue(forKey: number)
      return state.streams.isEmpty
    }
  }

  var streams: [EventStream] { state.withLock { Array($0.streams.values) } }

  /// Sends the streams that had joined when a commit came what it has changed for them.
  ///
  /// - Throws: ``DatabaseError``, and an error where the event is too long to be kept for those who
  ///   take it slowly. The channel must be dropped then.
  func tell(_ touches: FirebaseTouches, to streams: [EventStream]) throws {
    var told = FirebaseTold(path: path, query: query, window: state.withLock { $0.window })
    var bytes: [UInt8] = []
    try told.step(touches) { piece in
      if bytes.count + piece.count > EventStream.bytesMax { throw TooLong() }
      bytes += piece
    }
    let moved = told.window
    state.withLock { $0.window = moved }
    if bytes.isEmpty { return }
    for stream in streams { stream.offer(bytes) }
  }

  private struct TooLong: Error {}
}

/// The state of what a stream has been told: it goes from commit to commit.
struct FirebaseTold {
  let path: NodePath
  let query: FirebaseQuery?
  /// Nil without a query.
  private(set) var window: FirebaseWindow?

  init(path: NodePath, query: FirebaseQuery?, window: FirebaseWindow?) {
    self.path = path
    self.query = query
    self.window = window
  }

  /// The state once a moment was told as a whole.
  init(path: NodePath, query: FirebaseQuery?, _ view: FirebaseView) throws {
    self.init(
      path: path, query: query, window: try query.map { try FirebaseWindow($0, path, view) })
  }

  /// Writes the event of a commit, if it changes anything here.
  mutating func step(_ touches: FirebaseTouches, _ sink: ([UInt8]) throws -> Void) throws {
    let places = try touches.places(below: path)
    if places.isEmpty { return }
    let (old, new) = try touches.views()
    let whole = touches.whole(below: path)
    let changes: [FirebaseChange]
    if window != nil {
      changes = try window?.step(whole.isEmpty ? places : [[]], from: old, to: new) ?? []
    } else {
      let finder = FirebaseChangeFinder(listened: path, old: old, new: new)
      changes = try finder.changes(at: places, whole: whole)
    }
    try withoutActuallyEscaping(sink) { sink in
      try FirebaseEventWriter(listened: path, query: query, view: new, sink: sink)
        .changes(changes, touches.sequence)
    }
  }
}
