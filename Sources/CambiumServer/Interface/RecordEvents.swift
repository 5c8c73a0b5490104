// Changes of records as server-sent events: those of a collection, or of one record.
//
//     event: start                   the stream is open; the id is where it begins
//     id: 12
//
//     event: part                    some of a large transaction's changes; more follow
//     data: [{"path":"pets/1","old":{…},"new":{…}}, …]
//
//     event: changes                 the rest of them, all where there are few
//     id: 13
//     data: […]
//
//     event: at                      nothing of interest up to here: resume from this
//     id: 1400
//
//     event: failed                  there is no more, and coming back does not help
//     data: {"code": …}
//
// A client that comes back names the last id that it has seen. `old` is missing for a record that
// was created, `new` for one that was deleted; both are stored values, in JSON that keeps types.

import Cambium
import Synchronization

/// One stream of a store in another process.
///
/// Invariants:
/// 1. Everything up to `position` was sent, once. While the past is read, commits of the hub are
///    only noted, in `seen`; the stream follows the hub from where the two are the same.
final class RecordEvents: Sendable {
  private struct State {
    var position: SequenceNumber
    var seen: SequenceNumber
    var isLive = false
    /// True while a task reads the past.
    var isReading = false
    /// The last id that the client was told.
    var told: SequenceNumber
  }

  private static let partBytes = 64 << 10
  /// So many parts of one transaction are sent at once.
  private static let livePartsMax = 4
  /// So many bytes may wait for the client while the past is read.
  private static let waitingBytesMax = 256 << 10
  /// After so many transactions without interest the client is told how far it is.
  private static let silenceMax: UInt64 = 1000

  private let database: Database
  private let stream: EventStream
  private let path: NodePath
  private let isOne: Bool
  private let state: Mutex<State>
  /// Apart from the state: an event that finds the client gone ends the stream at once.
  private let following = Mutex<CommitHub.Following?>(nil)

  private init(
    _ database: Database, _ stream: EventStream, _ path: NodePath, isOne: Bool,
    after: SequenceNumber
  ) {
    self.database = database
    self.stream = stream
    self.path = path
    self.isOne = isOne
    state = Mutex(State(position: after, seen: after, told: after))
  }

  /// Opens a stream.
  static func answer(
    _ request: Request, _ database: Database, _ hub: CommitHub, _ streams: EventStreams
  ) throws -> Response {
    let one = request[parameter: "path"]
    guard let text = one ?? request[parameter: "collection"] else {
      throw RecordRequest.Malformed(description: "collection or path is missing")
    }
    let path = try NodePath(text)
    try RecordsService.check(request.caller, path)
    let after = try start(request, database)
    guard let stream = streams.open(for: request) else {
      throw Refusal(status: 429, "too_many_streams", "too many streams are open; close one first")
    }
    let events = RecordEvents(database, stream, path, isOne: one != nil, after: after)
    events.begin(hub)
    return stream.response
  }

  /// The last transaction that the client has seen; the newest for one that is new.
  private static func start(_ request: Request, _ database: Database) throws -> SequenceNumber {
    let head = try database.head
    guard let text = request[header: "last-event-id"] ?? request[parameter: "after"] else {
      return head
    }
    guard let number = UInt64(text) else {
      throw RecordRequest.Malformed(description: "Last-Event-ID is no transaction's number")
    }
    let after = SequenceNumber(number)
    if after > head {
      throw DatabaseError.noSuchMoment(
        reason: "transaction \(after) is not there; the newest is \(head)")
    }
    if try after < database.horizon {
      throw DatabaseError.compacted(oldest: try database.horizon.next)
    }
    return after
  }

  private func begin(_ hub: CommitHub) {
    let start = state.withLock { $0.position }
    stream.offer(ServerEvent(id: "\(start)", name: "start", data: Array("{}".utf8)))
    let place = hub.follow { [weak self] in self?.take($0) }
    following.withLock { $0 = place }
    state.withLock { $0.seen = max($0.seen, place.after) }
    // The closure keeps the object while the client is there.
    stream.onEnd { self.following.withLock { $0.take() }?.cancel() }
    catchUpOnce()
  }

