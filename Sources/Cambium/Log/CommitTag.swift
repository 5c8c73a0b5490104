// Names for moments, in the log's `meta` table: `tag/<name>` holds a sequence number. They are as
// durable as the log, survive a rebuild of the state, and are included in a replayed copy.

/// A named moment.
public struct CommitTag: Hashable, Sendable {
  /// Its name.
  public let name: String
  /// The last transaction of the moment; zero for the empty database.
  public let sequence: SequenceNumber

  package init(name: String, sequence: SequenceNumber) {
    self.name = name
    self.sequence = sequence
  }

  /// The longest name, in bytes of UTF-8.
  public static let nameBytesMax = 400

  /// The prefix of the names of entries that hold tags.
  static let prefix = Array("tag/".utf8)

  /// Refuses a name that cannot be written on a command line, alone or in a range.
  static func check(_ name: String) throws(DatabaseError) {
    if let reason = problem(name) { throw .badKey(name, reason: reason) }
  }

  /// The reason why a text cannot be a tag's name, or nil.
  package static func problem(_ name: String) -> String? {
    let count = name.utf8.count
    if count == 0 { return "a tag needs a name" }
    if count > nameBytesMax { return "it has \(count) bytes; \(nameBytesMax) is the limit" }
    if name.unicodeScalars.contains(where: { $0.properties.isWhitespace || $0.value < 32 }) {
      return "a tag's name has no spaces and no control characters"
    }
    if name.utf8.contains(127) { return "a tag's name has no spaces and no control characters" }
    if name.hasPrefix("-") { return "a tag's name does not begin with -" }
    if name.hasPrefix(".") || name.hasSuffix(".") || name.contains("..") {
      return "a tag's name has no .. in it, and no dot at its ends, since A..B is a range"
    }
    return nil
  }
}

extension LogReader {
  /// The moment of a tag, or nil if there is no such tag.
  func tag(_ name: String) throws -> SequenceNumber? {
    name.utf8.count > CommitTag.nameBytesMax
      ? nil : try number("tag/\(name)").map { SequenceNumber($0) }
  }

  /// All tags, by moment and then by name. Compaction keeps the moment of each.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)`` for a damaged entry, or an impossible one.
  func tags() throws -> [CommitTag] {
    let head = try head().sequence
    var tags: [CommitTag] = []
    try forEachEntry(startingWith: CommitTag.prefix) { key, value in
      let tag = try LogReader.tag(key, value)
      guard tag.sequence <= head else {
        throw DatabaseError.corrupt(
          reason: "the tag '\(tag.name)' is of transaction \(tag.sequence), and the newest is "
            + "\(head)")
      }
      tags.append(tag)
    }
    return tags.sorted { a, b in
      (a.sequence, ByteOrder.compare(a.name, b.name)) < (b.sequence, 0)
    }
  }

  /// The tag of an entry.
  private static func tag(_ key: [UInt8], _ value: RawSpan) throws -> CommitTag {
    let count = CommitTag.prefix.count
    let name = try key.lend { try $0.string(count, key.count - count) }
    let sequence = try value.load(UInt64.self, at: 0)
    do { try CommitTag.check(name) } catch {
      throw DatabaseError.corrupt(reason: "a tag has a name that cannot be: '\(name)'")
    }
    return CommitTag(name: name, sequence: SequenceNumber(sequence))
  }
}

extension LogWriter {
  /// Names a moment, or removes the name.
  func setTag(_ name: String, to sequence: SequenceNumber?) throws {
    let entry = "tag/\(name)"
    if let sequence { return try setNumber(entry, to: sequence.rawValue) }
    try removeEntry(entry)
  }
}

extension CommitTag: CustomStringConvertible, CustomDebugStringConvertible {
  /// The name and the moment: `release at transaction 12`.
  public var description: String { "\(name) at transaction \(sequence)" }

  /// The same with the name in quotes: `CommitTag("release", 12)`.
  public var debugDescription: String { "CommitTag(\(name.debugDescription), \(sequence))" }
}
