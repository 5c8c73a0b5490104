/// The changes of models of a ``ModelStore``, one after the other, for one walk.
///
///     for try await change in try store.observe(Flight.self) { show(change.model) }
///
/// It ends when its task is cancelled, or the store closed.
public struct ModelChanges<M: Model>: AsyncSequence, Sendable {
  /// One change.
  public typealias Element = ModelChange<M>

  private let next: @Sendable () async throws -> [ModelChange<M>]?

  /// Makes the changes of a store.
  ///
  /// - Parameter next: Waits for the next changes, which belong together, and gives them in the
  ///   order of their keys; nil after the last. It ends early when its task is cancelled.
  public init(_ next: @escaping @Sendable () async throws -> [ModelChange<M>]?) {
    self.next = next
  }

  /// Starts the walk.
  public func makeAsyncIterator() -> Iterator { Iterator(next: next) }

  /// The position of an observer.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let next: @Sendable () async throws -> [ModelChange<M>]?
    fileprivate var waiting: ArraySlice<ModelChange<M>> = []

    /// The next change; nil when the task is cancelled or the store closed.
    ///
    /// - Throws: The errors of the store while it reads the change.
    public mutating func next() async throws -> ModelChange<M>? {
      while !Task.isCancelled {
        if let change = waiting.popFirst() { return change }
        guard let changes = try await next() else { return nil }
        waiting = changes[...]
      }
      return nil
    }
  }
}
