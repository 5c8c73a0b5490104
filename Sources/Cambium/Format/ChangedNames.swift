// The properties in which versions of a node differ, as a link to an earlier version notes them.
//
//     count u8 | count × varint      the numbers of the names, ascending, each less the one before
//     FF                             any: too many to list, or a node that is no record
//
// It may name properties that do not differ after all, never leave one out that does.

/// The properties that may differ between two versions.
enum ChangedNames: Equatable {
  case these([NameID])
  case any

  /// The longest list: beyond it, what it would save in looking is less than what it takes.
  static let countMax = 32

  /// Nothing differs.
  static let none = ChangedNames.these([])

  /// Compares two contents.
  init(from old: (kind: ContentKind, RawSpan), to new: (kind: ContentKind, RawSpan)) throws {
    if old.kind == .record && new.kind == .record {
      self = try ChangedNames.between(old.1, new.1)
    } else {
      self = old.kind == new.kind && old.1.equals(new.1) ? .none : .any
    }
  }

  /// Compares two records, whose names both ascend.
  private static func between(_ old: RawSpan, _ new: RawSpan) throws -> ChangedNames {
    let (oldTable, newTable) = (try RecordTable(old), try RecordTable(new))
    var (changed, i, j) = ([] as [NameID], 0, 0)
    while i < oldTable.count || j < newTable.count {
      let a = i < oldTable.count ? try oldTable.name(old, i) : .max
      let b = j < newTable.count ? try newTable.name(new, j) : .max
      let isSame =
        try a == b
        && old.extracting(oldTable.value(old, i)).equals(new.extracting(newTable.value(new, j)))
      if !isSame {
        if changed.count == countMax { return .any }
        changed.append(min(a, b))
      }
      if a <= b { i += 1 }
      if b <= a { j += 1 }
    }
    return .these(changed)
  }

  /// Reads a list, and moves the offset behind it.
  init(_ bytes: RawSpan, at offset: inout Int) throws {
    var names: [NameID] = []
    self = try ChangedNames.read(bytes, at: &offset) { names.append($0) } ? .these(names) : .any
  }

  /// Visits the names of a list, and moves the offset behind it.
  ///
  /// - Returns: False if it stands for any name.
  @inline(__always)
  @discardableResult
  static func read(
    _ bytes: RawSpan, at offset: inout Int, _ body: (NameID) -> Void = { _ in }
  ) throws -> Bool {
    let count = try bytes.load(UInt8.self, at: offset)
    offset += 1
    if count == .max { return false }
    var last: UInt64 = 0
    for index in 0..<count {
      let step = try bytes.varint(at: &offset)
      guard count <= countMax, index == 0 || step > 0, step <= UInt64(NameID.max) - last else {
        throw DatabaseError.corrupt(reason: "the names of changed properties do not ascend")
      }
      last += step
      body(NameID(last))
    }
    return true
  }

  func append(to bytes: inout [UInt8]) {
    guard case .these(let names) = self else { return bytes.append(.max) }
    bytes.append(UInt8(names.count))
    var last: NameID = 0
    for name in names {
      bytes.append(varint: UInt64(name - last))
      last = name
    }
  }

  /// True if a property may differ.
  func mayHold(_ wanted: NameID) -> Bool {
    guard case .these(let names) = self else { return true }
    return names.contains(wanted)
  }

  /// Adds what differs between other versions.
  mutating func formUnion(_ other: ChangedNames) {
    guard case .these(let names) = self, case .these(let others) = other else {
      self = .any
      return
    }
    if others.isEmpty { return }
    let all = Set(names).union(others)
    self = all.count > ChangedNames.countMax ? .any : .these(all.sorted())
  }
}
