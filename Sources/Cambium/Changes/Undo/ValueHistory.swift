/// The changes that have made a value what it is, from before the transactions to undo up to now,
/// and which of them are in force.
///
///     T1 append a    T2 append b    U undoes T1    ──▶    in force: T2
///
/// An undo has no changes of its own here, it says which transactions are in force. So the value
/// without one of them is folded from those that remain, in whatever order they were undone: a sum
/// leaves no rounding behind, and an element is found where it is now.
struct ValueHistory {
  /// A transaction that has changed the node.
  fileprivate struct Entry {
    let sequence: SequenceNumber
    /// The transactions that it undoes; none where it makes changes of its own.
    let undoes: [SequenceNumber]
    var changes: [ValueChange<[UInt8]>] = []
  }

  /// An element that the array has or had.
  private struct Element {
    let value: [UInt8]
    /// The transaction that put it in; nil where it was there at the start.
    let insertedBy: SequenceNumber?
    var removedBy: [SequenceNumber] = []

    func isThere(without undone: Set<SequenceNumber>) -> Bool {
      !(insertedBy.map { undone.contains($0) } ?? false) && removedBy.allSatisfy(undone.contains)
    }
  }

  /// The moment before the first of the changes.
  let start: SequenceNumber
  /// The value before the first of the changes.
  private let base: [UInt8]?
  private let path: NodePath
  /// The oldest first.
  private var entries: [Entry] = []
  private var places: [SequenceNumber: Int] = [:]

  /// So many transactions are read at most, and so many elements passed.
  private static let (transactionsMax, elementsMax) = (10_000, 10_000_000)

  /// Reads the history of a node's value, or of a property, back to before a transaction, and on to
  /// before those that were undone since.
  ///
  /// - Returns: Nil where that is not known: the value was set since, the node was not there all
  ///   the time, or the log does not reach back so far.
  init?(
    _ running: RunningTransaction, _ path: NodePath, _ target: Target, since first: SequenceNumber
  ) throws {
    let reader = try running.reader
    let log = UndoLog(running: running)
    guard let key = try reader.treeKey(of: path) else { return nil }
    self.path = path
    var first = first
    var moment: UInt64?
    while let modified = try key.lend({
      try reader.version($0, asOf: moment) { header, _ in header.modified }
    }),
      modified >= first.rawValue
    {
      moment = modified - 1
      if modified == running.sequence.rawValue { continue }
      guard entries.count < ValueHistory.transactionsMax, modified > running.group.horizon.rawValue,
        let entry = try Entry(log.record(SequenceNumber(modified)), path, target)
      else { return nil }
      entries.append(entry)
      first = min(first, entry.undoes.min() ?? first)
    }
    guard first > running.group.horizon else { return nil }
    entries.reverse()
    for (index, entry) in entries.enumerated() { places[entry.sequence] = index }
    start = first.previous
    base =
      try reader.version(of: path, asOf: start.rawValue) {
        try Content($0, $1)?.value(of: target)
      } ?? nil
  }

  // MARK: In force

  /// The transactions that are not in force once others are undone as well.
  private func undone(and more: [SequenceNumber]) -> Set<SequenceNumber> {
    var undone: Set<SequenceNumber> = []
    for entry in entries { toggle(entry.undoes, in: &undone) }
    toggle(more, in: &undone)
    return undone
  }

  /// Takes transactions out of force or back into it: an undo that is undone brings them back.
  private func toggle(_ sequences: [SequenceNumber], in undone: inout Set<SequenceNumber>) {
    for sequence in sequences {
      guard let place = places[sequence] else { continue }
      if !entries[place].changes.isEmpty, entries[place].undoes.isEmpty {
        undone.formSymmetricDifference([sequence])
      } else {
        toggle(entries[place].undoes, in: &undone)
      }
    }
  }

  /// The value that the transactions in force make of the one at the start.
  private func folded(without undone: Set<SequenceNumber>) throws -> [UInt8]? {
    var value = base
    for entry in entries where entry.undoes.isEmpty && !undone.contains(entry.sequence) {
      for change in entry.changes { value = try change.applied(to: value, path) }
    }
    return value
  }

  // MARK: Taking back

  /// The way to take transactions back.
  enum Inverse {
    case changes([ValueChange<[UInt8]>])
    /// None, although elements came or went that others have put in or taken out as well.
    case same
    /// The value that is left where no change leads to it.
    case value([UInt8]?)
  }

  /// The inverse of transactions, after others that the same undo has taken back already; nil where
  /// the history does not lead to the value that was found. Entries of a dictionary that were set
  /// are taken back as the log has them, by the direct inverse.
  func inverse(
    of sequences: [SequenceNumber], after others: [SequenceNumber], found: [UInt8]?,
    _ direct: [ValueChange<[UInt8]>]?
  ) throws -> Inverse? {
    let (before, after) = (undone(and: others), undone(and: others + sequences))
    let toggled = before.symmetricDifference(after)
    if toggled.isEmpty { return nil }
    let isEmpty = entries.allSatisfy {
      $0.changes.isEmpty || !$0.undoes.isEmpty || after.contains($0.sequence)
    }
    do {
      if let elements = try elements() {
        guard let changes = try changes(elements, before, after, found) else { return nil }
        return isEmpty ? .value(base) : changes.isEmpty ? .same : .changes(changes)
      }
      let expected = try folded(without: before)
      guard !isEmpty, let left = try folded(without: after) else { return .value(base) }
      if left.first == ValueTag.map {
        return try entries(toggled, from: found, expected: expected, to: left, direct)
      }
      return try Arithmetic.agree(found, expected) ? .value(left) : nil
    } catch DatabaseError.badValue, DatabaseError.notFound {
      return nil
    }
  }

