import FoundationEssentials
import LMDB
import Synchronization

/// A file on its way into a database, outside of any transaction: it can be paused, resumed, also
/// by another process after a crash, and cancelled.
///
///     let upload = try database.stage(name: "film.mp4", type: "video/mp4", size: size)
///     Task { [updates = upload.updates] in
///       for await step in updates { bar.fraction = step.fraction }
///     }
///     try await upload.send(response.body)
///     let film = try await upload.finish()
///     try await database.write { tx in try tx.set("films/1", to: ["data": .file(film)]) }
///
/// The bytes go to a file in the database's directory, and at the end into the log in steps of 16
/// MiB, between which others write. No write waits for the source. Memory is bounded whatever the
/// size. Nobody else can go on with the upload while this object exists, so a task that observes it
/// holds its `updates`, as above, and not the upload.
public final class Upload: Sendable, Identifiable {
  /// The upload's id, for ``Database/resumeUpload(_:)``.
  public let id: UUID
  private let database: Database
  private let part: Mutex<UploadPart?>
  private let control: TransferControl

  init(_ part: UploadPart, _ database: Database) {
    id = part.note.id
    self.database = database
    control = TransferControl(done: part.received, total: part.note.size)
    self.part = Mutex(part)
  }

  // MARK: Progress

  /// The bytes that were received: where the source goes on.
  public var received: UInt64 { control.progress.done }

  /// The phase, and how far it has come.
  public var progress: TransferProgress { control.progress }

  /// The progress from now on, ending with the upload or with this object. A slow observer misses
  /// steps, never the last one.
  public var updates: AsyncStream<TransferProgress> { control.updates() }

  /// Makes `send` wait before it takes the next piece from its source.
  public func pause() { control.enter(.paused, from: [.running]) }

  /// Lets a paused `send` go on.
  public func resume() { control.enter(.running, from: [.paused]) }

  /// Gives the upload up, and removes what was received. It waits for a piece that is being
  /// written; a `send` or a `finish` that runs throws `CancellationError`. Nothing happens after
  /// the end.
  public func cancel() {
    guard control.enter(.cancelled, from: [.running, .paused]) else { return }
    part.withLock { part in
      // A directory that cannot be removed now goes once its lease has ended.
      try? part?.remove()
      part = nil
    }
  }

  // MARK: Sending

  /// Adds the next bytes, on the calling thread; also while it is paused.
  ///
  /// - Parameter data: The bytes after those that were received.
  /// - Throws: ``DatabaseError/full(reason:)``, after which the same bytes can be added again;
  ///   ``DatabaseError/misuse(reason:)`` after the end, `CancellationError` after ``cancel()``.
  /// - Complexity: A write to the system's memory, and three flushes after each 16 MiB.
  public func append(_ data: Data) throws {
    try using { part in
      try part.append([UInt8](data))
      control.advance(to: part.received)
    }
  }

  /// Makes what was received durable, so that it can be resumed from here after a crash.
  ///
  /// - Throws: As ``append(_:)``.
  /// - Complexity: Three flushes.
  public func save() throws { try using { try $0.save() } }

  /// Adds pieces of bytes as they come, until the source ends.
  ///
  /// It takes a piece only when the one before is written, so a source that waits for its consumer
  /// holds no more than one. Where the source or this call fails, or the task is cancelled, the
  /// received bytes stay, and another source can go on after ``received`` of them.
  ///
  /// - Parameter source: The bytes after those that were received.
  /// - Throws: Any error of the source; otherwise as ``append(_:)``.
  public func send<Source: AsyncSequence & Sendable>(
    _ source: Source
  ) async throws where Source.Element == Data {
    try await saving {
      try await control.turn()
      for try await piece in source {
        try await write(piece)
        try await control.turn()
      }
      // A source may end because the task was cancelled.
      try await control.turn()
    }
  }

  /// Adds single bytes as they come, until the source ends; otherwise as `send` of pieces.
  ///
  /// - Parameter source: The bytes after those that were received.
  /// - Throws: As `send` of pieces.
  public func send<Source: AsyncSequence & Sendable>(
    _ source: Source
  ) async throws where Source.Element == UInt8 {
    try await saving {
      try await control.turn()
      var piece = Data()
      do {
        for try await byte in source {
          piece.append(byte)
          guard piece.count >= Upload.pieceBytes else { continue }
          try await write(piece)
          piece = Data()
          try await control.turn()
        }
      } catch {
        try await write(piece)
        throw error
      }
      try await write(piece)
      try await control.turn()
    }
  }

