// The texts of logged operations: a verb, the place, and the values.

extension LoggedOperation: CustomStringConvertible, CustomDebugStringConvertible {
  /// The operation at a glance: `set users/ada to {born: 1815}`, `update users/ada {born: 1816}`,
  /// `change visits of users/ada: increment by 1`, `move a to b`. What is long is cut.
  public var description: String {
    switch self {
    case .set(let path, let value): "set \(path.inWords) to \(value?.brief ?? "nothing")"
    case .update(let path, let updates): "update \(path.inWords) \(LoggedOperation.brief(updates))"
    case .change(let path, let property, let change):
      "change \(property.map { "\($0) of " } ?? "")\(path.inWords): \(change)"
    case .event(let event): "log \(event)"
    default: words
    }
  }

  /// The operation with whole values, in the query language, and with the whole declaration.
  public var debugDescription: String {
    switch self {
    case .set(let path, let value?): "set \(path.inWords) to \(value.literal)"
    case .update(let path, let updates):
      "update \(path.inWords) {"
        + updates.map { "\($0.property.debugDescription): \($0.value.literalOrNil)" }
        .joined(separator: ", ") + "}"
    case .change(let path, let property, let change):
      "change \(property.map { "\($0.debugDescription) of " } ?? "")\(path.inWords): "
        + change.debugDescription
    case .event(let event): "log \(event.debugDescription)"
    case .declare(let path, let definition?):
      "declare \(path.inWords) \((try? definition.value)?.literal ?? "")"
    default: description
    }
  }

  /// The text of operations that have no value.
  private var words: String {
    switch self {
    case .remove(let path): "remove \(path.inWords)"
    case .restore(let path, let sequence):
      "restore \(path.inWords), removed by transaction \(sequence)"
    case .move(let source, let destination): "move \(source.inWords) to \(destination.inWords)"
    case .define(let name): "define \(ConditionText.name(name))"
    case .declare(let path, let definition):
      definition == nil
        ? "take back the declaration of \(path.inWords)" : "declare \(path.inWords)"
    default: ""
    }
  }

  private static func brief(_ updates: [Update]) -> String {
    var text = BriefText()
    text.list("{", updates, "}") { text, update in
      text.append(update.property, to: update.value)
    }
    return text.text
  }
}

extension LoggedOperation.Update: CustomStringConvertible, CustomDebugStringConvertible {
  /// The property and its new value at a glance: `born: 1816`, `died: nil`.
  public var description: String {
    var text = BriefText()
    text.append(property, to: value)
    return text.text
  }

  /// The same with the whole value: `"born": 1816`.
  public var debugDescription: String { "\(property.debugDescription): \(value.literalOrNil)" }
}
