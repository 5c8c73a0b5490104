import Cambium
import CambiumCommands
import Synchronization

/// The streams of transactions. Those that ask the same get the same bytes: each transaction is
/// read and rendered once for all of them.
///
///     hub ──▶ topic (path, conditions) ──▶ stream, stream, stream …
///                 ▲
///     a new stream reads the log up to where its topic is, and joins it there
final class ChangeTopics: Sendable {
  /// The most different questions that are followed at the same time.
  private static let topicsMax = 1_000

  private let database: Database
  private let hub: CommitHub
  private let workers: Workers
  private let topics = Mutex<[String: ChangeTopic]>([:])

  init(_ database: Database, _ hub: CommitHub, _ workers: Workers) {
    self.database = database
    self.hub = hub
    self.workers = workers
  }

  /// Opens a stream.
  func answer(_ command: CommandRequest, _ request: Request, _ streams: EventStreams) -> Response {
    let first: SequenceNumber?
    do {
      let lines = try ChangeLines(database, command)
      let last = request[header: "last-event-id"].flatMap(UInt64.init).map { SequenceNumber($0) }
      first = last ?? lines.after
      if let first, first < (try database.horizon) {
        throw CommandFailure(
          410, "compacted", "transactions up to \(try database.horizon) were compacted",
          hint: "read what is there, and follow from its Cambium-Sequence")
      }
    } catch {
      return Response(error as? CommandFailure ?? CommandFailure(500, "failed", "\(error)"))
    }
    guard let topic = topic(for: command) else {
      return .busy("too many different streams are open")
    }
    guard let stream = streams.open(for: request) else {
      topic.release()
      return .busy("too many streams are open")
    }
    let position = topic.position
    let start = first ?? position
    Task(executorPreference: workers) { [database] in
      await topic.join(stream, after: start, database, command)
    }
    return stream.response
  }

  /// The topic of a question, which is reserved for the stream that joins it.
  private func topic(for command: CommandRequest) -> ChangeTopic? {
    let parameters = command.parameters.filter { $0.name != "after" }
      .map { "\($0.name)=\($0.value)" }
    let name = ([command.scope.description] + parameters.sorted()).joined(separator: "\u{0}")
    return topics.withLock { topics in
      if let topic = topics[name] {
        topic.reserve()
        return topic
      }
      for (name, topic) in topics where topic.isUnused {
        topic.stop()
        topics[name] = nil
      }
      if topics.count >= ChangeTopics.topicsMax { return nil }
      let topic = ChangeTopic(database, hub, workers, command)
      topic.reserve()
      topics[name] = topic
      return topic
    }
  }
}

/// The streams that ask the same.
final class ChangeTopic: Sendable {
  private struct Member {
    let stream: EventStream
    /// The last transaction that the stream is not to be sent.
    let after: SequenceNumber
  }

  private struct State {
    /// The last transaction that the streams have had.
    var position: SequenceNumber
    var streams: [UInt64: Member] = [:]
    /// The number of streams that are still reading the past, or are about to.
    var joining = 0
  }

  private let state: Mutex<State>
  private let following: CommitHub.Following
  private let heads: AsyncStream<SequenceNumber>.Continuation

  init(_ database: Database, _ hub: CommitHub, _ workers: Workers, _ command: CommandRequest) {
    let (stream, heads) = AsyncStream<SequenceNumber>.makeStream(
      bufferingPolicy: .bufferingNewest(1))
    self.heads = heads
    following = hub.follow { heads.yield($0.sequence) }
    state = Mutex(State(position: following.after))
    Task(executorPreference: workers) { [weak self] in
      guard let lines = try? ChangeLines(database, command) else { return }
      for await head in stream {
        guard let self else { return }
        self.advance(to: head, lines)
      }
    }
  }

  deinit { stop() }

  var position: SequenceNumber { state.withLock { $0.position } }

  /// True if nobody listens.
  var isUnused: Bool { state.withLock { $0.streams.isEmpty && $0.joining == 0 } }

  /// Keeps the topic until a stream has joined it, or does not.
  func reserve() { state.withLock { $0.joining += 1 } }

  func release() { state.withLock { $0.joining -= 1 } }

  func stop() {
    following.cancel()
    heads.finish()
  }

  /// Sends what has come, to all.
  private func advance(to head: SequenceNumber, _ lines: ChangeLines) {
    do {
      try lines.forEach(after: position, upTo: head) { sequence, line in
        let bytes = ServerEvent(id: "\(sequence)", name: nil, data: line).bytes
        // Whoever joins in between has read this transaction already.
        let streams = state.withLock { state in
          state.position = sequence
          return Array(state.streams.values)
        }
        for member in streams where member.after < sequence { member.stream.offer(bytes) }
        return true
      }
      state.withLock { $0.position = max($0.position, head) }
    } catch {
      end(error)
    }
  }

  /// Ends the streams with an event that says why, as where compaction was faster; they come back
  /// and hear what to do.
  private func end(_ error: any Error) {
    let failure = error as? CommandFailure ?? CommandFailure(500, "failed", "\(error)")
    let streams = state.withLock { state in
      defer { state.streams = [:] }
      return Array(state.streams.values)
    }
    for member in streams {
      member.stream.offer(ServerEvent(name: "error", data: failure.json))
      member.stream.end()
    }
  }

  /// Sends a stream what came after a transaction, and lets it join the others once it has come as
  /// far as they have.
  func join(
    _ stream: EventStream, after start: SequenceNumber, _ database: Database,
    _ command: CommandRequest
  ) async {
    defer { release() }
    do {
      let lines = try ChangeLines(database, command)
      var position = start
      while !add(stream, at: position) {
        let goal = self.position
        try lines.forEach(after: position, upTo: goal) { sequence, line in
          let event = ServerEvent(id: "\(sequence)", name: nil, data: line)
          return (try? stream.write(event.bytes)) != nil
        }
        if stream.isOver { return }
        position = goal
      }
    } catch {
      let failure = error as? CommandFailure ?? CommandFailure(500, "failed", "\(error)")
      stream.offer(ServerEvent(name: "error", data: failure.json))
      stream.end()
    }
  }

  /// Adds a stream that has had everything up to a transaction; false where there is more.
  private func add(_ stream: EventStream, at position: SequenceNumber) -> Bool {
    let isAdded = state.withLock { state in
      guard state.position <= position else { return false }
      state.streams[stream.number] = Member(stream: stream, after: position)
      return true
    }
    if isAdded {
      stream.onEnd { [weak self] in
        self?.state.withLock { _ = $0.streams.removeValue(forKey: stream.number) }
      }
    }
    return isAdded
  }
}

extension EventStream {
  static let mediaType = (name: "Content-Type", value: "text/event-stream; charset=utf-8")
}