  /// Adds the content of a file, from the byte after those that were received.
  ///
  /// - Parameter path: The file, which must begin with the bytes that were received.
  /// - Throws: ``DatabaseError/misuse(reason:)`` if it does not, and none is added;
  ///   ``DatabaseError/ioFailure(reason:)`` if it cannot be read; otherwise as `send`.
  /// - Complexity: Reads the file once, also what was received of it.
  public func send(contentsOf path: String) async throws {
    try await saving {
      let path = Database.located(path)
      guard try await database.inBackground({ try self.hasReceived(startOf: path) }) else {
        throw DatabaseError.misuse(
          reason: "\(path) does not begin with the \(received) bytes that were received; it has "
            + "changed, or is another file, so begin a new upload")
      }
      let reader = try translating { try FileReader(path, from: received) }
      var isMore = true
      while isMore {
        try await control.turn()
        isMore = try await database.inBackground {
          let piece = try translating { try reader.read(Upload.pieceBytes) }
          if !piece.isEmpty { try self.append(Data(piece)) }
          return !piece.isEmpty
        }
      }
    }
  }

  /// Finds out if a file begins with the bytes that were received, so that they need not be sent
  /// again.
  ///
  /// - Parameter path: The file.
  /// - Returns: True if it does, also where nothing was received.
  /// - Throws: ``DatabaseError/ioFailure(reason:)`` if it cannot be read; otherwise as
  ///   ``append(_:)``.
  /// - Complexity: Reads as much of the file, about 1 GB/s, on the calling thread.
  public func hasReceived(startOf path: String) throws -> Bool {
    try using { try $0.isStart(of: try FileReader(Database.located(path))) }
  }

  private static let pieceBytes = 1 << 18

  private func write(_ piece: Data) async throws {
    if piece.isEmpty { return }
    try await database.inBackground { try self.append(piece) }
  }

  /// Makes durable what was received when a body ends.
  private func saving(_ body: () async throws -> Void) async throws {
    do { try await body() } catch {
      try? await database.inBackground { try self.save() }
      throw error
    }
    try await database.inBackground { try self.save() }
  }

  // MARK: The end

  /// Stores what was received as a file, durably, for a transaction to refer to.
  ///
  /// Until one does, compaction keeps it for the lease that `stage` was given, counted from now.
  /// The upload is over then; if finishing is interrupted, it can be resumed and finished again.
  ///
  /// - Returns: The file.
  /// - Throws: ``DatabaseError/misuse(reason:)`` if not as many bytes have come as were announced,
  ///   after the end, or inside a write; ``DatabaseError/busy(reason:)``,
  ///   ``DatabaseError/full(reason:)``, ``DatabaseError/corrupt(reason:)`` if the received bytes
  ///   have changed on disk; `CancellationError` after ``cancel()``. It can be finished later then.
  /// - Complexity: Compresses the content, at about 300 MB/s, and one flush for about 16 MiB.
  @discardableResult
  public func finish() throws -> StoredFile {
    let file = try translating {
      try part.withLock { part in
        try control.check()
        guard let open = part else { throw CancellationError() }
        try open.save()
        let file = try open.file()
        try database.store(file.content, leased: open.note.lease.microseconds) {
          try control.check()
          return try open.chunk($0)
        }
        guard control.enter(.finished, from: [.running, .paused]) else { throw CancellationError() }
        // A directory that cannot be removed now goes once its lease has ended.
        try? open.remove()
        part = nil
        return file
      }
    }
    return file
  }

  /// Stores what was received as a file without blocking the caller's thread.
  ///
  /// - Returns: The file.
  /// - Throws: As the synchronous `finish`.
  @discardableResult
  public func finish() async throws -> StoredFile {
    try await database.inBackground { try self.finish() }
  }

  private func using<R>(_ body: (UploadPart) throws -> R) throws -> R {
    try translating {
      try part.withLock { part in
        try control.check()
        guard let part else { throw CancellationError() }
        return try body(part)
      }
    }
  }
}
