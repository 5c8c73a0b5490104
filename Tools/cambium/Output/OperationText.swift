import Cambium

/// The text of transactions, operation by operation, where their changes can no longer be read.
///
///     set users/ada  born 1815  name Ada
///     update users/ada  born 1816  -mail
///     remove users/ada/tags
enum OperationText {
  /// Writes the operations of a transaction for people; definitions of names say nothing to them.
  static func write(_ commit: Commit, indent: Int = 0, _ output: Output) throws {
    for operation in try commit.operations() {
      guard let (name, items) = parts(operation) else { continue }
      let head = StyledLine(spaces: indent) + StyledLine(name, .updated)
      for line in StyledLine.filled(head, items, columns: output.columns) {
        try output.line(line.text(output.style))
      }
    }
  }

  private static func parts(_ operation: LoggedOperation) -> (String, [StyledLine])? {
    switch operation {
    case .set(let path, .map(let record)?):
      ("set \(text(path))", ValueText.properties(record))
    case .set(let path, let value):
      ("set \(text(path))", [StyledLine(value.map { ValueText.short($0) } ?? "no value")])
    case .update(let path, let updates):
      (
        "update \(text(path))", updates.map { item($0.property, $0.value) }
      )
    case .change(let path, let property, let change):
      ("\(change.words) \(text(path, property))", items(change))
    case .remove(let path): ("remove \(text(path))", [])
    case .restore(let path, let sequence):
      ("restore \(text(path))", [StyledLine("of tx \(sequence)")])
    case .move(let source, let destination):
      ("move \(text(source))", [StyledLine("to \(text(destination))")])
    case .event(let event):
      ("event \(Terminal.escaped(event.name))", [StyledLine(ValueText.short(event.payload))])
    case .declare(let path, nil): ("take back the declaration of \(text(path))", [])
    case .declare(let path, let definition?):
      ("declare \(text(path))", [StyledLine(summary(definition))])
    case .define: nil
    }
  }

  /// The part that a change names, and its payload.
  private static func items(_ change: ValueChange<Value>) -> [StyledLine] {
    let amount = change.payload.map { (change.name.isStep ? "by " : "") + ValueText.short($0) }
    if let key = change.key {
      guard change.name.isStep, let amount else { return [item(key, change.payload)] }
      return [StyledLine("\(Terminal.escaped(key)) \(amount)")]
    }
    let place = change.payload == nil ? nil : change.position.map { "at \($0)" }
    return [place, amount].compactMap { $0.map { StyledLine($0) } }
  }

  private static func summary(_ definition: CollectionDefinition) -> String {
    let properties = definition.properties.count
    let indexes = definition.indexes.count
    return [
      "\(Quantity.count(properties)) \(properties == 1 ? "property" : "properties")",
      "\(Quantity.count(indexes)) \(indexes == 1 ? "index" : "indexes")",
      Quantity.count(definition.views.count, "view"),
    ].joined(separator: ", ")
  }

  private static func item(_ name: String, _ value: Value?) -> StyledLine {
    let name = Terminal.escaped(name)
    guard let value else { return StyledLine("-\(name)", .deleted) }
    return StyledLine("\(name) ", .metadata) + ValueText.short(value)
  }

  private static func text(_ path: NodePath, _ property: String? = nil) -> String {
    let path = property.map { "\(path.description)/\(NodePath.escaped($0))" } ?? path.description
    return Terminal.escaped(path.isEmpty ? "/" : path)
  }

  /// The operations as objects of JSON, all of them.
  static func json(_ commit: Commit) throws -> [JSONLine] { try commit.operations().map(json) }

  private static func json(_ operation: LoggedOperation) -> JSONLine {
    switch operation {
    case .set(let path, let value):
      return ["op": "set", "path": path.description, "value": value]
    case .update(let path, let updates):
      let set = updates.compactMap { update in
        update.value.map { (name: update.property, value: $0) }
      }
      let gone = updates.filter { $0.value == nil }.map(\.property)
      return [
        "op": "update", "path": path.description, "set": Value.map(ValueMap(set)),
        "unset": gone.isEmpty ? nil : gone,
      ]
    case .change(let path, let property, let change):
      return [
        "op": change.name.rawValue, "path": path.description, "property": property,
        "key": change.key, "at": change.position, change.name.payload: change.payload,
      ]
    case .remove(let path): return ["op": "remove", "path": path.description]
    case .restore(let path, let sequence):
      return ["op": "restore", "path": path.description, "removedAt": sequence]
    case .move(let source, let destination):
      return ["op": "move", "path": source.description, "to": destination.description]
    case .define(let name): return ["op": "define", "name": name]
    case .event(let event): return ["op": "event", "name": event.name, "payload": event.payload]
    case .declare(let path, let definition):
      let value = try? definition?.value
      return ["op": "declare", "path": path.description, "definition": value]
    }
  }
}
