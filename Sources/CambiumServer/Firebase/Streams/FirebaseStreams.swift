import Cambium
import Synchronization

/// The streams of events of Firebase clients.
///
/// A stream begins with `put "/"`, the whole value; or where the client names the last event that
/// it has seen, with the events that it has missed. Then it is told each commit, in order, once.
///
///     open ──▶ told up to position p ──▶ join at p ──▶ channel ◀── commits, from the hub
///                    ▲       │ more was handed out meanwhile
///                    └───────┘ told that
final class FirebaseStreams: Sendable {
  /// The most transactions that are read for a client that comes back. One that was away for longer
  /// gets the whole value.
  static let missedMax: UInt64 = 100_000
  /// The bytes of a stream's beginning that are kept until the client takes them; a longer one is
  /// written while it is sent.
  static let beginningBytesMax = EventStream.bytesMax / 2

  static let phrases = EventStream.Phrases(
    keepAlive: Array("event: keep-alive\ndata: null\n\n".utf8),
    // As it is: the Python client compares the text, and loses its thread over one in quotes.
    withdrawn: Array("event: auth_revoked\ndata: credential is no longer valid\n\n".utf8),
    stopped: [])

  private let database: Database
  private let events: EventStreams
  private let channels: FirebaseChannels
  private let writers = Workers.forBodies()
  private let following: CommitHub.Following

  init(_ database: Database, _ hub: CommitHub, _ events: EventStreams) {
    self.database = database
    self.events = events
    let channels = FirebaseChannels(position: hub.position)
    self.channels = channels
    following = hub.follow { [weak database] commit in
      guard let database else { return }
      FirebaseStreams.hand(out: commit, to: channels, database)
    }
    channels.begin(after: following.after)
  }

  deinit { following.cancel() }

  /// The number of different nodes and queries that are listened to.
  var channelCount: Int { channels.count }

  private static func hand(
    out commit: Commit, to channels: FirebaseChannels, _ database: Database
  ) {
    guard channels.advance(to: commit.sequence) else { return }
    do {
      let touches = try FirebaseTouches(commit, database)
      for (channel, streams) in channels.advance(to: commit.sequence, touches.places) {
        channel.tell(touches, to: streams)
      }
    } catch {
      // The commit cannot be read: all come back, and are told by what can be.
      for (_, streams) in channels.advance(to: commit.sequence, [.init(path: .root)]) {
        for stream in streams { stream.end() }
      }
    }
  }

  // MARK: Opening

  /// Waits, for at most a quarter of a second, until all commits of now are handed out, so that a
  /// client that has written sees it in the first event.
  func catchUp() async throws {
    let head = try database.head
    for _ in 0..<125 where channels.position < head {
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  /// Answers with a stream of what lies at a path.
  ///
  /// - Throws: ``FirebaseError``, ``DatabaseError``.
  func open(
    _ path: NodePath, _ query: FirebaseQuery?, _ request: Request
  ) throws -> Response {
    var headers: [(name: String, value: String)] = []
    if let query {
      let view = FirebaseView(try database.snapshot())
      if case .node(let node) = try view.place(at: path),
        try query.isUnindexed(at: node, in: view)
      {
        headers.append(("X-Cambium-Unindexed", query.header(path)))
      }
    }
    guard let stream = events.open(for: request, FirebaseStreams.phrases) else {
      throw FirebaseError(503, "Too many streams are open, or the server stops")
    }
    let seen = request[header: "last-event-id"].flatMap { UInt64($0) }.map { SequenceNumber($0) }
    let start = Beginning(path: path, query: query, seen: seen, stream: stream)
    do {
      try begin(start)
    } catch {
      stream.end()
      stream.abandon()
      throw error
    }
    var response = stream.response
    response.headers += headers
    return response
  }

  private struct Beginning: Sendable {
    let path: NodePath
    let query: FirebaseQuery?
    let seen: SequenceNumber?
    let stream: EventStream
  }

  /// A beginning is too long to be kept.
  private struct TooLong: Error {}

  private func begin(_ start: Beginning) throws {
    do {
      var count = 0
      try tell(start) { piece in
        count += piece.count
        if count > FirebaseStreams.beginningBytesMax { throw TooLong() }
        return true
      }
    } catch is TooLong {
      let isStarted = writers.write { [self] in
        do {
          try start.stream.inPieces {
            try tell(start) { piece in
              try start.stream.write(piece)
              return false
            }
          }
        } catch {
          start.stream.end()
        }
      }
      if !isStarted { throw FirebaseError.tooManyBodies }
    }
  }

  /// Tells a stream what was until now, and lets it join. `send` takes a piece, and gives true if
  /// it is to be kept until the beginning is complete.
  private func tell(_ start: Beginning, _ send: ([UInt8]) throws -> Bool) throws {
    var kept: [UInt8] = []
    let sink: ([UInt8]) throws -> Void = { piece in if try send(piece) { kept += piece } }
    var position = channels.position
    var told: FirebaseTold
    if let seen = try resumable(start.seen, position) {
      let view = FirebaseView(try database.snapshot(at: .sequence(seen)))
      told = try FirebaseTold(path: start.path, query: start.query, view)
      try step(&told, after: seen, to: position, sink)
    } else {
      let view = FirebaseView(try database.snapshot(at: .sequence(position)))
      told = try FirebaseTold(path: start.path, query: start.query, view)
      try withoutActuallyEscaping(sink) { sink in
        try FirebaseEventWriter(
          listened: start.path, query: start.query, view: view, sink: sink
        ).whole(position)
      }
    }
    while true {
      if !kept.isEmpty {
        start.stream.offer(kept)
        kept = []
      }
      if let channel = channels.join(start.stream, told, at: position) {
        let (channels, stream) = (channels, start.stream)
        stream.onEnd { channels.leave(stream, channel) }
        return
      }
      let next = channels.position
      try step(&told, after: position, to: next, sink)
      position = next
    }
  }

  /// The moment from which a client can be told what it has missed.
  private func resumable(
    _ seen: SequenceNumber?, _ position: SequenceNumber
  ) throws -> SequenceNumber? {
    guard let seen, seen <= position, try seen >= database.horizon,
      position.rawValue - seen.rawValue <= FirebaseStreams.missedMax
    else { return nil }
    return seen
  }

  /// Tells the commits after one moment, up to another.
  private func step(
    _ told: inout FirebaseTold, after: SequenceNumber, to: SequenceNumber,
    _ sink: ([UInt8]) throws -> Void
  ) throws {
    if after == to { return }
    // Not only those under the path: what lies within a property is known here alone.
    var commits = try database.commits(after: after, upTo: to)
    while let commit = try commits.next() {
      try told.step(try FirebaseTouches(commit, database), sink)
    }
  }
}
