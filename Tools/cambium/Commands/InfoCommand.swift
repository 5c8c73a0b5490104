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

      Space is not used again while somebody reads a moment that needs it: --readers lists who does.
      After damage the state is made again from the newest of --checkpoints and the log.
      """,
    operands: [.database],
    options: [by, depth, groups, readers, checkpoints] + Option.list + [
      .wait, .progress, .quiet, .color,
    ],
    examples: [
      "cambium info air.cambium": "an overview",
      "cambium info air.cambium --by collection": "what takes the room?",
      "cambium info air.cambium --by collection,property -o csv": "and which property of it",
    ],
    stopsSafely: true,
    servings: [
      Serving(.get, without: lists.map(\.name)), serving(readers), serving(checkpoints),
    ], run: run)

  static func run(_ call: Call) throws {
    try checkLists(call)
    let criteria = try call[by].map { try self.criteria($0.text) }
    let database = try OpenDatabase.forReading(call)
    if let criteria { return try tell(criteria, of: database, call) }
    if call.has(readers) { return try tell(readersOf: database, call) }
    if call.has(checkpoints) { return try tell(checkpointsOf: database, call) }
    let information = try database.information()
    guard call.format == .short else {
      // Who asks from elsewhere has no business with the folders of this machine.
      let name = URL(filePath: database.path).lastPathComponent
      return try list(information, call.served == nil ? database.path : name, call)
    }
    try call.output.line(StyledLine(Terminal.escaped(database.path), .heading))
    try call.output.table(overview(information), indent: 2)
    for part in ["log", "state"] {
      try call.output.line()
      try writeTables(information.tables.filter { $0.environment == part }, of: part, call.output)
    }
  }

  // MARK: For people

  private static func overview(_ information: Information) -> Entries {
    let (head, zone) = (information.head, Zone.system)
    let behind = information.applied < head ? ", of which the state has \(information.applied)" : ""
    let baseline = Quantity.bytes(information.baselineBytes)
    let entries: Entries = [
      "transactions": Quantity.count(head.rawValue) + behind,
      "nodes": "\(Quantity.count(information.nodes)), those below removed ones included",
      "versions": "\(Quantity.count(information.versions)) that were replaced or removed",
      "properties": "\(Quantity.count(information.names)) names",
      "recorded": information.times.map {
        "\(zone.textWithOffset($0.first)) to \(zone.textWithOffset($0.last))"
      },
      "created": zone.textWithOffset(information.created),
      "origin": information.origin.uuidString.lowercased(), "format": "\(information.format)",
      "log": Quantity.bytes(information.logBytes),
      "tail": information.tail.map { tail in
        "\(Quantity.bytes(UInt64(tail.bytes))); it has "
          + Quantity.count(tail.transactions, "transaction") + " that the log's file gets later"
      },
      "state": "\(Quantity.bytes(information.stateBytes)), generation \(information.generation)",
      "checkpoint": information.checkpoint.map {
        "\(Quantity.bytes($0.bytes)), as of \($0.sequence)"
      },
      "horizon": information.horizon > .zero
        ? "\(information.horizon), from a baseline of \(baseline)" : nil,
      "archived": information.archived.map { "\($0.lowerBound) to \($0.upperBound)" },
      "leases": information.leases.map { leases in
        "\(Quantity.count(leases.count, "blob")), the last until "
          + zone.textWithOffset(leases.last)
      },
      "policy": information.retention.keepsEverything ? nil : information.retention.text,
      "scrubbed": information.lastScrub.map { scrub in
        let found = scrub.stateDamage.count + scrub.logDamage.count
        let text = found == 0 ? "nothing found" : "\(found) damages found"
        return "\(zone.textWithOffset(scrub.ended)), \(text)"
      },
    ]
    return entries + Entries(information.uploads.map(upload))
      + Entries(
        information.consumers.map { consumer in
          let left = head.rawValue - min(head.rawValue, consumer.position.rawValue)
          let lag = left == 0 ? "" : ", \(Quantity.count(left)) behind"
          return ("consumer", "\(Terminal.escaped(consumer.name)) at \(consumer.position)\(lag)")
        })
  }

  private static func upload(_ upload: UnfinishedUpload) -> (String, String) {
    let size = upload.size.map { " of \(Quantity.bytes($0))" } ?? ""
    return (
      "upload",
      "\(Terminal.escaped(upload.name)), \(Quantity.bytes(upload.received))\(size), kept until "
        + Zone.system.textWithOffset(upload.expiry)
    )
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
  private static func list(_ information: Information, _ path: String, _ call: Call) throws {
    let object = json(information, path)
    let writer = try ListWriter(call, columns: ["name", "value"], further: object.names)
    if call.format.isJSON {
      try writer.write(object)
    } else {
      for entry in overview(information).all {
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
      "logBytes": information.logBytes, "tailBytes": information.tail?.bytes,
      "tailTransactions": information.tail?.transactions, "stateBytes": information.stateBytes,
      "checkpoint": information.checkpoint?.sequence,
      "checkpointBytes": information.checkpoint?.bytes, "horizon": information.horizon,
      "baselineBytes": information.baselineBytes,
      "archivedFirst": information.archived?.lowerBound,
      "archivedLast": information.archived?.upperBound,
      "scrubbed": information.lastScrub?.ended, "scrubDamage": damage,
      "tables": information.tables.map(json),
      "consumers": information.consumers.map(json), "leases": information.leases?.count,
      "lastLease": information.leases?.last,
      "oldestSnapshot": information.oldestSnapshot?.seconds,
      "uploads": information.uploads.isEmpty ? nil : information.uploads.map(json),
    ]
  }

  private static func json(_ upload: UnfinishedUpload) -> JSONLine {
    [
      "id": upload.id, "name": upload.name, "type": upload.type, "received": upload.received,
      "size": upload.size, "expires": upload.expiry,
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
