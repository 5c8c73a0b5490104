// Compiled on Apple's systems only. Elsewhere Tools/types checks its types, beside a module that
// declares as much of SwiftUI as it uses.

#if canImport(SwiftUI)
  import SwiftUI

  /// A live query in a view.
  ///
  ///     struct LateFlights: View {
  ///       @LiveQuery<ModelQuery<Flight>> var late: LiveElements<Flight>
  ///
  ///       init(_ database: Database) {
  ///         _late = LiveQuery(database.query(Flight.self).where { $0.delay > 60 })
  ///       }
  ///
  ///       var body: some View {
  ///         List($late.items) { item in Text(item.element.name) }
  ///       }
  ///     }
  ///
  /// The view is drawn again where it reads something that has changed: all elements, the order of
  /// the items, or one item. A view that is made with another query asks that from then on, and its
  /// rows move instead of being reloaded; see ``FollowedResults/ask(_:)``. After an error it is not
  /// asked again by drawing, only by `$late.retry()`.
  ///
  /// Threads: the main actor, on which the result is first read and takes its steps; another thread
  /// computes the long ones.
  @propertyWrapper
  public struct LiveQuery<R: Results>: DynamicProperty where R.Element: Sendable {
    @SwiftUI.State private var followed: FollowedResults<R>
    private let query: R

    /// Follows a query as long as the view is there.
    @MainActor
    public init(_ query: R) {
      self.query = query
      _followed = SwiftUI.State(initialValue: FollowedResults(query))
    }

    /// The result as it is now.
    @MainActor public var wrappedValue: LiveElements<R.Element> { followed.elements }

    /// The items of the result, the error if it is not followed, and ``FollowedResults/retry()``.
    @MainActor public var projectedValue: FollowedResults<R> { followed }

    /// Asks the view's question of now. SwiftUI calls it before each drawing.
    nonisolated public mutating func update() {
      let (followed, query) = (followed, query)
      MainActor.assumeIsolated { followed.ask(query) }
    }
  }

  extension View {
    /// Follows an object as long as the view is there.
    ///
    ///     Stepper("Delay", value: Bindable(flight).delay).following(flight)
    ///
    /// - Parameter object: The object, which is shown by the main actor.
    /// - Returns: The view.
    public func following<M: Model>(_ object: Live<M>) -> some View {
      task(id: object.id) { try? await object.follow() }
    }
  }
#endif
