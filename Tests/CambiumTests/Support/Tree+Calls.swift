import Simulation

@testable import Cambium

// The effect of each call on the tree. Every function checks first and changes then, as the
// database must.

extension Tree {
  /// Does what a call says.
  ///
  /// - Returns: The result that the database's call should return.
  mutating func apply(_ call: Call) throws(Refusal) -> Bool {
    let before = restored.isEmpty ? [:] : nodes
    let result = try change(call)
    noteChanges(since: before)
    return result
  }

  private mutating func change(_ call: Call) throws(Refusal) -> Bool {
    switch call {
    case .set(let path, let value): try set(path, value)
    case .update(let path, let updates): try update(path, updates)
    case .change(let path, let property, let change): try self.change(path, property, change)
    case .remove(let path): return try remove(path)
    case .restore(let path, let sequence):
      if sequence > .zero, sequence <= horizon { throw .compacted }
      attach(try removal(path, at: sequence), at: path, isMove: false)
      if let node = nodes[path] { restored.insert(node.identity) }
      operationCount += 1
    case .move(let source, let destination): try move(source, to: destination)
    case .define(let name): define([name])
    case .event(let name, let payload):
      events.append(Event(name: name, payload: payload))
      operationCount += 1
    case .expect(let path, let sequence):
      if nodes[path]?.modified ?? .zero != sequence { throw .conflict }
    }
    return true
  }

  private mutating func define(_ names: some Sequence<String>) {
    for name in names where self.names.insert(name).inserted { operationCount += 1 }
  }

  private mutating func set(_ path: NodePath, _ value: Value) throws(Refusal) {
    if case .map(let record) = value {
      define(record.members.map(\.name))
      try family(around: path)
      try refuseChild(of: path, named: record.members.map(\.name))
    } else if let (record, name) = property(path) {
      return try update(record, [(name, value)])
    }
    try replace(path, value)
  }

  private mutating func replace(_ path: NodePath, _ value: Value) throws(Refusal) {
    try family(around: path)
    makeAncestors(of: path)
    let old = nodes[path]
    nodes[path] = Node(
      value: value, modified: sequence, placed: old?.placed ?? sequence, family: old?.family,
      identity: old?.identity ?? newFamily())
    operationCount += 1
  }

  private mutating func update(
    _ path: NodePath, _ updates: [(String, Value?)]
  ) throws(Refusal) {
    define(updates.map(\.0))
    var record = try record(path)
    for (name, value) in updates { record[name] = value }
    try refuseChild(of: path, named: updates.filter { $0.1 != nil }.map(\.0))
    try replace(path, .map(record))
  }

  /// The record of a node; one without a value counts as an empty record.
  private func record(_ path: NodePath) throws(Refusal) -> ValueMap {
    switch try existing(path).value {
    case nil: return ValueMap()
    case .map(let record)?: return record
    default: throw .badValue
    }
  }

  /// Changes a property, or the node's own value, which may be absent.
  private mutating func change(
    _ path: NodePath, _ property: String?, _ change: ValueChange<Value>
  ) throws(Refusal) {
    func changed(_ old: Value?) throws(Refusal) -> Value? {
      do throws(ChangeRefusal) { return try change.plainly(on: old) } catch {
        throw error == .notFound ? .notFound : .badValue
      }
    }
    guard let property else {
      try family(around: path)
      if nodes[path]?.record != nil { throw .badValue }
      guard let value = try changed(nodes[path]?.value) else { throw .notFound }
      return try replace(path, value)
    }
    define([property])
    var record = try record(path)
    record[property] = try changed(record[property])
    if record[property] != nil { try refuseChild(of: path, named: [property]) }
    try replace(path, .map(record))
  }

  // MARK: Subtrees

  private mutating func remove(_ path: NodePath) throws(Refusal) -> Bool {
    if let (record, name) = property(path) {
      try update(record, [(name, nil)])
      return true
    }
    if path.isRoot { throw .badValue }
    guard nodes[path] != nil else { return false }
    let family = try family(around: path)
    remember(try detach(path, isMove: false), from: path, family)
    operationCount += 1
    return true
  }

  private mutating func move(_ source: NodePath, to destination: NodePath) throws(Refusal) {
    if destination.isWithin(source) { throw .badValue }
    try family(around: destination)
    if nodes[destination] != nil { throw .exists }
    _ = try existing(source)
    makeAncestors(of: destination)
    let family = try family(around: source)
    let removal = try detach(source, isMove: true)
    remember(removal, from: source, family)
    attach(removal, at: destination, isMove: true)
    operationCount += 1
  }
}
