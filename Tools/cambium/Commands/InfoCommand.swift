import Cambium
import FoundationEssentials

/// `cambium info`: what a database holds, and how large it is.
enum InfoCommand {
  static let command = Command(
    name: "info", group: .look,
    summary: "says what a database holds, and what its bytes are",
    discussion: """
      Without --by it reads a few pages, whatever the size of the database.

      With --by all bytes of all files are told apart: by collection (the first key of a path, or
      the first --depth keys), property, age of the transaction that wrote them, table, or
      environment; by several, separated by commas, together. What they have in all is what the
      files have. For collection, property and age the whole database is read. Archived records are
      compressed together, so their bytes are shared out as they were before.
      """,
    operands: [.database],
    options: [by, depth, groups] + Option.list + [.wait, .progress, .quiet, .color],
    examples: [
      .init("cambium info air.cambium", "an overview"),
      .init("cambium info air.cambium --by collection", "what takes the room?"),
      .init("cambium info air.cambium --by collection,property -o csv", "and which property of it"),
    ],
    stopsSafely: true, run: run)

  static func run(_ invocation: Invocation, _ output: Output) throws {
    let criteria = try invocation[by].map { try self.criteria($0.text) }
    let database = try OpenDatabase.forReading(invocation)
    defer { try? database.close() }
    if let criteria { return try tell(criteria, of: database, invocation, output) }
    let information = try database.information()
    guard invocation.format == .short else {
      return try list(information, database.path, invocation, output)
    }
    try output.line(StyledLine(Terminal.escaped(database.path), .heading))
    try output.table(overview(information), indent: 2)
    for part in ["log", "state"] {
      try output.line()
      try writeTables(information.tables.filter { $0.environment == part }, of: part, output)
    }
  }

  // MARK: For people

  private static func overview(_ information: Information) -> [(name: String, text: String)] {
    let head = information.head
    let behind =
      information.applied < head ? ", of which the state has \(information.applied)" : ""
    var entries = [
      ("transactions", Quantity.count(head.rawValue) + behind),
      ("nodes", "\(Quantity.count(information.nodes)), those below removed ones included"),
      ("versions", "\(Quantity.count(information.versions)) that were replaced or removed"),
      ("properties", "\(Quantity.count(information.names)) names"),
    ]
    if let times = information.times {
      let zone = Zone.system
      entries.append(
        (
          "recorded",
          "\(zone.textWithOffset(times.first)) to \(zone.textWithOffset(times.last))"
        ))
    }
    entries += [
      ("created", Zone.system.textWithOffset(information.created)),
      ("origin", information.origin.uuidString.lowercased()),
      ("format", "\(information.format)"),
      ("log", Quantity.bytes(information.logBytes)),
      ("state", "\(Quantity.bytes(information.stateBytes)), generation \(information.generation)"),
    ]
    if let checkpoint = information.checkpoint {
      entries.append(
        ("checkpoint", "\(Quantity.bytes(checkpoint.bytes)), as of \(checkpoint.sequence)"))
    }
    if information.horizon > .zero {
      entries.append(
        (
          "horizon",
          "\(information.horizon), from a baseline of \(Quantity.bytes(information.baselineBytes))"
        ))
    }
    if let archived = information.archived {
      entries.append(("archived", "\(archived.lowerBound) to \(archived.upperBound)"))
    }
    if !information.retention.keepsEverything {
      entries.append(("policy", information.retention.text))
    }
    if let scrub = information.lastScrub {
      let found = scrub.stateDamage.count + scrub.logDamage.count
      let text = found == 0 ? "nothing found" : "\(found) damages found"
      entries.append(("scrubbed", "\(Zone.system.textWithOffset(scrub.ended)), \(text)"))
    }
    for consumer in information.consumers {
      let left = head.rawValue - min(head.rawValue, consumer.position.rawValue)
      let lag = left == 0 ? "" : ", \(Quantity.count(left)) behind"
      entries.append(
        ("consumer", "\(Terminal.escaped(consumer.name)) at \(consumer.position)\(lag)"))
    }
    return entries.map { (name: $0, text: $1) }
  }

  private static func writeTables(
    _ tables: [Information.Table], of part: String, _ output: Output
  ) throws {
    var head = StyledLine("  " + Terminal.padded(part, to: 12), .heading)
    head.add(Terminal.padded("entries", to: 14, leading: true), .metadata)
    head.add(Terminal.padded("bytes", to: 12, leading: true), .metadata)
    try output.line(head)
    for table in tables where table.entries > 0 {
      let entries = Terminal.padded(Quantity.count(table.entries), to: 14, leading: true)
      let bytes = Terminal.padded(Quantity.bytes(table.bytes), to: 12, leading: true)
      try output.line("  \(Terminal.padded(table.name, to: 12))\(entries)\(bytes)")
    }
  }

  // MARK: For programs

  /// One object of JSON, or rows, with the content of the overview.
  private static func list(
    _ information: Information, _ path: String, _ invocation: Invocation, _ output: Output
  ) throws {
    let object = json(information, path)
    let writer = try ListWriter(
      invocation, output, columns: ["name", "value"], further: object.names)
    if invocation.format.isJSON {
      try writer.write(object)
    } else {
      for entry in overview(information) {
        try writer.write(["name": entry.name, "value": entry.text])
      }
    }
    try writer.finish()
  }

  private static func json(_ information: Information, _ path: String) -> JSONLine {
    let damage = information.lastScrub.map { $0.stateDamage + $0.logDamage }
    return [
      "path": path, "format": information.format, "origin": information.origin,
      "created": information.created, "head": information.head, "applied": information.applied,
      "first": information.times?.first, "last": information.times?.last,
      "generation": information.generation, "nodes": information.nodes,
      "versions": information.versions, "names": information.names,
      "logBytes": information.logBytes, "stateBytes": information.stateBytes,
      "checkpoint": information.checkpoint?.sequence,
      "checkpointBytes": information.checkpoint?.bytes, "horizon": information.horizon,
      "baselineBytes": information.baselineBytes,
      "archivedFirst": information.archived?.lowerBound,
      "archivedLast": information.archived?.upperBound,
      "scrubbed": information.lastScrub?.ended, "scrubDamage": damage,
      "tables": information.tables.map(json),
      "consumers": information.consumers.map(json),
    ]
  }

  private static func json(_ table: Information.Table) -> JSONLine {
    [
      "environment": table.environment, "name": table.name, "entries": table.entries,
      "bytes": table.bytes, "depth": table.depth, "branchPages": table.branchPages,
      "leafPages": table.leafPages, "overflowPages": table.overflowPages,
    ]
  }

  private static func json(_ consumer: (name: String, position: SequenceNumber)) -> JSONLine {
    ["name": consumer.name, "position": consumer.position]
  }
}
