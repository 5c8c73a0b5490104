// The whole content of a database, as JSON lines in ASCII, so that no editor or tool changes a byte
// of it. Each value is an array that begins with its kind.

import FoundationEssentials

@testable import Cambium

struct FixtureDump {
  private(set) var lines: [String] = []

  init(_ database: Database) throws {
    let information = try database.information()
    add([
      // The format that it was written in: the first opening for writing raises it.
      ("format", "1"), ("origin", text(information.origin.uuidString)),
      ("created", "\(information.created.microseconds)"), ("head", "\(information.head)"),
      ("names", array(try database.read { try $0.names.names.map(text) })),
    ])
    add([
      ("mailer", "\(try database.consumer("mailer").position())"),
      ("import", "\(try database.cursor("import") ?? 0)"),
    ])
    try addCommits(database)
    for moment in FixtureContent.moments { try addTree(database, SequenceNumber(moment)) }
    try addBlobs(database)
    add([("digest", text(try database.verify().digest.hex))])
  }

  private mutating func add(_ members: [(name: String, json: String)]) {
    lines.append("{\(members.map { "\(text($0.name)): \($0.json)" }.joined(separator: ", "))}")
  }

  private mutating func addCommits(_ database: Database) throws {
    var commits = try database.commits()
    while let commit = try commits.next() {
      let record = try database.directory.log.read { try $0.record(commit.sequence) }
      let metadata = commit.metadata.map { (Array($0.key.utf8), $0.key, $0.value) }
        .sorted { $0.0.lexicographicallyPrecedes($1.0) }
      add([
        ("transaction", "\(commit.sequence)"), ("time", "\(commit.time.microseconds)"),
        ("clock", "\(record.clock.rawValue)"), ("link", text(record.link.hex)),
        ("metadata", array(metadata.flatMap { [text($0.1), text($0.2)] })),
        ("operations", "\(commit.operationCount)"),
        ("events", array(commit.events.map { array([text($0.name), json(of: $0.payload)]) })),
      ])
      for change in try commit.changes.fetch() {
        add([
          ("change", "\(commit.sequence)"), ("path", text(change.path.description)),
          ("old", change.old.map { json(of: $0) } ?? "[]"),
          ("new", change.new.map { json(of: $0) } ?? "[]"),
        ])
      }
    }
  }

  private mutating func addTree(_ database: Database, _ moment: SequenceNumber) throws {
    let snapshot = try database.snapshot(at: .sequence(moment))
    var nodes = try snapshot.root.descendants()
    while let node = try nodes.next() {
      add([
        ("at", "\(moment)"), ("path", text(node.path.description)),
        ("value", try node.value.map { json(of: $0) } ?? "[]"),
        ("modified", "\(try node.modified ?? .zero)"), ("children", "\(try node.childCount)"),
      ])
    }
  }

  private mutating func addBlobs(_ database: Database) throws {
    let snapshot = try database.snapshot()
    var blobs = try snapshot["blobs"].children.makeCursor()
    while let node = try blobs.next() {
      guard case .blob(let blob)? = try node.value else { continue }
      let digest = Digest()
      var count = 0
      try snapshot.read(blob) { chunk in
        count += chunk.count
        digest.update([UInt8](chunk))
      }
      add([
        ("blob", text(blob.hash.hex)), ("bytes", "\(count)"),
        ("content", text(digest.current().hex)),
      ])
    }
  }
}

// MARK: JSON

/// A JSON string in ASCII.
private func text(_ string: String) -> String {
  var json = "\""
  for unit in string.utf16 {
    switch unit {
    case 0x22, 0x5C: json += "\\\(Character(Unicode.Scalar(UInt8(unit))))"
    case 0x20..<0x7F: json.append(Character(Unicode.Scalar(UInt8(unit))))
    default: json += "\\u" + [UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit)].hex
    }
  }
  return json + "\""
}

private func array(_ elements: [String]) -> String { "[\(elements.joined(separator: ", "))]" }

private func json(of value: Value) -> String {
  switch value {
  case .null: array([text("null")])
  case .bool(let value): array([text("bool"), "\(value)"])
  case .integer(let value): array([text("integer"), text("\(value)")])
  case .double(let value): array([text("double"), text(String(value.bitPattern, radix: 16))])
  case .string(let value): array([text("string"), text(value)])
  case .data(let value): array([text("data"), text(Array(value).hex)])
  case .date(let value): array([text("date"), "\(value.microseconds)"])
  case .uuid(let value): array([text("uuid"), text(value.uuidString)])
  case .decimal(let value): array([text("decimal"), text(value.description)])
  case .array(let elements): array([text("array")] + elements.map { json(of: $0) })
  case .map(let record):
    array([text("map")] + record.members.flatMap { [text($0.name), json(of: $0.value)] })
  case .reference(let path): array([text("reference"), text(path.description)])
  case .blob(let blob): array([text("blob"), text(blob.hash.hex), "\(blob.size)"])
  }
}
