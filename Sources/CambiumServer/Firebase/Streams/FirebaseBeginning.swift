import Cambium

/// The beginning of a stream: its client is told what was until now, and joins a channel.
///
///     told up to position p ──▶ join at p ──▶ channel
///             ▲      │ more was handed out meanwhile
///             └──────┘ told that
///
/// Invariants:
/// 1. `told` and `position` say what the client was sent, as whole events. They move on once the
///    bytes of a step are on their way, so that a beginning that proves too long to be kept goes on
///    in pieces where it is, and sends nothing twice.
struct FirebaseBeginning: Sendable {
  /// The bytes of a beginning that are kept until the client takes them; what is longer is written
  /// while it is sent.
  static let bytesMax = EventStream.bytesMax / 2

  /// A beginning is too long to be kept; ``completeInPieces()`` sends the rest.
  struct TooLong: Error {}

  let stream: EventStream
  private let path: NodePath
  private let query: FirebaseQuery?
  private let database: Database
  private let channels: FirebaseChannels
  /// Nil until the whole value is told.
  private var told: FirebaseTold?
  private var position = SequenceNumber.zero
  private var keptCount = 0

  /// - Parameters:
  ///   - path: The node that is listened to.
  ///   - query: The query of its children, if there is one.
  ///   - seen: The moment that the client has, which can be read; nil for none.
  ///   - stream: The stream.
  ///   - database: The database that is served.
  ///   - channels: The channels, one of which the stream joins.
  /// - Throws: ``FirebaseError``, ``DatabaseError``.
  init(
    _ path: NodePath, _ query: FirebaseQuery?, after seen: SequenceNumber?, _ stream: EventStream,
    _ database: Database, _ channels: FirebaseChannels
  ) throws {
    (self.path, self.query, self.stream) = (path, query, stream)
    (self.database, self.channels) = (database, channels)
    guard let seen else { return }
    let view = FirebaseView(try database.snapshot(at: .sequence(seen)))
    told = try FirebaseTold(path: path, query: query, view)
    position = seen
  }

  /// Tells the stream what was until now, and lets it join.
  ///
  /// - Throws: ``TooLong``, ``FirebaseError``, ``DatabaseError``.
  mutating func complete() throws {
    repeat {
      var kept: [UInt8] = []
      let before = keptCount
      do {
        try move { piece in
          if before + kept.count + piece.count > FirebaseBeginning.bytesMax { throw TooLong() }
          kept += piece
        }
      } catch DatabaseError.compacted where told != nil {
        // The commits that were missed are no longer there; the whole value is.
        told = nil
        continue
      }
      keptCount += kept.count
      if !kept.isEmpty { stream.offer(kept) }
    } while told == nil || !join()
  }

  /// Sends the rest while it is written. The stream joins once its client has taken everything,
  /// since the events that follow cannot wait for room.
  ///
  /// - Throws: ``BodyPipe/Abandoned``, ``FirebaseError``, ``DatabaseError``; an event may have been
  ///   sent in part then, and the stream must end.
  mutating func completeInPieces() throws {
    let stream = stream
    try stream.inPieces {
      repeat {
        try move { piece in try stream.write(piece) }
        try stream.drain()
      } while !join()
    }
  }

  private func join() -> Bool {
    guard let told, let channel = channels.join(stream, told, at: position) else { return false }
    stream.onEnd { [channels, stream] in channels.leave(stream, channel) }
    return true
  }

  /// Writes what was handed out since, or the whole value to one who has nothing.
  private mutating func move(_ sink: ([UInt8]) throws -> Void) throws {
    // Where compaction has overtaken what is handed out, that cannot be read any more.
    channels.skip(to: try database.horizon)
    let next = channels.position
    if var told {
      try step(&told, to: next, sink)
      self.told = told
    } else {
      let view = FirebaseView(try database.snapshot(at: .sequence(next)))
      let told = try FirebaseTold(path: path, query: query, view)
      try withoutActuallyEscaping(sink) { sink in
        try FirebaseEventWriter(listened: path, query: query, view: view, sink: sink).whole(next)
      }
      self.told = told
    }
    position = next
  }

  /// Writes the events of the commits up to a moment.
  private func step(
    _ told: inout FirebaseTold, to next: SequenceNumber, _ sink: ([UInt8]) throws -> Void
  ) throws {
    if position >= next { return }
    // Not only those under the path: what lies within a property is known here alone.
    var commits = try database.commits(after: position, upTo: next)
    while let commit = try commits.next() {
      try told.step(try FirebaseTouches(commit, database), sink)
    }
  }
}
