// The properties in which versions of a node differ, as a link to an earlier version notes them.
//
//     00…7F                         one, whose name has this number
//     80 + n | first | n bytes      a bit for each number from the first on; n is at most 63, and
//                                   80 alone says that nothing differs
//     C0 + n | n varints            n names, at most 32, each less the one before
//     FF                            any: too many to list, or a node that is no record
//
// The names are ascending; the first is a varint. Of bits and a list the shorter one is taken.
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
    while i < oldTable.count && j < newTable.count {
      let (a, b) = (try oldTable.name(old, i), try newTable.name(new, j))
      if a == b {
        let (before, after) = (try oldTable.value(old, i), try newTable.value(new, j))
        let isSame =
          before.count == after.count && old.extracting(before).equals(new.extracting(after))
        if !isSame { changed.append(a) }
      } else {
        changed.append(min(a, b))
      }
      if a <= b { i += 1 }
      if b <= a { j += 1 }
    }
    while i < oldTable.count {
      changed.append(try oldTable.name(old, i))
      i += 1
    }
    while j < newTable.count {
      changed.append(try newTable.name(new, j))
      j += 1
    }
    return changed.count > countMax ? .any : .these(changed)
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
    let head = try bytes.load(UInt8.self, at: offset)
    offset += 1
    switch head {
    case 0..<0x80: body(NameID(head))
    case 0x80: break
    case 0x81..<0xC0: try readBits(bytes, Int(head - 0x80), at: &offset, body)
    case 0xC1...0xE0: try readList(bytes, Int(head - 0xC0), at: &offset, body)
    case .max: return false
    default: throw damaged
    }
    return true
  }

  private static func readBits(
    _ bytes: RawSpan, _ count: Int, at offset: inout Int, _ body: (NameID) -> Void
  ) throws {
    let first = try bytes.varint(at: &offset)
    guard first <= UInt64(NameID.max) - 8 * UInt64(count) else { throw damaged }
    for place in 0..<count {
      let bits = try bytes.load(UInt8.self, at: offset)
      offset += 1
      for bit in 0..<8 where bits >> bit & 1 == 1 { body(NameID(first) + NameID(8 * place + bit)) }
    }
  }

  private static func readList(
    _ bytes: RawSpan, _ count: Int, at offset: inout Int, _ body: (NameID) -> Void
  ) throws {
    var last: UInt64 = 0
    for index in 0..<count {
      let step = try bytes.varint(at: &offset)
      guard index == 0 || step > 0, step <= UInt64(NameID.max) - last else { throw damaged }
      last += step
      body(NameID(last))
    }
  }

  private static let damaged = DatabaseError.corrupt(
    reason: "the names of changed properties do not ascend")

  func append(to bytes: inout [UInt8]) {
    guard case .these(let names) = self else { return bytes.append(.max) }
    guard let first = names.first, let last = names.last else { return bytes.append(0x80) }
    if names.count == 1, first < 0x80 { return bytes.append(UInt8(first)) }
    let start = bytes.count
    bytes.append(0xC0 | UInt8(names.count))
    bytes.append(varint: UInt64(first))
    let rest = bytes.count
    for (before, name) in zip(names, names.dropFirst()) {
      bytes.append(varint: UInt64(name - before))
    }
    let bitCount = Int(last - first) / 8 + 1
    guard bitCount < bytes.count - rest, last < .max - 8 else { return }
    bytes[start] = 0x80 | UInt8(bitCount)
    bytes.replaceSubrange(rest..., with: repeatElement(0, count: bitCount))
    for name in names { bytes[rest + Int(name - first) / 8] |= 1 << ((name - first) % 8) }
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
