import Observation
import Synchronization

/// A handle on one object of a database: it shows what is stored, writes through, and keeps what is
/// being entered until it is saved.
///
///     let flight = try database.live(Flight.self, id)
///     print(flight.number)                          // as stored, or the initial value
///     flight.number = 7                             // a transaction
///     try flight.edit { $0.departureDelay = 12 }    // local, until save()
///     try flight.save()
///     try await flight.follow()                     // until the task is cancelled
///
/// A database has one handle for an object as long as anybody holds it, so that all screens show
/// the same. It shows a moment: that of the last ``refresh()``, of its last write, or, while a task
/// is in ``follow(isolation:)``, the newest. Reading it never touches the disk.
///
/// **Edits and others.** While there are local values, properties that were not entered follow what
/// is stored. One that was entered, and that somebody else has changed since, is in conflict:
/// `save()` refuses until it is reverted or kept. A write that
/// is refused leaves its value as a local one, with the messages in ``validation``.
///
/// **Threads.** Any, at any time. It is `Observable`, property by property: whoever has read
/// `number` is told of another number, and of nothing else. The notifications come on the thread on
/// which the handle changes, before and after the change: that of the call which writes, edits,
/// reverts or refreshes, and the isolation of the caller of `follow`. So a handle for a screen is
/// followed and changed by the main actor.
@dynamicMemberLookup
public final class Live<M: Model>: Observable, Identifiable, Sendable {
  /// The id of the object, which need not be there.
  public let id: ModelID<M>
  /// The database of the object.
  public let database: Database

  private let registrar = ObservationRegistrar()
  private let state: Mutex<LiveState<M>>
  private let observers = Mutex<(nextID: Int, all: [Int: @Sendable () -> Void])>((0, [:]))

  init(_ id: ModelID<M>, _ database: Database) {
    self.id = id
    self.database = database
    state = Mutex(LiveState(id))
  }

  deinit { LiveRegistry.of(database).remove(LiveRegistry.Key(id)) }

  // MARK: Reading

  /// The value of a property: the local one, the stored one, or where there is none the initial
  /// one.
  public subscript<V>(dynamicMember property: KeyPath<M, V>) -> V { self[property] }

  /// The value of a property; setting it writes it through, in a transaction of its own, on the
  /// calling thread.
  ///
  /// A value that is refused stays local: ``loadState`` says ``LoadState/pending``, ``validation``
  /// why. `set(_:to:metadata:actor:)` throws instead.
  public subscript<V: PropertyValue>(
    dynamicMember property: WritableKeyPath<M, V> & Sendable
  ) -> V {
    get { self[property] }
    set { try? set(property, to: newValue) }
  }

  /// A value of the object as it is shown.
  subscript<V>(property: KeyPath<M, V>) -> V {
    track(ModelParts<M>().parts(of: property))
    return content.shown[keyPath: property]
  }

  /// The object as it is shown; nil where it is not there, and nothing was entered.
  public var model: M? {
    track(nil)
    let content = content
    return content.mine ?? content.stored
  }

  /// The object as it is stored; nil where it is not there.
  public var stored: M? {
    track(nil)
    return content.stored
  }

  /// The moment that is shown; not observed, since it changes with each refresh.
  public var sequence: SequenceNumber { content.sequence }

  /// The state of the object as a whole.
  public var loadState: LoadState {
    track(nil)
    return content.loadState(of: nil)
  }

  /// The messages of the model's rules about the object as it is shown, and those that a write was
  /// refused with.
  ///
  /// - Complexity: O(properties with a rule).
  public var validation: ValidationState { validation(of: nil) }

  /// The names of the properties whose local values are not stored.
  public var editedProperties: [String] {
    track(nil)
    return content.edited.sorted().compactMap { ModelParts<M>().name($0) }
  }

  /// The names of the properties whose local values are in conflict with what is stored.
  public var conflicts: [String] {
    track(nil)
    return content.conflicts.sorted().compactMap { ModelParts<M>().name($0) }
  }

  var content: LiveState<M> { state.withLock { $0 } }

  func loadState(of parts: Range<Int>?) -> LoadState {
    track(nil)
    return content.loadState(of: parts)
  }

  /// The messages about some parts; about all, and about the object as a whole, for nil.
  func validation(of parts: Range<Int>?) -> ValidationState {
    track(nil)
    let content = content
    if content.mine == nil, content.stored == nil { return .valid }
    var model = content.shown
    let problems = M.schema.problems(in: &model) + content.problems
    let names = parts?.compactMap { ModelParts<M>().name($0) }
    let messages = problems.flatMap { problem in
      names.map { $0.flatMap { problem.messages(for: $0) } } ?? problem.messages
    }
    var seen: Set<String> = []
    return ValidationState(messages.filter { seen.insert($0).inserted })
  }

