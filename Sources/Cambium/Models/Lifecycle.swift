/// A model that wants to be told when it is written or deleted.
///
/// The `will` calls run inside the transaction, before anything is logged: they may change the
/// model, write to the transaction, or throw, which refuses the write. The `did` calls run once,
/// after the transaction is durable, on the thread that wrote, and never for what was rolled back;
/// a crash right after the commit can lose them, so use a ``Consumer`` for what must not be lost.
///
/// They see what is written through models. Operations on paths, undo and other processes do not
/// call them; neither do ``Transaction/set(_:_:to:)`` and the other calls that do not read the
/// model, nor a delete rule that takes a model away, or its reference, with another one.
public protocol LifecycleModel: Model {
  /// Before it is inserted.
  mutating func willInsert(in transaction: borrowing Transaction) throws
  /// Before it is changed; `self` is what it is to become.
  mutating func willUpdate(from old: Self, in transaction: borrowing Transaction) throws
  /// Before it is deleted.
  func willDelete(in transaction: borrowing Transaction) throws
  /// After the transaction that inserted it is durable.
  func didInsert()
  /// After the transaction that changed it is durable.
  func didUpdate(from old: Self)
  /// After the transaction that deleted it is durable.
  func didDelete()
}

extension LifecycleModel {
  /// Does nothing.
  public mutating func willInsert(in transaction: borrowing Transaction) throws {}
  /// Does nothing.
  public mutating func willUpdate(from old: Self, in transaction: borrowing Transaction) throws {}
  /// Does nothing.
  public func willDelete(in transaction: borrowing Transaction) throws {}
  /// Does nothing.
  public func didInsert() {}
  /// Does nothing.
  public func didUpdate(from old: Self) {}
  /// Does nothing.
  public func didDelete() {}
}

/// The calls of a ``LifecycleModel``, looked up once per type: a model without them pays nothing.
struct ModelHooks<M: Model>: Sendable {
  let willInsert: @Sendable (inout M, borrowing Transaction) throws -> Void
  let willUpdate: @Sendable (inout M, M, borrowing Transaction) throws -> Void
  let willDelete: @Sendable (M, borrowing Transaction) throws -> Void
  let didInsert: @Sendable (M) -> Void
  let didUpdate: @Sendable (M, M) -> Void
  let didDelete: @Sendable (M) -> Void

  static func found() -> ModelHooks<M>? {
    func open<L: LifecycleModel>(_ type: L.Type) -> ModelHooks<M>? {
      ModelHooks<L>(of: type) as? ModelHooks<M>
    }
    return (M.self as? any LifecycleModel.Type).flatMap { open($0) }
  }
}

extension ModelHooks where M: LifecycleModel {
  fileprivate init(of type: M.Type) {
    willInsert = { try $0.willInsert(in: $1) }
    willUpdate = { try $0.willUpdate(from: $1, in: $2) }
    willDelete = { try $0.willDelete(in: $1) }
    didInsert = { $0.didInsert() }
    didUpdate = { $0.didUpdate(from: $1) }
    didDelete = { $0.didDelete() }
  }
}
