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
    case .increment(let path, let property, let step):
      try change(path, property) { (old) throws(Refusal) in try sum(old ?? 0, step) }
    case .append(let element, let path, let property):
      try change(path, property) { (old) throws(Refusal) in
        .array(try elements(old ?? []) + [element])
      }
    case .insert(let element, let position, let path, let property):
      try insert(element, position, path, property)
    case .removeElement(let position, let path, let property):
      try removeElement(position, path, property)
    case .include, .exclude, .setEntry, .incrementEntry: try changePart(call)
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

  private mutating func set(_ path: Path, _ value: Value) throws(Refusal) {
    if case .map(let record) = value {
      define(record.members.map(\.name))
      try family(around: path)
      try refuseChild(of: path, named: record.members.map(\.name))
    } else if let (record, name) = property(path) {
      return try update(record, [(name, value)])
    }
    try replace(path, value)
  }

  private mutating func replace(_ path: Path, _ value: Value) throws(Refusal) {
    try family(around: path)
    makeAncestors(of: path)
    let old = nodes[path]
    nodes[path] = Node(
      value: value, modified: sequence, placed: old?.placed ?? sequence, family: old?.family,
      identity: old?.identity ?? newFamily())
    operationCount += 1
  }

  private mutating func update(
    _ path: Path, _ updates: [(String, Value?)]
  ) throws(Refusal) {
    define(updates.map(\.0))
    var record = try record(path)
    for (name, value) in updates { record[name] = value }
    try refuseChild(of: path, named: updates.filter { $0.1 != nil }.map(\.0))
    try replace(path, .map(record))
  }

  /// The record of a node; one without a value counts as an empty record.
  private func record(_ path: Path) throws(Refusal) -> Record {
    switch try existing(path).value {
    case nil: return Record()
    case .map(let record)?: return record
    default: throw .badValue
    }
  }

  /// Changes a property, or the node's own value, which may be absent.
  private mutating func change(
    _ path: Path, _ property: String?, _ transform: (Value?) throws(Refusal) -> Value?
  ) throws(Refusal) {
    guard let property else {
      try family(around: path)
      if nodes[path]?.record != nil { throw .badValue }
      guard let value = try transform(nodes[path]?.value) else { throw .notFound }
      return try replace(path, value)
    }
    define([property])
    var record = try record(path)
    record[property] = try transform(record[property])
    if record[property] != nil { try refuseChild(of: path, named: [property]) }
    try replace(path, .map(record))
  }

  // MARK: Sets and dictionaries

  private mutating func changePart(_ call: Call) throws(Refusal) {
    switch call {
    case .include(let element, let path, let property):
      try change(path, property) { (old) throws(Refusal) in
        let elements = try elements(old.orEmpty([]))
        return .array(elements.contains(element) ? elements : sorted(element, into: elements))
      }
    case .exclude(let element, let path, let property):
      try change(path, property) { (old) throws(Refusal) in
        if old == nil || old == .null { return old }
        return .array(try elements(old.orEmpty([])).filter { $0 != element })
      }
    case .setEntry(let path, let property, let key, let value):
      try change(path, property) { (old) throws(Refusal) in
        if value == nil, old == nil || old == .null { return old }
        guard case .map(var record) = old.orEmpty([:]) else { throw .badValue }
        record[key] = value
        return .map(record)
      }
    case .incrementEntry(let path, let property, let key, let step):
      try change(path, property) { (old) throws(Refusal) in
        guard case .map(var record) = old.orEmpty([:]) else { throw .badValue }
        record[key] = try sum(record[key] ?? 0, step)
        return .map(record)
      }
    default: break
    }
  }

  // MARK: Arrays

  private mutating func insert(
    _ element: Value, _ position: Int, _ path: Path, _ property: String?
  ) throws(Refusal) {
    try refuse(negative: position, property)
    try change(path, property) { (old) throws(Refusal) in
      var elements = try elements(old ?? [])
      guard (0...elements.count).contains(position) else { throw .notFound }
      elements.insert(element, at: position)
      return .array(elements)
    }
  }

  private mutating func removeElement(
    _ position: Int, _ path: Path, _ property: String?
  ) throws(Refusal) {
    try refuse(negative: position, property)
    try change(path, property) { (old) throws(Refusal) in
      guard let old else { throw .notFound }
      var elements = try elements(old)
      guard elements.indices.contains(position) else { throw .notFound }
      elements.remove(at: position)
      return .array(elements)
    }
  }

  private mutating func refuse(negative position: Int, _ property: String?) throws(Refusal) {
    if position >= 0 { return }
    if let property { define([property]) }
    throw .notFound
  }

  // MARK: Subtrees

  private mutating func remove(_ path: Path) throws(Refusal) -> Bool {
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

  private mutating func move(_ source: Path, to destination: Path) throws(Refusal) {
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

extension Value? {
  /// The value, or another in the place of none and of null.
  fileprivate func orEmpty(_ empty: Value) -> Value {
    guard let self, self != .null else { return empty }
    return self
  }
}

/// An array with an element before the first whose bytes are greater.
private func sorted(_ element: Value, into elements: [Value]) -> [Value] {
  func bytes(_ value: Value) -> [UInt8] { (try? value.stored()) ?? [] }
  let own = bytes(element)
  let before = elements.prefix { !own.lexicographicallyPrecedes(bytes($0)) }
  return before + [element] + elements.dropFirst(before.count)
}

/// The elements of an array.
private func elements(_ value: Value) throws(Refusal) -> [Value] {
  guard case .array(let elements) = value else { throw .badValue }
  return elements
}

/// The sum of two numbers; a double makes it a double.
private func sum(_ a: Value, _ b: Value) throws(Refusal) -> Value {
  switch (a, b) {
  case (.integer(let a), .integer(let b)):
    let (sum, overflow) = a.addingReportingOverflow(b)
    if overflow { throw .badValue }
    return .integer(sum)
  case (.double(let a), .double(let b)): return .double(a + b)
  case (.integer(let a), .double(let b)): return .double(Double(a) + b)
  case (.double(let a), .integer(let b)): return .double(a + Double(b))
  default: throw .badValue
  }
}
