import Cambium

/// `cambium schema`: what kinds of things a database holds, as far as it shows.
enum SchemaCommand {
  static let path = Operand.subtree("the node whose children are the collections; else the root")
  static let sample = Option(
    "sample", "N", .number(1...Int.max), "how many children of a collection to look at",
    fallback: "1000")
  static let all = Option(flag: "all", "look at all children, and at all collections")
  static let declared = Option(
    flag: "declared", "only what is declared: JSON has the whole declaration of each collection")
  static let swift = Option(flag: "swift", "print declarations of Swift structs")

  /// Without --all, no more collections than these are looked at.
  private static let collectionsMax = 100

  static let command = Command(
    name: "schema", group: .look,
    summary: "shows collections, their properties and the types of these",
    discussion: """
      Of a collection that is declared, at PATH or below it, it shows the declaration: what holds
      for each property, indexes, views, which rules only the app checks, and which migrations the
      records have behind them; and besides, which properties its records have that are not
      declared.

      Where nothing is declared, records have whatever properties were set. This looks at
      the children of the root, or of PATH, as collections, and tells which properties the records
      in each have, of which types, and in how many of them they are where not in all. Of a large
      collection it looks at a sample, half of it from each end in key order, so that what is rare
      may be missing; it says so, and --all looks at everything. Forms for programs tell of every
      collection what was seen.

      Where it did not look at everything, it tells which names the catalog has besides, which has
      those of all properties that were ever set. --swift prints the models that are declared, and
      structs to start from for what is not, in which what is not in all records is optional. Exits
      with 1 where there are no nodes to look at.
      """,
    operands: [.database, path],
    options: [sample, all, declared, .at, swift] + Option.list + [
      .wait, .progress, .noPager, .color,
    ],
    examples: [
      "cambium schema air.cambium": "what is in it?",
      "cambium schema air.cambium --all -o csv": "all of it, as a table",
      "cambium schema air.cambium --swift > Models.swift": "as Swift",
    ],
    stopsSafely: true, servings: [Serving(.get)], run: run)

  static func run(_ call: Call) throws {
    if call.has(swift), call.format != .short {
      throw Failure.usage("--swift is a form of its own", hint: "leave out --output")
    }
    if call.has(declared) { return try tellDeclared(call) }
    let list = try ListWriter(call, columns: columns)
    let bar = ProgressBar(call, unit: "nodes")
    defer { bar.finish() }
    let snapshot = try OpenDatabase.snapshot(call)
    let node = snapshot[call[path]?.path ?? .root]
    try MissingNode.check(node, snapshot, call)
    // Forms for programs list what was seen.
    let isForPeople = call.format == .short
    let declared = try snapshot.collections.filter { isForPeople && $0.path.isWithin(node.path) }
    let isDeclared = declared.contains { $0.path == node.path }
    var tick = Tick(bar, "schema")
    let seen = try declared.map { path, _ in
      try CollectionSurvey(snapshot[path], sample: sampleSize(call)) { try tick.next() }
    }
    let surveys =
      isDeclared ? [] : try surveys(of: node, except: Set(declared.map(\.path)), call, &tick)
    bar.finish()
    if surveys.isEmpty && declared.isEmpty {
      if call.format == .short { System.note("there are no nodes below") }
      throw Failure.silent(.negative)
    }
    if call.has(swift) {
      let all = try snapshot.collections
      let whole = zip(declared, seen).map { collection, survey in
        var definition = collection.definition
        definition.properties += survey.undeclared(in: definition).map(\.definition)
        return (path: collection.path, definition: definition)
      }
      return try call.output.write(SwiftDeclarations.text(surveys, whole, others: all))
    }
    if call.format != .short {
      for survey in surveys { try tell(survey, list) }
      try list.finish()
      try hintAtRest(node, call)
      return
    }
    for ((path, definition), survey) in zip(declared, seen) {
      let text = DeclarationText(
        path: path, definition: definition, count: survey.count, survey: survey)
      for line in text.lines { try call.output.line(line) }
    }
    for survey in surveys { try tell(survey, call.output) }
    if isDeclared { return }
    let known = declared.flatMap { $0.definition.properties.map(\.name) }
    try tellRest(surveys + seen, besides: known, node, snapshot, call)
  }

  /// Tells what is declared, without looking at a record.
  private static func tellDeclared(_ call: Call) throws {
    if let other = [all, swift].first(where: call.has) {
      throw Failure.usage("--declared looks at no records; leave out --\(other.name)")
    }
    let snapshot = try OpenDatabase.snapshot(call)
    let place = call[path]?.path ?? .root
    let list = try ListWriter(call, columns: ["collection", "definition"])
    let found = try snapshot.collections.filter { $0.path.isWithin(place) }
    for (path, definition) in found {
      if call.format == .short {
        let count = try snapshot[path].childCount
        let text = DeclarationText(path: path, definition: definition, count: count)
        for line in text.lines { try call.output.line(line) }
      } else {
        try list.write(["collection": path.description, "definition": definition.value])
      }
    }
    try list.finish()
    if found.isEmpty { throw Failure.silent(.negative) }
  }

