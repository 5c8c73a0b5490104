import FoundationEssentials

/// Sizes and contents of a repository's files, from two `git cat-file` processes.
///
/// All of a call's requests are queued at once and answered in order, so that a call costs one
/// round trip. The processes start with the first request and end with this object.
final class GitObjects {
  private let repository: GitRepository
  private var sizes: OutputReader?
  private var contents: OutputReader?

  init(_ repository: GitRepository) { self.repository = repository }

  /// The sizes in bytes of files, in the order of their ids. A submodule has none: do not ask.
  ///
  /// - Throws: ``GitError/noObject(id:reason:)`` when one is missing or not a file.
  func sizes(of blobs: [String]) throws -> [UInt64] {
    let reader = try request(blobs, from: sizes, "--batch-check")
    sizes = nil
    let answers = try blobs.map { try answer(for: $0, reader) }
    sizes = reader
    return answers
  }

  /// Lends the contents of files, in the order of their ids; what the body does not read is passed
  /// over.
  ///
  /// - Throws: The error of the body; ``GitError/noObject(id:reason:)`` as above. The next call
  ///   starts afresh.
  /// - Complexity: O(bytes), in constant memory.
  func contents(of blobs: [String], _ body: (Int, GitContent) throws -> Void) throws {
    let reader = try request(blobs, from: contents, "--batch")
    contents = nil
    for (index, blob) in blobs.enumerated() {
      let content = GitContent(blob, size: try answer(for: blob, reader), reader)
      try body(index, content)
      try content.finish()
    }
    contents = reader
  }
}

extension GitObjects {
  private func request(
    _ blobs: [String], from running: OutputReader?, _ mode: String
  ) throws -> OutputReader {
    if let id = blobs.first(where: { !GitRepository.isID($0) }) {
      throw GitError.noObject(id: GitError.quoted(id.utf8), reason: "has no valid id")
    }
    let reader =
      try running ?? OutputReader(repository.start("cat-file", [mode], takesInput: true))
    for blob in blobs { reader.process.send((blob + "\n").utf8) }
    return reader
  }

  /// Reads `<id> blob <size>`, and nothing else will do.
  private func answer(for blob: String, _ reader: OutputReader) throws -> UInt64 {
    let line = try line(for: blob, reader)
    let words = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
    guard words.first == blob, words.count > 1 else {
      throw reader.bad("\(GitError.quoted(line.prefix(200))) does not answer for object \(blob)")
    }
    if words[1] == "missing" { throw GitError.noObject(id: blob, reason: "is missing") }
    guard words.count == 3, words[1] == "blob", let size = UInt64(words[2]) else {
      throw GitError.noObject(id: blob, reason: "is a \(words[1]), not a file")
    }
    return size
  }

  private func line(for blob: String, _ reader: OutputReader) throws -> ArraySlice<UInt8> {
    do {
      if let line = try reader.piece(endedBy: UInt8(ascii: "\n")) { return line }
      try reader.process.finish()
    } catch ChildProcessError.failed(_, _, let errors) {
      throw GitError.noObject(id: blob, reason: "cannot be read: \(errors)")
    }
    throw reader.bad("it ends before object \(blob)")
  }
}

/// The content of one file, lent while ``GitObjects/contents(of:_:)`` calls its body.
final class GitContent {
  let blob: String
  let size: UInt64
  private var unread: UInt64
  private let reader: OutputReader

  fileprivate init(_ blob: String, size: UInt64, _ reader: OutputReader) {
    self.blob = blob
    self.size = size
    unread = size
    self.reader = reader
  }

  /// The next part, at most 256 KiB; nil at the end.
  func next() throws -> Data? {
    guard let part = try nextPart() else { return nil }
    return Data(part)
  }

  private func nextPart() throws -> ArraySlice<UInt8>? {
    if unread == 0 { return nil }
    let part = try reader.bytes(max: Int(min(unread, UInt64(Int.max / 2))))
    unread -= UInt64(part.count)
    if part.isEmpty {
      try reader.process.finish()
      throw reader.bad("object \(blob) ends early")
    }
    return part
  }

  /// Passes over what is unread and the line feed after it.
  fileprivate func finish() throws {
    while try nextPart() != nil {}
    guard try reader.peek() == UInt8(ascii: "\n") else {
      throw reader.bad("object \(blob) is longer than its size")
    }
    reader.skip()
  }
}
