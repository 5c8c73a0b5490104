// Files that are stored before the transaction that refers to them.

import FoundationEssentials
import LMDB

extension Database {
  /// Begins an upload, whose bytes come later, from wherever they do.
  ///
  ///     let upload = try database.stage(name: "film.mp4", type: "video/mp4")
  ///     try await upload.send(bytes)
  ///     let film = try await upload.finish()
  ///     try await database.write { tx in try tx.set("films/1", to: ["data": .file(film)]) }
  ///
  /// It survives the process: ``uploads()`` lists those that are unfinished, and
  /// ``resumeUpload(_:)`` goes on with one. Its bytes are part of no backup, branch or copy of the
  /// database before it is finished.
  ///
  /// - Parameters:
  ///   - name: The name of the file, without folders.
  ///   - type: The media type, as `image/png`.
  ///   - size: The bytes that there are in all, for the progress; fewer or more are refused at the
  ///     end. Nil if that is not known.
  ///   - created: The time at which the file was made.
  ///   - modified: The time at which its content was last changed.
  ///   - lease: The time for which compaction keeps the upload when nothing comes any more, and the
  ///     file once all of it is there, until a transaction refers to it.
  /// - Returns: The upload.
  /// - Throws: ``DatabaseError/readOnly(reason:)``, ``DatabaseError/full(reason:)``,
  ///   ``DatabaseError/closed(reason:)``. Nothing is left then.
  /// - Complexity: A directory of its own, and four flushes.
  public func stage(
    name: String, type: String? = nil, size: UInt64? = nil, created: Date? = nil,
    modified: Date? = nil, lease: Duration = .seconds(86_400)
  ) throws -> Upload {
    try checkWritable()
    return try translating {
      let id = UUID(uuid: try directory.options.randomBytes(16).lend { try $0.uuid(at: 0) }.uuid)
      let note = UnfinishedUpload(
        id: id, name: name, type: type, created: created, modified: modified, size: size,
        touched: Date(microseconds: directory.options.now), lease: max(lease, .zero))
      return Upload(try UploadPart(creating: note, in: directory), self)
    }
  }

  /// Stores a file from memory, durably and without a transaction of its own.
  ///
  /// - Parameters:
  ///   - data: The content.
  ///   - name: The name of the file, without folders.
  ///   - type: The media type, as `image/png`.
  ///   - created: The time at which the file was made.
  ///   - modified: The time at which its content was last changed.
  /// - Returns: The file, for a value that refers to it: `tx.set(path, to: .file(file))`. For a day
  ///   it is kept without one.
  /// - Throws: As `store`.
  public func store(
    _ data: Data, name: String, type: String? = nil, created: Date? = nil, modified: Date? = nil
  ) throws -> StoredFile {
    StoredFile(
      try store(data), name: name, type: type, created: created, modified: modified)
  }

  /// The unfinished uploads, by their ids; also those that a process is working on.
  ///
  /// - Returns: The uploads, as of their newest durable bytes.
  /// - Throws: ``DatabaseError/closed(reason:)``.
  /// - Complexity: Reads a small file for each.
  public func uploads() throws -> [UnfinishedUpload] {
    try checkOpen()
    return UploadPart.all(in: directory)
  }

  /// Goes on with an upload that this process or another has not finished.
  ///
  ///     for known in try database.uploads() where known.name == "film.mp4" {
  ///       let upload = try database.resumeUpload(known.id)
  ///       try await upload.send(bytes(from: upload.received))
  ///     }
  ///
  /// - Parameter id: The id of the upload.
  /// - Returns: The upload, whose source must go on after ``Upload/received`` bytes.
  /// - Throws: ``DatabaseError/misuse(reason:)`` if there is none, or no longer;
  ///   ``DatabaseError/busy(reason:)`` if somebody is at it; ``DatabaseError/corrupt(reason:)`` if
  ///   the received bytes are damaged; ``DatabaseError/readOnly(reason:)``. It stays as it is then.
  /// - Complexity: Reads what was received, about 1 GB/s.
  public func resumeUpload(_ id: UUID) throws -> Upload {
    try checkWritable()
    return try translating { Upload(try UploadPart(id, in: directory), self) }
  }

  /// Removes an upload at which nobody is, even a damaged one.
  ///
  /// - Parameter id: The id of the upload.
  /// - Returns: False if there is none.
  /// - Throws: ``DatabaseError/busy(reason:)`` if somebody is at it: cancel it there;
  ///   ``DatabaseError/readOnly(reason:)``.
  @discardableResult
  public func removeUpload(_ id: UUID) throws -> Bool {
    try checkWritable()
    return try translating { try UploadPart.remove(id, in: directory) }
  }

  private func checkOpen() throws {
    if directory.feed.isClosed { throw DatabaseError.closed(reason: "the database is closed") }
  }

  private func checkWritable() throws {
    try checkOpen()
    if directory.isReadOnly {
      throw DatabaseError.readOnly(reason: "\(path) is open for reading only")
    }
  }
}
