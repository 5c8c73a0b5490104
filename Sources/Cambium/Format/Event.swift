/// A fact that an application logged with ``Database/Transaction/event(_:_:)``.
public struct Event: Hashable, Sendable {
  /// Its name.
  public let name: String
  /// The value that the application logged with it.
  public let payload: Value
}
