import Cambium
import FoundationEssentials

/// Files on their way in and out: `cambium put --file` and `cambium get --to`.
enum FileTransfer {
  // MARK: In

  /// Stores the content of a file, and sets the node to it.
  static func put(_ call: Call) async throws {
    if call.has(PutCommand.text) { throw Failure.usage("--file and --text exclude each other") }
    let source = try SourceFile(call.value(PutCommand.value).text, call)
    let database = try OpenDatabase.forWriting(call, creating: call.has(PutCommand.create))
    let upload = try source.upload(in: database)
    try await showing(upload.updates, "store", call) {
      try await upload.send(contentsOf: source.path)
    }
    if !source.isUnchanged || upload.received != source.size {
      upload.cancel()
      throw Failure(
        .refused, "changed", "\(Terminal.escaped(source.path)) has changed while it was read",
        hint: "run the command again")
    }
    let file = try await upload.finish()
    try Changing.run(call, database) { tx in
      try tx.set(call.value(.path).path, to: .file(file))
    }
  }

  // MARK: Out

  /// Saves the content to which a node refers.
  static func get(_ call: Call, to path: String) async throws {
    try ReplayCommand.checkTarget(path, name: "FILE")
    let database = try OpenDatabase.forReading(call)
    let sequence = try OpenDatabase.sequence(call[.at]?.moment, in: database)
    let snapshot = try database.snapshot(at: .sequence(sequence))
    let node = snapshot[call.value(.path).path]
    try MissingNode.check(node, snapshot, call)
    guard let blob = try content(of: node.value) else {
      throw Failure(
        .negative, "no_file", "\(node.path) is no file and no blob",
        hint: "without --to its value is printed")
    }
    let download = try database.download(blob, to: path)
    try await showing(download.updates, "save", call) { try await download.run() }
  }

  private static func content(of value: Value?) -> Blob? {
    if case .blob(let blob)? = value { return blob }
    return StoredFile(value)?.content
  }

  /// Shows how far a body is.
  private static func showing(
    _ updates: AsyncStream<TransferProgress>, _ phase: String, _ call: Call,
    _ body: () async throws -> Void
  ) async throws {
    let bar = ProgressBar(call, unit: "bytes")
    let handler = bar.handler
    let watch = Task {
      for await step in updates {
        _ = handler(WorkProgress(phase: phase, done: step.done, total: step.total))
      }
    }
    defer {
      watch.cancel()
      bar.finish()
    }
    try await body()
  }
}

/// A file that is to be stored.
private struct SourceFile {
  let path: String
  private let name: String
  private let type: String?
  let size: UInt64
  private let modified: Date

  init(_ path: String, _ call: Call) throws {
    self.path = path
    let url = URL(filePath: path)
    name = call[PutCommand.fileName]?.text ?? url.lastPathComponent
    type = call[PutCommand.type]?.text ?? MediaType.of(name)
    guard let found = System.file(url.path) else {
      throw Failure(.missing, "no_file", "there is no file \(Terminal.escaped(path))")
    }
    (size, modified) = found
  }

  /// True if it is as it was, as far as its size and its time tell.
  var isUnchanged: Bool { System.file(path).map { $0 == (size, modified) } ?? false }

  /// The upload of this file that an earlier call has broken off, or a new one.
  func upload(in database: Database) throws -> Upload {
    for known in try database.uploads()
    where known.name == name && known.type == type && known.size == size
      && known.modified == modified
    {
      // A file of the same name, size and time may be another one.
      guard let upload = try? database.resumeUpload(known.id),
        try upload.hasReceived(startOf: path)
      else { continue }
      return upload
    }
    return try database.stage(name: name, type: type, size: size, modified: modified)
  }
}

/// Media types by the endings of names, for the commonest ones (RFC 6838; IANA's registry).
enum MediaType {
  private static let types = [
    "aac": "audio/aac", "avif": "image/avif", "bmp": "image/bmp", "css": "text/css",
    "csv": "text/csv", "epub": "application/epub+zip", "flac": "audio/flac", "gif": "image/gif",
    "gz": "application/gzip", "heic": "image/heic", "htm": "text/html", "html": "text/html",
    "ics": "text/calendar", "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript",
    "json": "application/json", "m4a": "audio/mp4", "md": "text/markdown", "mov": "video/quicktime",
    "mp3": "audio/mpeg", "mp4": "video/mp4", "ogg": "audio/ogg", "otf": "font/otf",
    "pdf": "application/pdf", "png": "image/png", "rtf": "application/rtf", "svg": "image/svg+xml",
    "tar": "application/x-tar", "tif": "image/tiff", "tiff": "image/tiff", "ttf": "font/ttf",
    "txt": "text/plain", "wasm": "application/wasm", "wav": "audio/wav", "webm": "video/webm",
    "webp": "image/webp", "woff2": "font/woff2", "xml": "application/xml",
    "zip": "application/zip", "zst": "application/zstd",
  ]

  /// The type of a file by its name, or nil.
  static func of(_ name: String) -> String? {
    guard let dot = name.lastIndex(of: ".") else { return nil }
    return types[name[name.index(after: dot)...].lowercased()]
  }
}
