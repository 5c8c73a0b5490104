// Bindings between properties: the value that one shows is set in the other.
//
//     source changes ─▶ convert ─▶ target.value = …   (written through, a transaction of its own)
//           ▲                            │
//           └──── two-way: convert ◀─────┘   ends where both sides say the same
//
// A binding is called by the handle that changes, on the thread on which it changes. No task waits
// for it, so nothing is left to end but the binding itself.

import Synchronization

/// A binding between properties of two objects, as long as it is held.
///
///     let binding = form.properties.title.bind(to: page.properties.title)
///
/// Its end is that of its owner: releasing it unbinds, as ``end()`` does. It holds both objects. It
/// passes what is entered and written through their handles, and the changes of others while the
/// handles are followed: by `follow()` of the objects, or by ``follow(isolation:)`` of the binding.
public final class LiveBinding: Sendable {
  /// The directions of a binding.
  public enum Direction: Hashable, Sendable {
    /// The target takes each value of the source.
    case oneWay
    /// Each side takes the values of the other; at first the target that of the source.
    case twoWay
    /// The target takes the value that the source has now, or else the first that it gets.
    case once
  }

  private struct State {
    var observers: [LiveObserver] = []
    var isPassing = false
    /// The sides that have changed since they were looked at.
    var changed: Set<Side> = []
    var isOver = false
  }

  fileprivate enum Side: Hashable { case source, target }

  /// The outcome of passing a value.
  fileprivate enum Passing { case nothing, same, set }

  private let state = Mutex(State())
  private let direction: Direction
  /// Passes the value of a side to the other.
  private let pass: @Sendable (Side) -> Passing
  private let objects: [any Following]

  /// Values that two conversions never agree on are passed to and fro so many times.
  private static let roundsMax = 8

  fileprivate init(
    _ direction: Direction, _ objects: [any Following],
    pass: @escaping @Sendable (Side) -> Passing
  ) {
    self.direction = direction
    self.objects = objects
    self.pass = pass
  }

  /// True once it was ended, or a binding that binds once has done so.
  public var isOver: Bool { state.withLock { $0.isOver } }

  /// Unbinds the properties. A value that is being passed on another thread still arrives.
  public func end() {
    let released = state.withLock { state in
      defer { (state.observers, state.isOver) = ([], true) }
      return state.observers
    }
    withExtendedLifetime(released) {}
  }

  /// Follows both objects until the task is cancelled or the database closed, so that changes of
  /// others are passed as well.
  ///
  /// - Parameter isolation: The actor on which values are passed, the caller's.
  /// - Throws: As ``Live/follow(isolation:)``.
  public func follow(isolation: isolated (any Actor)? = #isolation) async throws {
    try await withThrowingTaskGroup(of: Void.self, isolation: isolation) { group in
      for object in objects {
        group.addTask {
          _ = isolation
          try await object.followed(isolation)
        }
      }
      try await group.waitForAll()
    }
  }

  // MARK: Passing

  fileprivate func start(_ source: LiveObserver, _ target: LiveObserver?) {
    state.withLock { $0.observers = [source, target].compactMap(\.self) }
    heard(.source)
  }

  /// Passes the value of a side that has changed. What changes meanwhile is passed afterwards, by
  /// the same thread: so one side is set at a time, and no call is nested in another.
  fileprivate func heard(_ side: Side) {
    let isFirst = state.withLock { state in
      state.changed.insert(side)
      if state.isOver || state.isPassing { return false }
      state.isPassing = true
      return true
    }
    guard isFirst else { return }
    var (last, rounds) = (Side?.none, 0)
    while rounds < LiveBinding.roundsMax, let side = next() {
      let outcome = pass(side)
      if direction == .once, outcome != .nothing { end() }
      rounds = outcome == .set ? (side == last ? 1 : rounds + 1) : 0
      last = side
    }
    if rounds == LiveBinding.roundsMax {
      state.withLock { ($0.isPassing, $0.changed) = (false, []) }
    }
  }

  /// The side whose value is passed next; nil if none has changed.
  private func next() -> Side? {
    state.withLock { state in
      let next: Side? = state.changed.contains(.source) ? .source : state.changed.first
      guard let next, !state.isOver else {
        (state.isPassing, state.changed) = (false, [])
        return nil
      }
      state.changed.remove(next)
      return next
    }
  }
}

/// An object that a binding follows, whatever its type.
private protocol Following: AnyObject, Sendable {
  func followed(_ isolation: isolated (any Actor)?) async throws
}

extension Live: Following {
  fileprivate func followed(_ isolation: isolated (any Actor)?) async throws {
    try await follow(isolation: isolation)
  }
}

