import FoundationEssentials
import LMDB
import Synchronization

/// A content on its way out of a database, into a file: it can be paused, resumed, also after a
/// crash, and cancelled.
///
///     let download = try database.download(film.content, to: "film.mp4")
///     Task { [updates = download.updates] in
///       for await step in updates { bar.fraction = step.fraction }
///     }
///     try await download.run()
///
/// The bytes go to a file beside the target, with `.part` behind its name. A download to the same
/// target goes on with what is there. Once all of it is there, and is what the content's address
/// says, it gets its name.
public final class Download: Sendable {
  private let database: Database
  private let blob: Blob
  private let part: Mutex<DownloadPart?>
  private let control: TransferControl

  init(_ blob: Blob, to path: String, _ database: Database) throws {
    self.database = database
    self.blob = blob
    let part = try DownloadPart(blob, path)
    control = TransferControl(done: part.received, total: blob.size)
    self.part = Mutex(part)
  }

  /// The phase, and how far it has come.
  public var progress: TransferProgress { control.progress }

  /// The progress from now on, ending with the download or with this object. A slow observer misses
  /// steps, never the last one.
  public var updates: AsyncStream<TransferProgress> { control.updates() }

  /// Makes ``run()`` wait before it reads on.
  public func pause() { control.enter(.paused, from: [.running]) }

  /// Lets a paused ``run()`` go on.
  public func resume() { control.enter(.running, from: [.paused]) }

  /// Gives the download up, and removes what is there of it; ``run()`` throws `CancellationError`.
  /// Nothing happens after the end.
  public func cancel() {
    guard control.enter(.cancelled, from: [.running, .paused]) else { return }
    part.withLock { part in
      part?.remove()
      part = nil
    }
  }

  /// Writes the content, or the rest of it. Cancelling the task leaves what is there, so that it
  /// goes on later.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)`` if the content is damaged or no longer stored,
  ///   ``DatabaseError/misuse(reason:)`` if something has come to the target's place, or after the
  ///   end; ``DatabaseError/full(reason:)``, ``DatabaseError/ioFailure(reason:)``,
  ///   `CancellationError`. It can be run again then.
  /// - Complexity: One lookup, one decompression and one write for each 256 KiB, whose memory it
  ///   needs; two flushes.
  public func run() async throws {
    var isMore = true
    while isMore {
      try await control.turn()
      isMore = try await database.inBackground { try self.step() }
    }
  }

  /// Writes the rest on the calling thread.
  func runToEnd(_ progress: ProgressHandler?) throws {
    let reporter = ProgressReporter(progress)
    while try step() { try reporter.tell("save", self.progress.done, blob.size) }
  }

  /// Writes some chunks, or gives the complete file its name.
  ///
  /// - Returns: True if there is more to do.
  private func step() throws -> Bool {
    try translating {
      try part.withLock { part in
        try control.check()
        guard let open = part else { throw CancellationError() }
        for _ in 0..<Download.stepChunks where open.received < blob.size {
          try open.add { number in try database.directory.log.read { try $0.chunk(blob, number) } }
        }
        control.advance(to: open.received)
        if open.received < blob.size { return true }
        try control.check()
        if try !open.complete() { return true }
        control.enter(.finished, from: [.running, .paused])
        part = nil
        return false
      }
    }
  }

  private static let stepChunks = 16
}

extension Database {
  /// Begins to save a content to a file.
  ///
  /// - Parameters:
  ///   - blob: The content, as that of a ``StoredFile``. No snapshot is held for it: until the end
  ///     it must be referred to, or have a lease.
  ///   - path: The file; nothing may be there but, with `.part` behind its name, a part of the same
  ///     content, which is taken over.
  /// - Returns: The download, which ``Download/run()`` carries out.
  /// - Throws: ``DatabaseError/misuse(reason:)`` if something is at the path,
  ///   ``DatabaseError/busy(reason:)`` if somebody else writes the same file,
  ///   ``DatabaseError/ioFailure(reason:)``, ``DatabaseError/closed(reason:)``.
  /// - Complexity: Reads the part that is there, about 1 GB/s.
  public func download(_ blob: Blob, to path: String) throws -> Download {
    if directory.feed.isClosed { throw DatabaseError.closed(reason: "the database is closed") }
    return try translating { try Download(blob, to: Database.located(path), self) }
  }

