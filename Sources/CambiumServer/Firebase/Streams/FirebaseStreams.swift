import Cambium
import Synchronization

/// The streams of events of Firebase clients.
///
/// A stream begins with `put "/"`, the whole value; or where the client names the last event that
/// it has seen, with the events that it has missed. Then it is told each commit, in order, once.
///
///     open ──▶ FirebaseBeginning ──▶ join ──▶ channel ◀── commits, from the hub
final class FirebaseStreams: Sendable {
  /// The most transactions that are read for a client that comes back. One that was away for longer
  /// gets the whole value.
  static let missedMax: UInt64 = 100_000
  static let phrases = EventStream.Phrases(
    keepAlive: Array("event: keep-alive\ndata: null\n\n".utf8),
    // As it is: the Python client compares the text, and loses its thread over one in quotes.
    withdrawn: Array("event: auth_revoked\ndata: credential is no longer valid\n\n".utf8),
    refused: Array("event: cancel\ndata: null\n\n".utf8), stopped: [])

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
    // Compaction was faster than the hub, and dropped commits that nobody was told.
    if channels.position.next < commit.sequence { channels.skip(to: commit.sequence.previous) }
    guard channels.advance(to: commit.sequence) else { return }
    guard let touches = try? FirebaseTouches(commit, database) else {
      return channels.skip(to: commit.sequence)
    }
    for (channel, streams) in channels.advance(to: commit.sequence, touches.places) {
      do { try channel.tell(touches, to: streams) } catch { channels.drop(channel) }
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
    guard let stream = events.open(for: request, FirebaseStreams.phrases, of: path) else {
      throw FirebaseError(503, "Too many streams are open, or the server stops")
    }
    let seen = request[header: "last-event-id"].flatMap { UInt64($0) }.map { SequenceNumber($0) }
    do {
      try begin(
        FirebaseBeginning(path, query, after: try resumable(seen), stream, database, channels))
    } catch {
      stream.end()
      stream.abandon()
      throw error
    }
    var response = stream.response
    response.headers += headers
    return response
  }

  private func begin(_ beginning: FirebaseBeginning) throws {
    var beginning = beginning
    do { try beginning.complete() } catch is FirebaseBeginning.TooLong {
      let isStarted = writers.write { [rest = beginning] in
        var rest = rest
        do { try rest.completeInPieces() } catch { rest.stream.end() }
      }
      if !isStarted { throw FirebaseError.tooManyBodies }
    }
  }

  /// The moment from which a client can be told what it has missed.
  private func resumable(_ seen: SequenceNumber?) throws -> SequenceNumber? {
    let position = channels.position
    guard let seen, seen <= position, try seen >= database.horizon,
      position.rawValue - seen.rawValue <= FirebaseStreams.missedMax
    else { return nil }
    return seen
  }
}
