/// A model that wants to be asked before it is written or deleted, and notified afterwards.
///
/// The `will` calls run inside the transaction, before anything is logged: they may change the
/// model, write to the transaction, or throw, which refuses the write. The `did` calls run once,
/// after the commit, on the thread that wrote, and never for what was rolled back;
/// a crash right after the commit can lose them, so use a ``Consumer`` for what must not be lost.
///
/// They are asked about every change of a record of the model in the app that declares it,
/// whichever call makes it: of whole models, of one property, by path and with ``DynamicRecord``,
/// by delete rules that take a model or a reference away with another one, by undo and
/// ``Database/Transaction/restore(_:removedAt:)``. The rules of the schema are, too. A change that
/// comes by another way than `update(_:_:)` calls them with the model as it would be; what they
/// change of it is stored with it. A record that is restored, or moved to where the model is
/// stored, is there already when they are asked. A hook may write to other models, whose hooks are
/// asked in turn, at most 32 deep; what it writes to its own model is not asked about again.
///
/// They are not asked by a ``Migration``, whose records are of an older form, by erasure, by
/// restoring a backup, nor in another process, unless its app declares the model, too. A record
/// that cannot be read as the model can be deleted, and replaced by one that can.
public protocol LifecycleModel: Model {
  /// Before it is inserted.
  mutating func willInsert(in transaction: borrowing Database.Transaction) throws
  /// Before it is changed; `self` is what it is to become.
  mutating func willUpdate(from old: Self, in transaction: borrowing Database.Transaction) throws
  /// Before it is deleted.
  func willDelete(in transaction: borrowing Database.Transaction) throws
  /// After the commit of the transaction that inserted it.
  func didInsert()
  /// After the commit of the transaction that changed it.
  func didUpdate(from old: Self)
  /// After the commit of the transaction that deleted it.
  func didDelete()
}

extension LifecycleModel {
  /// Does nothing.
  public mutating func willInsert(in transaction: borrowing Database.Transaction) throws {}
  /// Does nothing.
  public mutating func willUpdate(from old: Self, in transaction: borrowing Database.Transaction)
    throws
  {}
  /// Does nothing.
  public func willDelete(in transaction: borrowing Database.Transaction) throws {}
  /// Does nothing.
  public func didInsert() {}
  /// Does nothing.
  public func didUpdate(from old: Self) {}
  /// Does nothing.
  public func didDelete() {}
}

/// The calls of a ``LifecycleModel``, looked up once per type: a model without them pays nothing.
struct ModelHooks<M: Model>: Sendable {
  /// Called before a change; it may change what will be stored.
  let will: @Sendable (_ new: inout M?, _ old: M?, borrowing Database.Transaction) throws -> Void
  /// Called after a commit.
  let did: @Sendable (_ new: M?, _ old: M?) -> Void

  func willStore(_ model: inout M, from old: M?, _ transaction: borrowing Database.Transaction)
    throws
  {
    var new: M? = model
    try will(&new, old, transaction)
    if let new { model = new }
  }

  func willDelete(_ old: M, _ transaction: borrowing Database.Transaction) throws {
    var new: M?
    try will(&new, old, transaction)
  }

  static func found() -> ModelHooks<M>? {
    func open<L: LifecycleModel>(_ type: L.Type) -> ModelHooks<M>? {
      ModelHooks<L>(of: type) as? ModelHooks<M>
    }
    return (M.self as? any LifecycleModel.Type).flatMap { open($0) }
  }
}

extension ModelHooks where M: LifecycleModel {
  fileprivate init(of type: M.Type) {
    will = { new, old, transaction in
      guard var model = new else {
        try old?.willDelete(in: transaction)
        return
      }
      if let old {
        try model.willUpdate(from: old, in: transaction)
      } else {
        try model.willInsert(in: transaction)
      }
      new = model
    }
    did = { new, old in
      switch (new, old) {
      case (let new?, let old?): new.didUpdate(from: old)
      case (let new?, nil): new.didInsert()
      case (nil, let old?): old.didDelete()
      case (nil, nil): break
      }
    }
  }
}
