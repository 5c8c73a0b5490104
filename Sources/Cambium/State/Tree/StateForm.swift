// The state's `meta` table has an entry `form`: 1 (u32), with the checksum that all entries have.
// It means that the tables counts, history, removals, index and views are sealed; see Seal.swift in
// LMDB. The state in a baseline of an earlier version has no such entry; it is sealed when it is
// opened to continue folding from it.

import LMDB

/// Determines the protection of a state's entries, and seals the entries of a new one.
struct StateForm {
  private let environment: Environment

  static let name = Array("form".utf8)
  private static let sealed: UInt32 = 1

  init(_ environment: Environment) { self.environment = environment }

  /// The state's tables; sealed first, if they are not and may be written.
  func tables() throws -> StateTables {
    let plain = try StateTables(environment, isSealed: false)
    let isSealed = try isSealed(plain)
    if !isSealed {
      if environment.isReadOnly { return plain }
      try seal(plain)
    }
    return try StateTables(environment, isSealed: true)
  }

  private func isSealed(_ tables: StateTables) throws -> Bool {
    let transaction = try ReadTransaction(environment, tables: [])
    return try isSealed(tables, transaction.access)
  }

  private func isSealed(_ tables: StateTables, _ access: Access) throws -> Bool {
    try StateForm.name.lend { name in
      try access.get(tables.meta, name) { try StateForm.seal($0) == .short } ?? false
    }
  }

  /// The seal of the tables of a state that has this entry.
  static func seal(_ entry: RawSpan) throws -> Seal {
    let form = try MetaEntry.open(entry, name: name) { try $0.load(UInt32.self, at: 0) }
    guard form == sealed else {
      throw DatabaseError.corrupt(reason: "the state has a form that is not known: \(form)")
    }
    return .short
  }

  /// Seals all entries in one transaction, and stores the entry that says so.
  private func seal(_ plain: StateTables) throws {
    let transaction = try WriteTransaction(environment)
    // Another process may have done it in the meantime.
    if try isSealed(plain, transaction.access) { return }
    let sealed = try StateTables(environment, isSealed: true)
    for (from, to) in zip(plain.read, sealed.read) where from != to {
      try seal(from, as: to, transaction)
    }
    let form = [UInt8](littleEndian: StateForm.sealed)
    try StateForm.name.lend { name in
      try MetaEntry.seal(form, name: StateForm.name).lend {
        try transaction.put(plain.meta, name, $0)
      }
    }
    try transaction.commit()
  }

  private func seal(
    _ plain: Table, as sealed: Table, _ transaction: borrowing WriteTransaction
  ) throws {
    var place: [UInt8] = [0]
    while true {
      let entries = try StateForm.entries(plain, from: place, transaction.access)
      for (key, value) in entries {
        try key.lend { key in try value.lend { try transaction.put(sealed, key, $0) } }
      }
      guard let last = entries.last else { return }
      place = last.key + [0]
    }
  }

  /// Copies of the entries from a key on, one batch at a time.
  private static func entries(
    _ table: Table, from place: [UInt8], _ access: Access
  ) throws -> [(key: [UInt8], value: [UInt8])] {
    var cursor = try Cursor(access, table)
    var (entries, bytesCount) = ([(key: [UInt8], value: [UInt8])](), 0)
    var isThere = try place.lend { try cursor.seek($0) }
    while isThere, bytesCount < 1 << 20 {
      entries.append(cursor.withEntry { ($0.array(), $1.array()) })
      bytesCount += entries.last?.value.count ?? 0
      isThere = try cursor.next()
    }
    return entries
  }
}
