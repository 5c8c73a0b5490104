import Observation

/// A live result that follows its query by itself as long as somebody holds it: for a screen, which
/// has no task of its own to wait in.
///
///     let late = FollowedResults(database.query(Flight.self).where { $0.delay > 60 })
///     show(late.items)                     // reads the result, and follows it from now on
///     late.ask(other)                      // another question, without a reload
///
/// Nothing is read before somebody asks for the result. It is `Observable`, as ``LiveResults`` is.
/// A step that fails leaves the result as it was, and ends following; ``error`` says why. It goes
/// on with ``retry()``, or with another question.
@MainActor
public final class FollowedResults<R: Results>: Observable where R.Element: Sendable {
  private let registrar = ObservationRegistrar()
  private var query: R
  private var live: LiveResults<R>?
  private var failure: (any Error)?
  private var following: Task<Void, Never>?

  /// Follows a query from the first look at its result on.
  public init(_ query: R) { self.query = query }

  deinit { following?.cancel() }

  /// The result: a value, which stays as it is; empty where it could not be read.
  public var elements: LiveElements<R.Element> { results?.elements ?? LiveElements([]) }

  /// The rows of the result, each to be observed by itself; see ``LiveResults/items``.
  public var items: LiveElements<LiveItem<R.Element>> { results?.items ?? LiveElements([]) }

  /// The reason why the result is not that of the question that was asked last: the first reading
  /// failed, the question could not be asked, or following has ended. Nil while it is.
  ///
  /// The elements stay then. After an ``ask(_:)`` that failed they are of the question before, and
  /// still follow that one if they did. The error stays until ``retry()`` or another question
  /// succeeds.
  public var error: (any Error)? {
    _ = results
    registrar.access(self, keyPath: \.error)
    return failure
  }

  /// The live result, which is read now if that was not done; nil where that failed.
  public var results: LiveResults<R>? {
    registrar.access(self, keyPath: \.results)
    if live == nil && failure == nil { start() }
    return live
  }

  /// Asks another question from now on.
  ///
  /// The same question again does nothing, so that each redraw of a screen may say its own; it is
  /// not tried again after an error either, since the error leads to a redraw: see ``retry()``.
  /// Filters in Swift are not compared: a query that differs in one alone is the same question.
  public func ask(_ query: R) {
    if query.request.isSame(as: self.query.request) { return }
    self.query = query
    renew()
  }

  /// Tries again after an error, for example as somebody taps a button beside its message.
  ///
  /// The question is the one that was asked last. Nothing happens where there is no ``error``.
  public func retry() { if failure != nil { renew() } }

  private func renew() {
    guard let live else { return restart() }
    do {
      try live.ask(query)
      if following == nil { follow(live) }
      fail(nil)
    } catch { fail(error) }
  }

  /// Reads the result at the next look at it.
  private func restart() {
    registrar.withMutation(of: self, keyPath: \.results) { live = nil }
    fail(nil)
  }

  private func start() {
    do {
      let live = try query.live()
      self.live = live
      follow(live)
    } catch { failure = error }
  }

  private func follow(_ live: LiveResults<R>) {
    following = Task { [weak self] in
      do { try await live.follow() } catch { self?.fail(error) }
      self?.following = nil
    }
  }

  private func fail(_ error: (any Error)?) {
    if error == nil && failure == nil { return }
    registrar.withMutation(of: self, keyPath: \.error) { failure = error }
  }
}
