import LMDB

/// A projection that an open database keeps up to date, and how to read it.
public struct RegisteredProjection: Sendable {
  /// The projection's name.
  public let name: String
  let database: Database

  /// Waits until the projection has folded in a transaction, and, where its version is new, until
  /// the new table can be read.
  ///
  /// - Parameter sequence: The transaction; the newest one by default.
  /// - Throws: Any error that the projection throws, ``DatabaseError``, `CancellationError`.
  public func catchUp(to sequence: SequenceNumber? = nil) async throws {
    let wanted = try sequence ?? database.head
    if wanted > (try database.head) {
      throw DatabaseError.noSuchMoment(reason: "transaction \(wanted) is not there yet")
    }
    guard let job = database.jobs[ProjectionJob.name(name)] as? ProjectionJob else {
      throw CancellationError()
    }
    try await job.wait(for: wanted)
  }

  /// The projection's table, as a snapshot sees it.
  ///
  /// - Parameter snapshot: A snapshot of the present, or an open transaction's.
  /// - Returns: The table; its position says how far it had come.
  /// - Throws: ``DatabaseError/noSuchMoment(reason:)`` for a snapshot of the past.
  public func read(_ snapshot: Snapshot) throws -> ProjectionSnapshot {
    try ProjectionSnapshot(name, snapshot)
  }
}

/// A projection's table at one moment.
public struct ProjectionSnapshot: Sendable {
  /// The last transaction that it has folded in; what came after it, it does not know.
  public let position: SequenceNumber
  /// The version that folded it; nil where nothing was folded yet.
  public let version: Int?
  private let number: UInt32?
  private let snapshot: Snapshot

  init(_ name: String, _ snapshot: Snapshot) throws {
    guard snapshot.moment == nil else {
      throw DatabaseError.noSuchMoment(
        reason: "a projection is kept for the present; read it from a snapshot of now")
    }
    self.snapshot = snapshot
    let reader = try snapshot.reader
    let part = try ProjectionEntry(name, reader.access, reader.tables)?.serving
    position = SequenceNumber(part.map { $0.isStarting ? 0 : $0.position } ?? 0)
    version = part.map { Int($0.version) }
    number = part?.number
  }

  /// The value at a path, or nil where there is none.
  ///
  /// - Throws: ``DatabaseError``.
  public subscript(path: NodePath) -> Value? {
    get throws {
      guard let number else { return nil }
      let (key, reader) = (try ProjectionKey.key(number, path), try snapshot.reader)
      return try key.lend { try reader.access.get(reader.tables.views, $0) { try Value($0) } }
    }
  }

  /// Visits the values at a path and below it in path order, as long as the visitor wants more.
  ///
  /// - Parameters:
  ///   - path: The path at and below which values are visited.
  ///   - visit: Called with each path and its value; returns true to continue.
  /// - Throws: Any error that `visit` throws; ``DatabaseError``.
  public func forEach(
    under path: NodePath = .root, _ visit: (_ path: NodePath, _ value: Value) throws -> Bool
  ) throws {
    guard let number else { return }
    let reader = try snapshot.reader
    try ProjectionKey.forEach(number, under: path, reader.access, reader.tables, visit)
  }
}

extension Database {
  /// Keeps an app's projection up to date from now on, in the background.
  ///
  /// - Parameters:
  ///   - projection: The projection; one with the same name takes the place of an earlier one.
  ///   - progress: Called after each step, on another thread; false ends keeping it up to date.
  /// - Returns: The registration, by which its table is read.
  /// - Throws: ``DatabaseError/badKey(_:reason:)`` for a bad name,
  ///   ``DatabaseError/readOnly(reason:)``. That the table was folded by a later version is
  ///   reported as ``Diagnostic/projectionFailed(_:reason:)``.
  @discardableResult
  public func register(
    _ projection: some Projection, progress: ProgressHandler? = nil
  ) throws -> RegisteredProjection {
    try Consumer.check(projection.name)
    if directory.isReadOnly {
      throw DatabaseError.readOnly(reason: "\(path) is open for reading only")
    }
    let earlier = jobs[ProjectionJob.name(projection.name)] as? ProjectionJob
    let job = ProjectionJob(projection, writer, progress, earlier)
    jobs.register(job)
    jobs.wake(job)
    return RegisteredProjection(name: projection.name, database: self)
  }
}
