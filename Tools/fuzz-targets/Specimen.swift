import FoundationEssentials
import LMDB

@testable import Cambium

/// A sound data file that is damaged: the same bytes in every process, so that an input means the
/// same everywhere.
struct Specimen: Sendable {
  let image: [UInt8]
  let tables: [String]

  /// One with all kinds of pages in few tables, and the log of a database.
  static let all: [Specimen] = mustSucceed("making specimens") {
    [try made(), Specimen(image: try Fixtures.log(), tables: LogTables.names)]
  }

  /// Trees of several levels, values in pages of their own, and free pages.
  private static func made() throws -> Specimen {
    try Fixtures.withDirectory { directory in
      let tables = ["large", "small"]
      let environment = try Environment(at: directory, .init(tables: tables, mapSize: 1 << 22))
      for round in 0..<6 {
        let transaction = try WriteTransaction(environment)
        for number in stride(from: round, to: 120, by: round + 1) {
          let key = (0..<(1 + number * 3)).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0) }
          let value = [UInt8](repeating: UInt8(round), count: number % 16 == 0 ? 9_000 : number)
          let table = try environment.table(tables[number % 2])
          try key.lend { key in try value.lend { try transaction.put(table, key, $0) } }
          if round == 5 { try key.lend { _ = try transaction.delete(table, $0) } }
        }
        try transaction.commit()
      }
      environment.close()
      let file = URL(filePath: "\(directory)/data.mdb")
      return Specimen(image: [UInt8](try Data(contentsOf: file)), tables: tables)
    }
  }

  /// Reads every byte of every table, from both ends.
  func read(_ environment: Environment) throws {
    let tables = try tables.map { try environment.table($0) }
    let transaction = try ReadTransaction(environment, tables: tables)
    var sum = 0
    for table in tables {
      try transaction.access.forEach(table) { key, value in sum &+= key.sum &+ value.sum }
      var cursor = try Cursor(transaction.access, table)
      var isThere = try cursor.last()
      while isThere { isThere = try cursor.previous() }
    }
    withExtendedLifetime(sum) {}
  }

  /// Writes so much that pages are split, taken from the free list and given back.
  func write(_ environment: Environment) throws {
    for round in 0..<3 {
      let transaction = try WriteTransaction(environment)
      for table in try tables.map({ try environment.table($0) }) {
        for number in 0..<40 {
          let key = [UInt8(truncatingIfNeeded: number &* 67), UInt8(number)]
          let value = [UInt8](repeating: 1, count: number == 20 ? 12_000 : number &* 9)
          try key.lend { key in
            if round == 1 && !number.isMultiple(of: 3) {
              try transaction.delete(table, key)
            } else {
              try value.lend { try transaction.put(table, key, $0) }
            }
          }
        }
      }
      try transaction.commit()
    }
  }
}

extension RawSpan {
  /// So that every byte is read.
  fileprivate var sum: Int { array().reduce(0) { $0 &+ Int($1) } }
}