  // MARK: The past

  /// Reads the past in a task of its own, unless one does.
  private func catchUpOnce() {
    let isFirst = state.withLock { state in
      defer { state.isReading = true }
      return !state.isReading
    }
    if isFirst { Task.detached { await self.catchUp() } }
  }

  private func catchUp() async {
    do {
      while !stream.isOver {
        let range: (SequenceNumber, SequenceNumber)? = state.withLock { state in
          state.isLive = state.position >= state.seen
          state.isReading = !state.isLive
          return state.isLive ? nil : (state.position, state.seen)
        }
        guard let (after, upTo) = range else { return }
        try await send(after, upTo)
      }
    } catch { fail(error) }
  }

  private func send(_ after: SequenceNumber, _ upTo: SequenceNumber) async throws {
    var next = after.next
    while next <= upTo, !stream.isOver {
      let events = try events(of: try database.commit(next), told: state.withLock { $0.told })
      for event in events {
        while stream.waitingBytes > RecordEvents.waitingBytesMax, !stream.isOver {
          try await Task.sleep(for: .milliseconds(5))
        }
        stream.offer(event)
      }
      let position = next
      state.withLock { state in
        state.position = position
        if !events.isEmpty { state.told = position }
      }
      next = next.next
    }
  }

  // MARK: The present

  private func take(_ commit: Commit) {
    do {
      try state.withLock { state in
        state.seen = max(state.seen, commit.sequence)
        guard state.isLive, commit.sequence > state.position else { return }
        let events = try events(of: commit, told: state.told)
        // A large transaction is sent as the past is, which waits for the client.
        state.isLive = events.count <= RecordEvents.livePartsMax
        guard state.isLive else { return }
        state.position = commit.sequence
        if !events.isEmpty { state.told = commit.sequence }
        for event in events { stream.offer(event) }
      }
      if !state.withLock({ $0.isLive }) { catchUpOnce() }
    } catch { fail(error) }
  }

  private func fail(_ error: any Error) {
    let value = ErrorValue.value(of: error) ?? ["message": .string("\(error)")]
    stream.offer(ServerEvent(name: "failed", data: Array(JSONWriter.text(.map(value)).utf8)))
    stream.end()
  }

  // MARK: Events

  /// The events of a transaction; none where nothing of interest is in it, and the client was told
  /// not long ago how far it is.
  private func events(of commit: Commit, told: SequenceNumber) throws -> [ServerEvent] {
    var (events, bytes, hasAny): ([ServerEvent], [UInt8], Bool) = ([], [], false)
    try commit.changes(within: path).forEach { change in
      guard isOne ? change.path == path : change.path.parent == path else { return }
      hasAny = true
      bytes.append(bytes.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
      JSONWriter.append(RecordEvents.value(change), to: &bytes)
      if bytes.count < RecordEvents.partBytes { return }
      events.append(ServerEvent(name: "part", data: bytes + [UInt8(ascii: "]")]))
      bytes = []
    }
    if hasAny {
      if bytes.isEmpty { bytes.append(UInt8(ascii: "[")) }
      bytes.append(UInt8(ascii: "]"))
      events.append(ServerEvent(id: "\(commit.sequence)", name: "changes", data: bytes))
    } else if commit.sequence.rawValue - told.rawValue >= RecordEvents.silenceMax {
      events.append(ServerEvent(id: "\(commit.sequence)", name: "at", data: Array("{}".utf8)))
    }
    return events
  }

  private static func value(_ change: Change) -> ValueMap {
    var members: ValueMap = ["path": .string(change.path.description)]
    if case .map? = change.old { members["old"] = change.old }
    if case .map? = change.new { members["new"] = change.new }
    return members
  }
}
