// Changing lists of postings: the changes of a list, in order, are merged into the blocks that they
// belong to. A posting that is put begins a new block where its record does; if one that began a
// block is removed, the block goes on in the one before.

import LMDB

/// Changes of one list, in the order of the records' keys, at most one of each record.
struct PostingChanges {
  private struct Change {
    let place: Range<Int>
    /// Where the payload is; nil for a removal.
    let payload: Range<Int>?
  }

  private let places: [UInt8]
  private let payloads: [UInt8]
  private var changes: [Change] = []
  private var next = 0

  /// - Parameters:
  ///   - places: The bytes in which the records' keys are.
  ///   - payloads: The bytes in which the payloads are.
  init(places: [UInt8], payloads: [UInt8]) {
    (self.places, self.payloads) = (places, payloads)
  }

  /// Adds a change behind the others: a key, and a payload; nil for a removal.
  mutating func append(_ place: Range<Int>, _ payload: Range<Int>?) {
    changes.append(Change(place: place, payload: payload))
  }

  /// Forgets all.
  mutating func removeAll() {
    changes.removeAll(keepingCapacity: true)
    next = 0
  }

  /// True if no change is left.
  var isEmpty: Bool { next == changes.count }

  /// True if the first one that is left is a removal.
  fileprivate var isRemoval: Bool { changes[next].payload == nil }

  fileprivate mutating func removeFirst() { next += 1 }

  /// Lends the key of the first one that is left.
  @inline(__always)
  fileprivate func lendPlace<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    try places.lend { try body($0.extracting(changes[next].place)) }
  }

  /// Lends the payload of the first one that is left; empty for a removal.
  @inline(__always)
  fileprivate func lendPayload<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    try payloads.lend { try body($0.extracting(changes[next].payload ?? 0..<0)) }
  }
}

/// Merges changes into the blocks of one list after the other. Its memory is reused.
struct PostingMerge: ~Copyable {
  /// The changes of the next list.
  var changes: PostingChanges
  /// The bytes that the keys of the list's blocks begin with.
  private var start: [UInt8] = []
  private var old = PostingReader()
  /// True if `old` has a posting that is not merged yet.
  private var hasOld = false
  private var new = PostingWriter()
  /// True if the table has the block that is written.
  private var isReplaced = false
  /// The key of the block behind, if there is one.
  private var next: [UInt8]?

  init(_ changes: PostingChanges) { self.changes = changes }

  /// Makes all changes of a list.
  ///
  /// - Parameters:
  ///   - start: The bytes that the keys of its blocks begin with.
  ///   - storage: The state.
  /// - Throws: ``StorageError``, and ``DatabaseError/corrupt(reason:)`` for a damaged block.
  /// - Complexity: for each block that is concerned, two descents of the tree and the block's size.
  mutating func run(_ start: RawSpan, in storage: borrowing StateTransaction) throws {
    self.start.removeAll(keepingCapacity: true)
    self.start.append(start)
    while !changes.isEmpty {
      try openBlock(storage)
      try merge(storage)
      try store(storage)
    }
  }

  /// Opens the block to which the first change belongs, and begins to write it.
  private mutating func openBlock(_ storage: borrowing StateTransaction) throws {
    let table = storage.tables.views
    var wanted = start
    changes.lendPlace { wanted.append($0) }
    var neighbors = try wanted.lend { try storage.neighbors(of: $0, in: table, start.count) }
    var key = neighbors.before ?? start
    // A block whose first record is removed goes on in the one before.
    if !changes.isRemoval, neighbors.next == wanted {
      key = wanted
      wanted.append(0)
      neighbors = try wanted.lend { try storage.neighbors(of: $0, in: table, start.count) }
    }
    next = neighbors.next
    isReplaced = try open(key, storage)
    key.lend { new.restart(at: $0.extracting(droppingFirst: start.count)) }
  }

  /// Opens a block.
  ///
  /// - Returns: False if the table does not have it.
  private mutating func open(
    _ key: [UInt8], _ storage: borrowing StateTransaction
  ) throws -> Bool {
    let (table, count) = (storage.tables.views, start.count)
    let isThere: Void? = try key.lend { key in
      try storage.getNear(table, key) { block in
        try old.open(block, beginningAt: key.extracting(droppingFirst: count))
      }
    }
    hasOld = try isThere != nil && old.next()
    return isThere != nil
  }

  /// Merges the changes up to the next block that stays.
  private mutating func merge(_ storage: borrowing StateTransaction) throws {
    while !changes.isEmpty {
      if hasOld, changes.lendPlace({ old.precedes($0) }) {
        hasOld = try changes.lendPlace { try old.copy(upTo: $0, to: &new) }
        continue
      }
      if !hasOld, let next {
        let distance = changes.lendPlace { place in
          next.lend { place.compare($0.extracting(droppingFirst: start.count)) }
        }
        if distance == 0 && changes.isRemoval {
          try takeOver(next, storage)
          continue
        }
        if distance >= 0 { return }
      }
      let isSame = hasOld && changes.lendPlace { place in old.lendPlace { $0.equals(place) } }
      if isSame { hasOld = try old.next() }
      if !changes.isRemoval { try put(storage) }
      changes.removeFirst()
    }
    if hasOld { try old.copyRest(to: &new) }
  }

  /// Goes on with the block behind, whose first record is removed.
  private mutating func takeOver(_ key: [UInt8], _ storage: borrowing StateTransaction) throws {
    let table = storage.tables.views
    _ = try open(key, storage)
    try storage.delete(table, key)
    next = try (key + [0]).lend { try storage.neighbors(of: $0, in: table, start.count).next }
  }

  /// Adds the posting of the first change, in a block of its own if it begins one.
  private mutating func put(_ storage: borrowing StateTransaction) throws {
    let begins = changes.lendPlace { place in
      PostingBlock.begins(at: place) && !new.lendStart { $0.equals(place) }
    }
    if begins {
      try store(storage)
      changes.lendPlace { new.restart(at: $0) }
      isReplaced = false
    }
    changes.lendPlace { place in changes.lendPayload { new.add(place, $0) } }
  }

  /// Writes the block; one that is empty is none.
  private func store(_ storage: borrowing StateTransaction) throws {
    let table = storage.tables.views
    var key = start
    new.lendStart { key.append($0) }
    if new.count > 0 {
      try storage.put(table, key, new.stored)
    } else if isReplaced {
      try storage.delete(table, key)
    }
  }
}
