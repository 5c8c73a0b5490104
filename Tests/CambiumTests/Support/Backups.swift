// A backup beside a database, and what is restored from it.

import Foundation
import LMDB
import Testing

@testable import Cambium

extension Place {
  /// Where a test's backup is.
  var backup: String { beside("test.backup") }

  /// Lends a database that is restored, which must be sound.
  @discardableResult
  func withRestored<R>(
    _ moment: Moment = .now, from backup: String? = nil, _ body: (Database) throws -> R
  ) throws -> R {
    let path = beside("restored.cambium")
    let last = try Database.restore(backup ?? self.backup, to: path, upTo: moment)
    let restored = try Database(at: path)
    #expect(try restored.head == last)
    let result = try body(restored)
    try CambiumTests.expectSound(restored)
    try restored.close()
    try Files.removeDirectory(path)
    return result
  }

  /// The newest transaction of a database that is restored, which must be sound.
  func restoredHead(_ moment: Moment = .now) throws -> SequenceNumber {
    try withRestored(moment) { try $0.head }
  }

  /// The contents of the files in a directory beside the database, by name.
  func listing(of name: String) throws -> [String: Data] {
    var listing: [String: Data] = [:]
    for file in try Files.names(in: beside(name)) {
      listing[file] = try Data(contentsOf: URL(filePath: "\(beside(name))/\(file)"))
    }
    return listing
  }
}

extension Database {
  /// Makes so many transactions, each with its own number in one of seven nodes.
  func count(_ count: Int) throws {
    for _ in 0..<count {
      try write { tx in
        let number = Int64(tx.sequence.rawValue)
        try tx.set(NodePath(keys: ["n", .integer(number % 7)]), to: ["count": .integer(number)])
      }
    }
  }
}
