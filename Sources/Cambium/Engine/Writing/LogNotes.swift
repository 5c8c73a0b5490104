// Notes: bytes of a layer above the engine that are stored beside the tree, with a transaction or
// not at all. They touch no node, no observer sees them, and a branch does not take them along.
//
//     note/<name>    bytes
//
// A server keeps the answers to requests there that may be repeated; see AnsweredRequests.swift.

/// The entries of the log's `meta` table that hold notes.
enum LogNotes {
  static let prefix = "note/"

  /// The longest name of a note in bytes, as a key of LMDB has 511.
  static let nameBytesMax = 400
}

extension Database.Transaction {
  /// Stores bytes under a name with this transaction, or removes them.
  ///
  /// A transaction that changes nothing stores them too, and gets no record for that.
  ///
  /// - Parameters:
  ///   - name: The name, of at most 400 bytes.
  ///   - bytes: The bytes; nil removes the note.
  /// - Throws: ``DatabaseError/badKey(_:reason:)`` for a longer name,
  ///   ``DatabaseError/misuse(reason:)`` after the transaction has ended.
  package func saveNote(_ name: String, _ bytes: [UInt8]?) throws {
    guard name.utf8.count <= LogNotes.nameBytesMax else {
      throw DatabaseError.badKey(name, reason: "a note's name has at most 400 bytes")
    }
    try running.use()
    running.draft.additions.notes[LogNotes.prefix + name] = .some(bytes)
  }

  /// The bytes of a note, as this transaction and those before it have left them.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` after the transaction has ended;
  ///   ``DatabaseError/corrupt(reason:)``.
  package func note(_ name: String) throws -> [UInt8]? {
    try running.use()
    let entry = LogNotes.prefix + name
    if let own = running.draft.additions.notes[entry] { return own }
    return try translating {
      try running.directory.log.read { try $0.entry(entry) { $0.array() } }
    }
  }

  /// The changes that the transaction has made so far, in the order of their paths.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` after the transaction has ended.
  package func changesSoFar() throws -> Changes { try running.record().changes }

  /// True if the transaction gets a record when it is committed, since it has an operation.
  package var isRecorded: Bool { running.isRecorded }

  /// The greatest integer key that a collection ever had; nil or 0 where it had none.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` after the transaction has ended;
  ///   ``DatabaseError/corrupt(reason:)``.
  package func greatestKey(of collection: NodePath) throws -> Int64? {
    try running.greatestKey(collection)
  }
}

extension Database {
  /// The bytes of a note.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)``, ``DatabaseError/closed(reason:)``.
  package func note(_ name: String) throws -> [UInt8]? {
    try translating {
      try directory.log.read { try $0.entry(LogNotes.prefix + name) { $0.array() } }
    }
  }

  /// The notes whose names start with a prefix, in the order of their names, and by these names.
  ///
  /// - Parameters:
  ///   - prefix: The start of their names.
  ///   - body: Takes a note's name and its bytes. It must not write.
  /// - Throws: Any error that `body` throws; ``DatabaseError/corrupt(reason:)``,
  ///   ``DatabaseError/closed(reason:)``.
  package func forEachNote(
    startingWith prefix: String, _ body: (_ name: String, _ bytes: [UInt8]) throws -> Void
  ) throws {
    let count = LogNotes.prefix.utf8.count
    try translating {
      try directory.log.read { log in
        try log.forEachEntry(startingWith: Array((LogNotes.prefix + prefix).utf8)) { name, bytes in
          try body(String(decoding: name.dropFirst(count), as: UTF8.self), bytes.array())
        }
      }
    }
  }
}

extension Blob {
  /// The digest of some bytes, BLAKE2b of 256 bits, in hexadecimal digits.
  package static func digestText(of bytes: [UInt8]) -> String {
    bytes.lend { Digest.of($0) }.map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }
}