  // MARK: Following

  /// Shows what is stored now. Local values stay.
  ///
  /// - Throws: As `find(_:)`; what was shown stays.
  /// - Complexity: one read of the object, about 2 µs.
  public func refresh() throws { try show(try database.snapshot()) }

  /// Shows each change as it is committed, by any process, until the task is cancelled or the
  /// database closed; then it returns.
  ///
  ///     .task { try? await flight.follow() }
  ///
  /// Several tasks may follow; each does the same work.
  ///
  /// - Parameter isolation: The actor on which changes are shown, the caller's.
  /// - Throws: As ``refresh()``.
  /// - Complexity: nothing for a commit that leaves the object as it is; otherwise as
  ///   ``refresh()``. Several commits that come quickly may be shown as one.
  public func follow(isolation: isolated (any Actor)? = #isolation) async throws {
    let watch = try RecordWatch(try id.path, database)
    try refresh()
    while let snapshot = try await watch.next() {
      guard try database.unlessClosed({ try show(snapshot) }) != nil else { return }
    }
  }

  /// Shows a moment.
  ///
  /// - Parameters:
  ///   - snapshot: The moment.
  ///   - written: Local values that were stored meanwhile.
  ///   - parts: The parts that were stored; nil for all.
  /// - Throws: As ``refresh()``.
  func show(_ snapshot: Snapshot, storing written: M? = nil, _ parts: Range<Int>? = nil) throws {
    let model = try snapshot.find(id)
    let modified = model == nil ? nil : try snapshot.modified(id)
    change { state in
      state.take(model, modified: modified, at: snapshot.sequence)
      if let written { state.drop(parts, unlessOtherThan: written) }
    }
  }

  // MARK: Changing

  /// Changes the content and notifies whoever has read what differs then.
  ///
  /// No lock is held while observers and `body` run. So another thread may change the content
  /// meanwhile; then `body` runs again.
  ///
  /// - Parameters:
  ///   - isFinal: False if the change belongs to a write that will call ``callObservers()`` once it
  ///     has ended: a binding that wrote before would be overwritten by it.
  ///   - body: Makes the change.
  /// - Returns: The result of `body`.
  @discardableResult
  func change<R>(
    isFinal: Bool = true, _ body: (inout LiveState<M>) throws -> R
  ) rethrows -> R {
    while true {
      let old = content
      var new = old
      let result = try body(&new)
      let changed = old.isSame(new) ? [] : [wholePart] + old.differences(new)
      new.version += 1
      for part in changed { registrar.willSet(self, keyPath: \.[part: part]) }
      let isDone = replace(old, by: new)
      for part in changed { registrar.didSet(self, keyPath: \.[part: part]) }
      guard isDone else { continue }
      if isFinal, !changed.isEmpty { callObservers() }
      return result
    }
  }

  private func replace(_ old: LiveState<M>, by new: LiveState<M>) -> Bool {
    state.withLock { state in
      if state.version != old.version { return false }
      state = new
      return true
    }
  }

  // MARK: Observing

  /// The part that changes with each other.
  private var wholePart: Int { -1 }

  /// Names a part of the object for the registrar.
  subscript(part part: Int) -> Bool { true }

  /// Notes that some parts are read; the whole object for nil.
  private func track(_ parts: Range<Int>?) {
    guard let parts else { return registrar.access(self, keyPath: \.[part: wholePart]) }
    for part in parts { registrar.access(self, keyPath: \.[part: part]) }
  }

  /// Calls `body` after each change, on the thread that makes it, as long as the result is held.
  func observe(_ body: @escaping @Sendable () -> Void) -> LiveObserver {
    let id = observers.withLock { observers in
      observers.nextID += 1
      observers.all[observers.nextID] = body
      return observers.nextID
    }
    return LiveObserver { [weak self] in
      self?.observers.withLock { $0.all[id] = nil }
    }
  }

  /// Calls those that ``observe(_:)`` has registered.
  func callObservers() {
    let bodies = observers.withLock { observers in
      observers.all.sorted { $0.key < $1.key }.map(\.value)
    }
    for body in bodies { body() }
  }
}

/// Something that observes until it is released.
final class LiveObserver: Sendable {
  private let stop: @Sendable () -> Void

  init(_ stop: @escaping @Sendable () -> Void) { self.stop = stop }

  deinit { stop() }
}
