import Cambium

/// Reads the lines of `cambium apply`, each a ``ScriptedTransaction``.
///
/// An unknown member is an error, so that no misspelt condition is ignored. Members that `cambium
/// log` prints but that cannot be applied again (number, time, origin) are ignored.
struct ScriptReader: ~Copyable {
  private var reader: JSONReader
  /// Where the value starts that was read last.
  private var valueOffset: UInt64 = 0

  init(_ source: consuming ByteSource) throws {
    reader = try JSONReader(source, form: .lines, isTyped: true)
  }

  /// The line of what was read last, from 1.
  var line: Int { reader.line }

  /// Goes back to the first line.
  mutating func rewind() throws { try reader.rewind() }

  /// The next transaction; nil after the last.
  ///
  /// - Throws: ``InputError`` with the place of what is wrong; afterwards it can only be rewound.
  mutating func next() throws -> ScriptedTransaction? {
    guard let event = try reader.next() else { return nil }
    let start = reader.eventOffset
    guard event == .beginObject else {
      throw reader.error(at: start, "expected an object: a line is a transaction")
    }
    var transaction = ScriptedTransaction()
    var events: [ScriptedTransaction.Operation] = []
    var told: (operations: Int64, isWhole: Bool, hasEvents: Bool) = (0, false, false)
    while case .name(let name)? = try reader.next() {
      let place = reader.eventOffset
      switch name {
      case "metadata": transaction.metadata = try metadata()
      case "if-seq": transaction.expected = SequenceNumber(UInt64(try count(name)))
      case "operations":
        switch try reader.next() {
        case .beginArray?:
          transaction.operations += try objects { try $0.operation() }
        case .scalar(.integer(let number))?: told.operations = number
        default: throw reader.error(at: place, "expected an array of operations")
        }
      case "events":
        try expectArray(name)
        events = try objects { try $0.event() }
      case "changes":
        try expectArray(name)
        transaction.changes += try objects { try $0.change() }
        told.isWhole = true
      case "logged":
        try expectArray(name)
        transaction.operations += try objects { try $0.operation(isLogged: true) }
        (told.isWhole, told.hasEvents) = (true, true)
      case "v":
        if try count(name) != 1 {
          throw reader.error(at: valueOffset, "expected version 1, which is all that this knows")
        }
      case "sequence", "time", "origin", "erased": _ = try value()
      default: throw unknown(name, at: place)
      }
    }
    if !told.hasEvents { transaction.operations += events }
    if told.operations > transaction.operations.count && !told.isWhole {
      throw reader.error(
        at: start, "expected changes: this line tells how many operations there were, not which",
        hint: "`cambium log --patch -o json` tells the changes")
    }
    transaction.changes.sort { $0.path < $1.path }
    return transaction
  }

  private mutating func unknown(_ name: String, at place: UInt64) -> InputError {
    reader.error(
      at: place, "a transaction has no \(InputError.excerpt(name.utf8))",
      hint: "it may have metadata, if-seq, operations, events and changes")
  }

  private mutating func value() throws -> Value {
    guard let event = try reader.next() else { return .null }
    valueOffset = reader.eventOffset
    return try reader.value(from: event)
  }

  private mutating func count(_ name: String) throws -> Int64 {
    let value = try value()
    if case .integer(let number) = value, number >= 0 { return number }
    throw reader.error(at: valueOffset, "expected a number from 0 up for \(name)")
  }

  private mutating func metadata() throws -> [String: String] {
    var metadata: [String: String] = [:]
    let value = try value()
    guard case .map(let record) = value else {
      throw reader.error(at: valueOffset, "expected an object of texts for metadata")
    }
    for member in record.members {
      guard case .string(let text) = member.value else {
        throw reader.error(
          at: valueOffset, "expected text for \(InputError.excerpt(member.name.utf8))")
      }
      metadata[member.name] = text
    }
    return metadata
  }

  private mutating func expectArray(_ name: String) throws {
    let event = try reader.next()
    if event == .beginArray { return }
    throw reader.error(at: reader.eventOffset, "expected an array for \(name)")
  }

  /// Reads the objects of an array up to its end.
  private mutating func objects<T>(_ read: (inout ScriptObject) throws -> T) throws -> [T] {
    var all: [T] = []
    while let event = try reader.next(), event != .endArray {
      let place = reader.eventOffset
      let value = try reader.value(from: event)
      guard case .map(let record) = value else {
        throw reader.error(at: place, "expected an object")
      }
      do {
        var object = ScriptObject(record)
        all.append(try read(&object))
        try object.finish()
      } catch let problem as ScriptObject.Problem {
        throw reader.error(at: place, problem.reason, hint: problem.hint)
      } catch let error as DatabaseError {
        throw reader.error(at: place, Failure(error, database: nil).message ?? "\(error)")
      }
    }
    return all
  }
}