  /// The changes of those entries that transactions have only added to.
  private func entries(
    _ toggled: Set<SequenceNumber>, from found: [UInt8]?, expected: [UInt8]?, to left: [UInt8],
    _ direct: [ValueChange<[UInt8]>]?
  ) throws -> Inverse? {
    let all = entries.filter { toggled.contains($0.sequence) }.flatMap(\.changes)
    let assigned = Set(all.filter { !$0.name.isStep }.compactMap(\.key))
    let counted = Set(all.compactMap(\.key)).subtracting(assigned)
    let agree = try counted.allSatisfy { key in
      try Arithmetic.agree(
        MapCoding.value(of: key, in: found, path), MapCoding.value(of: key, in: expected, path))
    }
    let others = assigned.isEmpty ? [] : direct
    guard agree, let others else { return nil }
    let changes = try counted.sorted().compactMap { key -> ValueChange<[UInt8]>? in
      let value = try MapCoding.value(of: key, in: left, path)
      let present = try MapCoding.value(of: key, in: found, path)
      if value == present { return nil }
      guard let value, let present,
        let step = try? Arithmetic.sum(value, Arithmetic.opposite(present, path), path),
        try Arithmetic.sum(present, step, path) == value
      else { return .setEntry(key: key, value) }
      return .incrementEntry(key: key, by: step)
    }
    return .changes(others.filter { !counted.contains($0.key ?? "") } + changes)
  }

  /// The changes that lead an array from one to another.
  ///
  /// All elements that there ever were are lined up, since each position that was logged counts
  /// those that were there then.
  private func changes(
    _ elements: [Element], _ before: Set<SequenceNumber>, _ after: Set<SequenceNumber>,
    _ found: [UInt8]?
  ) throws -> [ValueChange<[UInt8]>]? {
    let present = elements.filter { $0.isThere(without: before) }.map(\.value)
    guard present == (try found.map { try ArrayCoding.elements($0, path) } ?? []) else {
      return nil
    }
    var changes: [ValueChange<[UInt8]>] = []
    var position: UInt64 = 0
    for element in elements {
      switch (element.isThere(without: before), element.isThere(without: after)) {
      case (true, true): position += 1
      case (true, false): changes.append(.removeElement(at: position))
      case (false, true):
        changes.append(.insert(element.value, at: position))
        position += 1
      case (false, false): break
      }
    }
    return changes
  }

  /// The elements that an array has or had, in order; nil for any other value.
  private func elements() throws -> [Element]? {
    if let base, base.first != ValueTag.array { return nil }
    var elements =
      try base.map { try ArrayCoding.elements($0, path) }?
      .map { Element(value: $0, insertedBy: nil) } ?? []
    var undone: Set<SequenceNumber> = []
    var passed = 0
    for entry in entries {
      toggle(entry.undoes, in: &undone)
      for change in entry.changes where entry.undoes.isEmpty {
        passed += elements.count
        if passed > ValueHistory.elementsMax { return nil }
        let there = elements.indices.filter { elements[$0].isThere(without: undone) }
        func added(_ value: [UInt8]) -> Element {
          Element(value: value, insertedBy: entry.sequence)
        }
        switch change {
        case .append(let value): elements.append(added(value))
        case .insert(let value, let position) where position < there.count:
          elements.insert(added(value), at: there[Int(position)])
        case .insert(let value, _): elements.append(added(value))
        case .removeElement(let position) where position < there.count:
          elements[there[Int(position)]].removedBy.append(entry.sequence)
        default: return nil
        }
      }
    }
    if elements.isEmpty && base == nil { return nil }
    return elements
  }
}

extension ValueHistory.Entry {
  /// The changes of a value in a transaction; nil where it was set, or came with its node.
  fileprivate init?(_ record: TransactionRecord, _ path: NodePath, _ target: Target) throws {
    var (isNamed, isTouched) = (false, false)
    var reader = OperationReader(record.operations)
    while let operation = try reader.next() {
      var isSet = false
      switch operation {
      case .change(path, target, let change): changes.append(change)
      case .set(path, _): isSet = true
      case .update(path, let updates):
        isSet = target == nil || updates.contains { $0.name == target }
      case .remove, .restore, .move:
        if operation.paths.contains(where: { path.isWithin($0) }) { return nil }
      default: break
      }
      if isSet && record.undoes.isEmpty { return nil }
      isTouched = isTouched || isSet
      isNamed = isNamed || operation.path?.isWithin(path) ?? false
    }
    if !isNamed { return nil }
    sequence = record.sequence
    // An undo that has left the value as it was found a conflict there.
    undoes = isTouched || !changes.isEmpty ? record.undoes : []
  }
}

extension Arithmetic {
  /// True if stored values are equal, or numbers but for rounding; an absent one counts as zero.
  fileprivate static func agree(_ a: [UInt8]?, _ b: [UInt8]?) throws -> Bool {
    func number(_ stored: [UInt8]?) throws -> Double? {
      guard let stored else { return 0 }
      switch try stored.lend({ try Value($0) }) {
      case .integer(let number): return Double(number)
      case .double(let number): return number
      default: return nil
      }
    }
    if a == b { return true }
    guard let a = try number(a), let b = try number(b) else { return false }
    return abs(a - b) <= 1e-9 * max(1, abs(a))
  }
}
