// Whole values out of the steps of a reader, with a stack of its own: how deep the input nests does
// not matter to the program's.

extension JSONReader {
  /// The next whole value; nil at the end of the input.
  package mutating func value() throws(InputError) -> Value? {
    guard let event = try next() else { return nil }
    return try value(from: event)
  }

  /// The whole value that starts with the event that ``next()`` has just given.
  ///
  /// - Precondition: The event starts a value: it is no name and no end.
  package mutating func value(from event: JSONEvent) throws(InputError) -> Value {
    var open: [Unfinished] = []
    var event = event
    while true {
      if let value = try step(event, &open) {
        if open.isEmpty { return value }
        open[open.count - 1].values.append(value)
      }
      guard let following = try next() else {
        throw error(at: eventOffset, "expected more of this value, found the end of the input")
      }
      event = following
    }
  }

  /// Reads a text that is one JSON value, such as an argument.
  package static func value(
    of text: String, name: String, isTyped: Bool = true, digits: JSONReader.Digits = .rounded
  ) throws(InputError) -> Value {
    let source = ByteSource(bytes: Array(text.utf8), name: name, bufferBytes: text.utf8.count + 1)
    var reader = try JSONReader(source, isTyped: isTyped, digits: digits)
    let value = try reader.value() ?? .null
    _ = try reader.next()
    return value
  }

  /// An array or map of which the end is still to come.
  private struct Unfinished {
    let isMap: Bool
    var names: [String] = []
    var values: [Value] = []

    var value: Value {
      if !isMap { return .array(values) }
      let members = zip(names, values).map { ValueMap.Member($0, $1) }
      return .map(
        ValueMap(sorted: members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }))
    }
  }

  /// Takes a step; gives a value if that completes one.
  private mutating func step(
    _ event: JSONEvent, _ open: inout [Unfinished]
  ) throws(InputError) -> Value? {
    switch event {
    case .scalar(let value): return value
    case .name(let name): open[open.count - 1].names.append(name)
    case .endArray, .endObject: return open.removeLast().value
    case .beginArray, .beginObject:
      if open.count == Value.nestingMax {
        throw error(
          at: eventOffset,
          "expected at most \(open.count) levels of nesting in one value, found one more",
          hint: "import deeper data as child nodes")
      }
      open.append(Unfinished(isMap: event == .beginObject))
    }
    return nil
  }
}