/// The members of an object in a script; each is taken once.
struct ScriptObject {
  /// An error in a script's object, with a hint where there is a remedy.
  struct Problem: Error {
    let reason: String
    var hint: String?
  }

  private var members: [String: Value] = [:]

  init(_ record: ValueMap) {
    for member in record.members { members[member.name] = member.value }
  }

  /// Checks that all were taken.
  func finish() throws {
    guard let name = members.keys.min() else { return }
    throw Problem(reason: "\(InputError.excerpt(name.utf8)) has no meaning here")
  }

  // MARK: Operations

  /// An operation: its `op`, and what belongs to it.
  /// One that is logged may take a node's value away: a `set` without a value.
  mutating func operation(isLogged: Bool = false) throws -> ScriptedTransaction.Operation {
    let name = try text("op")
    if let change = ValueChangeName(rawValue: name) { return try self.change(change) }
    switch name {
    case "set" where isLogged && members["value"] == nil: return .clear(try path())
    case "set": return .set(try path(), try value("value"))
    case "update": return .update(try path(), try properties())
    case "remove": return .remove(try path())
    case "restore": return .restore(try path(), removedAt: try sequence("removedAt"))
    case "move": return .move(try path(), to: try path("to"))
    case "event": return try event()
    case "define": return .define(try text("name"))
    case "declare": return .declare(try path(), try take("definition").map(definition))
    case "expect": return .expect(try path(), at: try sequence("sequence"))
    default:
      throw Problem(
        reason: "there is no operation \(InputError.excerpt(name.utf8))",
        hint: Suggestion.nearest(to: name, in: ScriptObject.names).map { "did you mean \($0)?" }
          ?? "there are \(ScriptObject.names.joined(separator: ", "))")
    }
  }

  private static let names =
    ["set", "update"] + ValueChangeName.allCases.map(\.rawValue)
    + ["remove", "restore", "move", "event", "define", "declare", "expect"]

  /// A change of a value in place; a step is 1 where it says nothing else.
  private mutating func change(_ name: ValueChangeName) throws -> ScriptedTransaction.Operation {
    if name.isStep, members["by"] == nil { members["by"] = 1 }
    let (path, property) = (try path(), try property())
    let change = try ValueChange(
      name, key: try text("key"), position: UInt64(try number("at")),
      payload: try value(name.payload))
    if property == nil, change.key != nil { throw Problem(reason: "property is missing") }
    return .change(path, property, change)
  }

  mutating func event() throws -> ScriptedTransaction.Operation {
    .event(try text("name"), take("payload") ?? .null)
  }

  private func definition(_ value: Value) throws -> CollectionDefinition {
    do {
      return try CollectionDefinition(value)
    } catch DatabaseError.corrupt(let reason) {
      throw Problem(reason: reason, hint: "log --patch -o json shows what a declaration looks like")
    }
  }

  mutating func change() throws -> ScriptedTransaction.Change {
    .init(path: try path(), old: take("old"), new: take("new"))
  }

  // MARK: Its members

  private mutating func take(_ name: String) -> Value? { members.removeValue(forKey: name) }

  private mutating func value(_ name: String) throws -> Value {
    if let value = take(name) { return value }
    throw Problem(reason: "\(name) is missing")
  }

  private mutating func text(_ name: String) throws -> String {
    if case .string(let text) = try value(name) { return text }
    throw Problem(reason: "\(name) is no text")
  }

  private mutating func path(_ name: String = "path") throws -> NodePath {
    try NodePath(try text(name))
  }

  private mutating func property() throws -> String? {
    members["property"] == nil ? nil : try text("property")
  }

  private mutating func number(_ name: String) throws -> Int {
    if case .integer(let number) = try value(name), number >= 0 { return Int(number) }
    throw Problem(reason: "\(name) is no number from 0 up")
  }

  private mutating func sequence(_ name: String) throws -> SequenceNumber {
    SequenceNumber(UInt64(try number(name)))
  }

  /// New values by name, and nil for those that are taken out.
  private mutating func properties() throws -> [(String, Value?)] {
    var properties: [(String, Value?)] = []
    guard case .map(let record) = take("set") ?? .map([:]) else {
      throw Problem(reason: "set is no object")
    }
    properties += record.members.map { ($0.name, $0.value) }
    guard case .array(let gone) = take("unset") ?? .array([]) else {
      throw Problem(reason: "unset is no array of names")
    }
    for name in gone {
      guard case .string(let name) = name else {
        throw Problem(reason: "unset is no array of names")
      }
      properties.append((name, nil))
    }
    if properties.isEmpty { throw Problem(reason: "an update needs set, or unset") }
    return properties
  }
}