  /// Saves a content to a file, on the calling thread; what an earlier call has left of it is taken
  /// over.
  ///
  /// - Parameters:
  ///   - blob: The content, as that of a ``StoredFile``.
  ///   - path: The file; nothing may be there.
  ///   - progress: Called about ten times a second, on this thread; false cancels.
  /// - Throws: As ``download(_:to:)`` and ``Download/run()``. What was written stays, beside the
  ///   target, so that the next call goes on with it.
  /// - Complexity: As ``Download/run()``.
  public func save(_ blob: Blob, to path: String, progress: ProgressHandler? = nil) throws {
    try download(blob, to: path).runToEnd(progress)
  }
}

/// The file of a download, beside its target until all of it is there.
private final class DownloadPart: @unchecked Sendable {
  // It is Sendable because its one owner, a `Download`, uses it behind a lock.

  private let blob: Blob
  private let target: String
  private let path: String
  private var file: PartFile
  private var digest = Digest()
  private(set) var received: UInt64 = 0
  /// True if some of it was there before.
  private var isResumed = false
  /// True once the complete file has its name.
  private var isNamed = false

  init(_ blob: Blob, _ target: String) throws {
    (self.blob, self.target, path) = (blob, target, target + ".part")
    try DownloadPart.check(target)
    file = try PartFile(path)
    if Files.size(of: path) > blob.size { try startOver() }
    try takeOver()
  }

  private static func check(_ target: String) throws {
    if Files.exists(target) {
      throw DatabaseError.misuse(reason: "there is something at \(target) already")
    }
  }

  /// Takes over the whole chunks that are there.
  private func takeOver() throws {
    let chunkBytes = UInt64(BlobChunks.chunkBytes)
    let whole = Files.size(of: path) / chunkBytes * chunkBytes
    while received < whole {
      let bytes = try file.read(at: received, count: BlobChunks.chunkBytes)
      if bytes.count < BlobChunks.chunkBytes { break }
      digest.update(bytes)
      received += chunkBytes
    }
    isResumed = received > 0
  }

  /// Adds the next chunk.
  func add(_ chunk: (UInt32) throws -> [UInt8]) throws {
    let chunkBytes = UInt64(BlobChunks.chunkBytes)
    let bytes = try chunk(UInt32(clamping: received / chunkBytes))
    guard UInt64(bytes.count) == min(chunkBytes, blob.size - received) else {
      throw DatabaseError.corrupt(reason: "a chunk of \(blob.name) has another length")
    }
    try file.write(bytes, at: received)
    digest.update(bytes)
    received += UInt64(bytes.count)
  }

  /// Gives the complete file its name.
  ///
  /// - Returns: False if it was begun with another content: all is to be written anew.
  func complete() throws -> Bool {
    guard digest.soFar() == blob.hash else {
      guard isResumed else {
        throw DatabaseError.corrupt(reason: "\(blob.name) is not what its address says")
      }
      try startOver()
      return false
    }
    if !isNamed {
      try DownloadPart.check(target)
      try file.sync()
      try Files.rename(path, to: target)
      isNamed = true
    }
    try Files.sync(Files.parent(of: target))
    return true
  }

  private func startOver() throws {
    try Files.remove(path)
    file = try PartFile(path)
    digest = Digest()
    (received, isResumed) = (0, false)
  }

  /// Removes what is there; where that fails it can be taken over, or removed by hand.
  func remove() { try? Files.remove(isNamed ? target : path) }
}
