// Compiled on Apple's systems only. Elsewhere Tools/types checks its types, beside a module that
// declares as much of Combine as it uses.

#if canImport(Combine)
  import Combine

  extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// The elements for a subscriber of Combine.
    ///
    ///     query.changes().publisher.receive(on: RunLoop.main).sink { … } receiveValue: { … }
    ///
    /// The next element is asked for once the subscriber demands it, so that a slow one gets fewer
    /// and larger differences of a live query. Elements come on any thread.
    public var publisher: SequencePublisher<Self> { SequencePublisher(base: self) }
  }

  /// Publishes the elements of a sequence to each subscriber; see `publisher` of a sequence.
  public struct SequencePublisher<Base: AsyncSequence & Sendable>: Publisher
  where Base.Element: Sendable {
    /// An element of the sequence.
    public typealias Output = Base.Element
    /// Any failure of the sequence.
    public typealias Failure = any Error

    let base: Base

    /// Starts an iteration for a subscriber.
    public func receive<S: Subscriber>(subscriber: S)
    where S.Input == Output, S.Failure == Failure {
      let subscription = SequenceSubscription(
        Receiver(take: { subscriber.receive($0) }, end: { subscriber.receive(completion: $0) }))
      subscriber.receive(subscription: subscription)
      subscription.start(base)
    }
  }

  /// A subscriber on its way into the task that calls it.
  ///
  /// It need not be `Sendable`: one thread calls it at a time, first the subscribing one, and then
  /// the task.
  private struct Receiver<Input>: @unchecked Sendable {
    let take: (Input) -> Subscribers.Demand
    let end: (Subscribers.Completion<any Error>) -> Void
  }

  /// The iteration for one subscriber, which waits for its demand before each element.
  private final class SequenceSubscription<Input: Sendable>: Subscription, Sendable {
    private struct State: Sendable {
      var demand = Subscribers.Demand.none
      var task: Task<Void, Never>?
      var isCancelled = false
    }

    private let state = AsyncMonitor(State())
    private let receiver: Receiver<Input>

    init(_ receiver: Receiver<Input>) { self.receiver = receiver }

    func request(_ demand: Subscribers.Demand) { state.change { $0.demand += demand } }

    func cancel() {
      state.change { state in
        state.isCancelled = true
        state.task?.cancel()
      }
    }

    func start<Base: AsyncSequence & Sendable>(_ base: Base) where Base.Element == Input {
      let task = Task { await publish(base) }
      state.change { state in
        state.task = task
        if state.isCancelled { task.cancel() }
      }
    }

    private func publish<Base: AsyncSequence & Sendable>(_ base: Base) async
    where Base.Element == Input {
      do {
        var elements = base.makeAsyncIterator()
        while await isWanted(), let element = try await elements.next(isolation: nil) {
          if Task.isCancelled { return }
          request(receiver.take(element))
        }
        if !Task.isCancelled { receiver.end(.finished) }
      } catch { receiver.end(.failure(error)) }
    }

    /// Waits until the subscriber demands an element.
    private func isWanted() async -> Bool {
      await state.wait { state in
        if state.demand == .none { return nil }
        state.demand -= 1
        return true
      } ?? false
    }
  }
#endif
