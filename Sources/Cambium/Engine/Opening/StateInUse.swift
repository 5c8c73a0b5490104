import LMDB
import Synchronization

/// The generation of the state that this process reads and writes, and its newest catalog.
final class StateInUse: Sendable {
  private struct Current {
    var state: State?
    /// The log's LMDB transaction at which the state's generation was last compared.
    var comparedAt: UInt64 = 0
    var catalog = Catalog()
    var hasWritten = false
    /// The part of a state that is read if the log is too damaged for a complete one.
    var part: PartialState?
    /// True if no state may be opened any more. Closing sets it last, since it may have to store
    /// something in a generation that another process has made.
    var isClosed = false

    /// True for the state that is read.
    func isUsing(_ other: State) -> Bool { (part?.state ?? state) === other }
  }

  private let current = Mutex(Current())
  /// The memory that one group of writes leaves to the next; it goes by the names of the catalog.
  let buffers = KeptBuffers()

  // MARK: The state

  /// The state, if the log is unchanged since its generation was compared.
  func state(comparedAt newest: UInt64) -> State? {
    current.withLock { current in
      current.part?.state ?? (current.comparedAt == newest ? current.state : nil)
    }
  }

  /// The state, if it is of a generation, which the log has named at one of its transactions.
  func state(_ generation: UInt64, comparedAt transaction: UInt64) -> State? {
    current.withLock { current in
      guard let state = current.state, state.generation == generation else { return nil as State? }
      if transaction > 0 { current.comparedAt = transaction }
      return state
    }
  }

  /// Notes that the log names a state at one of its transactions, which this process has committed.
  func noteCompared(_ state: State, at transaction: UInt64) {
    current.withLock { current in
      if current.state === state { current.comparedAt = transaction }
    }
  }

  /// The generation in use; nil while none is open.
  var generation: UInt64? { current.withLock { $0.state?.generation } }

  /// Opens a generation and makes it the one in use.
  func adopt(_ generation: UInt64, _ open: () throws -> State) throws -> State {
    try current.withLock { current in
      if current.isClosed { throw DatabaseError.closed(reason: "the database is closed") }
      if let state = current.state, state.generation == generation { return state }
      let state = try open()
      current.state = state
      current.catalog = Catalog()
      current.comparedAt = 0
      return state
    }
  }

  /// Releases the state; snapshots that are held keep it open until they end.
  ///
  /// - Parameter forGood: True if no state may be opened any more.
  func release(forGood: Bool = false) {
    current.withLock { current in
      current.isClosed = current.isClosed || forGood
      current.state?.environment.close()
      current.state = nil
      current.comparedAt = 0
      current.part?.remove()
      current.part = nil
    }
  }

  /// Reads the part of a state that a damaged log gives from now on.
  func use(_ part: PartialState) { current.withLock { $0.part = part } }

  /// True if reads end at the log's damage.
  var isPartial: Bool { current.withLock { $0.part != nil } }

  /// True if this process has written to the state since opening it.
  var hasWritten: Bool { current.withLock { $0.hasWritten } }

  func noteWriting() { current.withLock { $0.hasWritten = true } }

  // MARK: The catalog

  /// The newest catalog that this process has seen.
  var catalog: Catalog { current.withLock { $0.catalog } }

  /// The newest catalog of a state; an empty one for a state that is not the one in use.
  func catalog(of state: State) -> Catalog {
    current.withLock { $0.isUsing(state) ? $0.catalog : Catalog() }
  }

  /// Keeps a newer catalog of a state, if that is the one in use.
  func remember(_ catalog: borrowing Catalog, of state: State) {
    current.withLock { current in
      guard current.isUsing(state), catalog.isNewer(than: current.catalog) else { return }
      current.catalog = copy catalog
      current.catalog.collections.unfinished = [:]
    }
  }
}