extension LiveProperty {
  /// Binds another property to this one: it is set to each value that this one shows.
  ///
  ///     let binding = flight.properties.number.bind(to: draft.properties.title, .twoWay, .text)
  ///
  /// The other property is written through, and only where it shows another value. A value that is
  /// refused there stays as a local value of it. A value that this object does not have, since it
  /// is not there, is not passed.
  ///
  /// - Parameters:
  ///   - target: The other property.
  ///   - direction: One-way, two-way or once.
  ///   - conversion: The way between the two types.
  /// - Returns: The binding, which ends when it is released.
  /// - Complexity: as setting ``value``, for each value that is passed.
  public func bind<N: Model, W: PropertyValue>(
    to target: LiveProperty<N, W>, _ direction: LiveBinding.Direction = .oneWay,
    _ conversion: BindingConversion<V, W>
  ) -> LiveBinding {
    let source = self
    let binding = LiveBinding(direction, [source.object, target.object]) { side in
      switch side {
      case .source: source.pass(to: target, conversion.forward)
      case .target: target.pass(to: source, conversion.backward)
      }
    }
    let isTwoWay = direction == .twoWay
    binding.start(
      source.object.observe { [weak binding] in binding?.heard(.source) },
      isTwoWay ? target.object.observe { [weak binding] in binding?.heard(.target) } : nil)
    return binding
  }

  /// Binds another property of the same type to this one; see `bind(to:_:_:)`.
  ///
  /// - Parameters:
  ///   - target: The other property.
  ///   - direction: One-way, two-way or once.
  /// - Returns: The binding, which ends when it is released.
  public func bind<N: Model>(
    to target: LiveProperty<N, V>, _ direction: LiveBinding.Direction = .oneWay
  ) -> LiveBinding { bind(to: target, direction, .same) }

  /// Sets a property of any object to each value that this property shows, as long as both the
  /// object and the binding live.
  ///
  /// - Parameters:
  ///   - target: The object, which is held weakly. It is set on the thread on which the value
  ///     changes.
  ///   - property: Its property.
  /// - Returns: The binding, which ends when it is released.
  public func bind<Target: AnyObject & Sendable>(
    to target: Target, _ property: ReferenceWritableKeyPath<Target, V> & Sendable
  ) -> LiveBinding {
    bind { [weak target] value in target?[keyPath: property] = value }
  }

  /// Calls a closure with the value that this property shows now, and then with each other one, on
  /// the thread on which it changes.
  ///
  /// - Parameter body: Takes the value. It may set properties.
  /// - Returns: The binding, which ends when it is released.
  public func bind(_ body: @escaping @Sendable (V) -> Void) -> LiveBinding {
    let source = self
    let shown = LastValue<V>()
    let binding = LiveBinding(.oneWay, [source.object]) { _ in
      let value = source.value
      guard shown.replace(by: value) else { return .same }
      body(value)
      return .set
    }
    binding.start(source.object.observe { [weak binding] in binding?.heard(.source) }, nil)
    return binding
  }

  /// Sets another property to the value of this one, unless it shows that already.
  ///
  /// - Returns: The outcome; ``LiveBinding/Passing/nothing`` where there is no value to pass.
  private func pass<N: Model, W: PropertyValue>(
    to target: LiveProperty<N, W>, _ convert: (V) -> W?
  ) -> LiveBinding.Passing {
    guard object.model != nil, let value = convert(value) else { return .nothing }
    if target.value.isSame(value) { return .same }
    target.value = value
    return .set
  }
}

/// The value that was passed last.
private final class LastValue<V: PropertyValue>: Sendable {
  private let value = Mutex<V?>(nil)

  /// True if another value was there before.
  func replace(by new: V) -> Bool {
    value.withLock { value in
      defer { value = new }
      return value.map { !$0.isSame(new) } ?? true
    }
  }
}

// MARK: Operators

infix operator --> : BindingPrecedence
infix operator <-- : BindingPrecedence
infix operator <--> : BindingPrecedence

/// The precedence of operators that bind properties: below that of arithmetic.
precedencegroup BindingPrecedence {
  lowerThan: TernaryPrecedence
  higherThan: AssignmentPrecedence
}

/// Binds the right property to the left one: `source --> target`.
///
/// - Parameters:
///   - source: The property whose values are passed.
///   - target: The property that is set.
/// - Returns: The binding, which ends when it is released.
public func --> <M: Model, N: Model, V: PropertyValue>(
  source: LiveProperty<M, V>, target: LiveProperty<N, V>
) -> LiveBinding { source.bind(to: target) }

/// Binds the left property to the right one: `target <-- source`.
///
/// - Parameters:
///   - target: The property that is set.
///   - source: The property whose values are passed.
/// - Returns: The binding, which ends when it is released.
public func <-- <M: Model, N: Model, V: PropertyValue>(
  target: LiveProperty<M, V>, source: LiveProperty<N, V>
) -> LiveBinding { source.bind(to: target) }

/// Binds two properties to each other; at first the left one takes the value of the right one.
///
/// - Parameters:
///   - target: The property that takes the value of the other at first.
///   - source: The other property.
/// - Returns: The binding, which ends when it is released.
public func <--> <M: Model, N: Model, V: PropertyValue>(
  target: LiveProperty<M, V>, source: LiveProperty<N, V>
) -> LiveBinding { source.bind(to: target, .twoWay) }