  /// The number of children of a collection that are looked at; nil for all.
  private static func sampleSize(_ call: Call) -> Int? {
    call.has(all) ? nil : call.value(sample).number
  }

  private static func surveys(
    of node: Node, except declared: Set<NodePath>, _ call: Call, _ tick: inout Tick
  ) throws -> [CollectionSurvey] {
    var surveys: [CollectionSurvey] = []
    try node.children.limit(call.has(all) ? .max : collectionsMax).forEach { child in
      if declared.contains(child.path) { return }
      surveys.append(try CollectionSurvey(child, sample: sampleSize(call)) { try tick.next() })
    }
    return surveys
  }

  // MARK: For people

  private static func tell(_ survey: CollectionSurvey, _ output: Output) throws {
    var line = StyledLine(Terminal.escaped(survey.path.description), .heading)
    switch survey.own {
    case .map(let record)?:
      let members = record.members.map {
        "\(Terminal.escaped($0.name)): \(CollectionSurvey.type(of: $0.value))"
      }
      line.add("  record of \(members.isEmpty ? "nothing" : members.joined(separator: ", "))")
    case let value?: line.add("  \(CollectionSurvey.type(of: value))")
    case nil: break
    }
    if survey.count > 0 {
      line.add("  \(Quantity.count(survey.count)) \(survey.count == 1 ? "child" : "children")")
      if survey.isSampled { line.add(", \(Quantity.count(survey.seen)) looked at", .metadata) }
    }
    try output.line(line)
    let properties = survey.properties
    let names = properties.map { Terminal.escaped($0.name ?? "(no record)") }
    let width = names.map(Terminal.displayWidth).max() ?? 0
    for (property, name) in zip(properties, names) {
      var line = StyledLine("  \(Terminal.padded(name, to: width))", .metadata)
      line.add("  \(property.typeNames.joined(separator: " or "))")
      let whole = property.name == nil ? survey.seen : survey.records
      if property.present < whole {
        line.add("  in \(Quantity.count(property.present)) of \(Quantity.count(whole))", .metadata)
      }
      try output.line(line)
    }
  }

  /// Reports what was not looked at, and which names the catalog has besides.
  private static func tellRest(
    _ surveys: [CollectionSurvey], besides known: [String], _ node: Node, _ snapshot: Snapshot,
    _ call: Call
  ) throws {
    let left = try hintAtRest(node, call)
    let isWhole = !surveys.contains { $0.isSampled || $0.isDeep }
    if node.path.isRoot, left == 0, isWhole { return }
    let seen = Set(known).union(surveys.flatMap { $0.properties.compactMap(\.name) + $0.ownNames })
    let former = Set(try snapshot.collections.flatMap { $0.definition.steps.flatMap(formerNames) })
    let names = try snapshot.propertyNames.filter { seen.contains($0) || !former.contains($0) }
    let unseen = names.filter { !seen.contains($0) }
    if unseen.isEmpty { return }
    let shown = unseen.prefix(20).map { Terminal.escaped($0) }.joined(separator: ", ")
    let more = unseen.count > 20 ? ", …" : ""
    try call.output.line()
    try call.output.line(
      "\(Quantity.count(unseen.count)) of \(Quantity.count(names.count, "name")) of properties "
        + "not seen here: \(shown)\(more)")
  }

  /// The names that a step of a migration has taken out of the records.
  private static func formerNames(_ step: AppliedStep) -> [String] {
    let words = step.name.prefix { $0 != ":" }.split(separator: " ").map(String.init)
    if words.count == 2, words[1] == "removed" { return [words[0]] }
    guard words.count > 2, words[1] == "was", words[2] != "computed" else { return [] }
    let names = words[2...].map { $0.hasSuffix(",") ? String($0.dropLast()) : $0 }
    return names.filter { $0 != words[0] }
  }

  /// Says on standard error that there are more collections than were looked at, and returns how
  /// many.
  @discardableResult
  private static func hintAtRest(_ node: Node, _ call: Call) throws -> Int {
    let left = call.has(all) ? 0 : max(0, try node.childCount - collectionsMax)
    if left > 0 {
      System.note("\(Quantity.count(left)) more nodes; --all looks at all of them")
    }
    return left
  }

  // MARK: For programs

  private static let columns = ["collection", "children", "seen", "property", "types", "present"]

  /// An entry for each property; one without for a collection that has none.
  private static func tell(_ survey: CollectionSurvey, _ list: ListWriter) throws {
    var entries = survey.properties.map {
      (name: $0.name, types: $0.typeNames, present: $0.present)
    }
    if entries.isEmpty {
      let types = survey.own.map { [CollectionSurvey.type(of: $0)] } ?? []
      entries = [(name: nil, types: types, present: types.count)]
    }
    for entry in entries {
      let line: JSONLine = [
        "collection": survey.path.description, "children": survey.count, "seen": survey.seen,
        "property": entry.name, "types": entry.types, "present": entry.present,
      ]
      try list.write(line, cells: ["types": .string(entry.types.joined(separator: " "))])
    }
  }
}
