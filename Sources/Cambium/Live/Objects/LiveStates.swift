/// The state of a ``Live`` object, or of one of its properties.
public enum LoadState: Hashable, Sendable {
  /// There is no such object, and nothing was entered.
  case absent
  /// A local value that is not stored: the object is being edited, or a write was refused.
  case pending
  /// The stored value. The number is that of the transaction that last wrote the object.
  case committed(SequenceNumber)
  /// A local value that is not stored, of what another writer has changed since it was entered.
  case conflicted
  /// The object was there, and was deleted since.
  case deleted
}

/// The verdict of a model's rules on an object or one of its properties.
public enum ValidationState: Hashable, Sendable {
  /// It breaks no rule.
  case valid
  /// It breaks these rules; each message ends a sentence whose subject is the property.
  case invalid([String])

  init(_ messages: [String]) { self = messages.isEmpty ? .valid : .invalid(messages) }

  /// True if it breaks no rule.
  public var isValid: Bool { self == .valid }

  /// The messages; none where it is valid.
  public var messages: [String] {
    if case .invalid(let messages) = self { messages } else { [] }
  }
}
