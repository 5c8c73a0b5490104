/// The storage that a tree writes to: nodes by their tree keys, versions that were replaced, the
/// removals that hold subtrees, child counts, and the names that records use.
///
/// The state's tables are one implementation. Another may overlay its writes on a past moment, in
/// memory.
protocol TreeStorage: ~Copyable {
  /// Lends the present version at a tree key; a key near the last one costs least.
  func version<R>(at key: RawSpan, _ body: (RawSpan) throws -> R) throws -> R?
  func putVersion(_ version: RawSpan, at key: [UInt8]) throws
  /// Removes the present version at a tree key, which has just been found there.
  func removeVersion(at key: [UInt8]) throws
  /// The tree key of a node's first child.
  func firstChild(of node: UInt64) throws -> [UInt8]?

  /// Lends a superseded version of the node at a tree key.
  func superseded<R>(
    _ link: HistoryLink, _ key: RawSpan, _ body: (RawSpan) throws -> R
  ) throws -> R
  /// Puts an entry into history; see ``HistoryEntry``.
  func putSuperseded(_ entry: RawSpan, at link: HistoryLink) throws
  /// The first removal of a node at or after a place in history.
  func removal(
    _ key: RawSpan, from place: HistoryLink
  ) throws -> (link: HistoryLink, fate: RemovalFate)?
  /// Puts a removal; see ``HistoryEntry/removalKey(_:_:)``.
  func putRemoval(_ removalKey: RawSpan, _ fate: RemovalFate) throws

  func childCount(_ node: UInt64) throws -> Int
  func putChildCount(_ count: Int64, of node: UInt64) throws

  /// The name that the log has defined for a number.
  func name(of id: NameID) throws -> String
  func nameID(of name: String) -> NameID?
}

/// Takes the changes of a tree's nodes: checks them against rules, keeps folds up to date.
///
/// Each change is delivered twice: before it is written, when it can still be refused, and after.
protocol ChangeTaker: ~Copyable {
  /// The collection that a node belongs to, if one is declared.
  mutating func collection(of path: NodePath) -> CollectionPlan?
  /// True if changes of nodes that belong to no collection are required as well.
  var takesAll: Bool { get }
  /// True if it is certain, without looking, that there is no node at a tree key of a collection.
  func isUnused(_ treeKey: [UInt8], in collection: CollectionPlan?) -> Bool

  /// Takes a change before it is written; if it throws, nothing is written.
  mutating func willMake(_ change: RecordChange) throws
  /// Takes a change that is written.
  mutating func didMake(_ change: RecordChange) throws
  /// Takes the creation of a node without content as a parent, before it is written.
  mutating func willMakeParent(_ treeKey: [UInt8], of collection: ArraySlice<UInt8>) throws

  /// Called before a subtree is removed or moved away.
  mutating func willLeave(_ path: NodePath) throws
  /// Called after a subtree is removed or moved away.
  mutating func didLeave(_ path: NodePath) throws
  /// Called after a subtree is restored, or moved here.
  mutating func didArrive(_ path: NodePath) throws
}
