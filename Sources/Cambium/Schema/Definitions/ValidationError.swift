/// The problems of models that were to be written: every message, each with its path.
///
/// Nothing has been logged when it is thrown. For one model its causes are the messages of its
/// properties; for a batch, there is one cause for each model that was refused.
///
/// Recovery: show the messages, change the values, write again.
public struct ValidationError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The model's path; nil if it has no id yet, and for a property.
  public var path: NodePath?
  /// The property, by its dotted name; nil for a model as a whole, or a batch.
  public var property: String?
  /// The element of the property: its position in an array, its key in a dictionary, itself in a
  /// set; nil for the property as a whole.
  public var element: Value?
  /// The problem in words; empty if the causes describe it.
  public var message: String
  /// The errors that it consists of.
  public var causes: [ValidationError]

  /// Makes an error from a message, or from causes.
  public init(
    path: NodePath? = nil, property: String? = nil, element: Value? = nil,
    _ message: String = "", causes: [ValidationError] = []
  ) {
    self.path = path
    self.property = property
    self.element = element
    self.message = message
    self.causes = causes
  }

  /// Every message, with the property in front: `number must be positive`, `tags[2] must be short`.
  public var messages: [String] {
    let place = element.map { "[\($0.text)]" } ?? ""
    let own = [property.map { $0 + place }, message.isEmpty ? nil : message].compactMap(\.self)
    return (message.isEmpty ? [] : [own.joined(separator: " ")]) + causes.flatMap(\.messages)
  }

  /// The messages about one property, without its name.
  public func messages(for property: String) -> [String] {
    (self.property == property && !message.isEmpty ? [message] : [])
      + causes.flatMap { $0.messages(for: property) }
  }

  /// The messages in one line.
  public var description: String {
    let text = messages.joined(separator: "; ")
    return path.map { "\($0): \(text)" } ?? text
  }
}
