// A live query's groups, and the rows that they are made of, as entries ordered by their keys:
//
//     few      MemoryEntries: a list
//     many     ScratchEntries: files without a name, which go with the process
//
// So a query whose results are made of more rows than memory should hold, such as the ten best of
// a million groups, keeps in memory what it shows.

import LMDB

/// Entries of bytes, with which one operator works in steps.
///
/// - Threads: One at a time. A step begins and ends on one thread.
final class OperatorEntries {
  typealias Entry = (key: [UInt8], value: [UInt8])

  /// The memory that entries may take before they go to files, in bytes.
  private let memoryMax: Int
  private var memory = MemoryEntries()
  /// The files; nil as long as memory is enough.
  private var scratch: ScratchEntries?

  /// The directory for files.
  private let directory: String

  init(memoryMax: Int, in directory: String = Files.temporaryDirectory) {
    (self.memoryMax, self.directory) = (memoryMax, directory)
  }

  /// The memory that values which are made of entries should take at most, in bytes.
  var shareOfMemory: Int { memoryMax / 8 }

  /// True if the entries lie in files.
  var areInFiles: Bool { scratch != nil }

  /// Lends the entries for a step; nothing may read or change them otherwise.
  ///
  /// - Throws: Any error that `body` throws; ``DatabaseError/full(reason:)`` and the like if a file
  ///   cannot be written. The entries are then of no more use.
  func during<R>(_ body: () throws -> R) throws -> R {
    do {
      return try translating {
        let result = try body()
        try scratch?.commit()
        return result
      }
    } catch {
      scratch?.abandon()
      throw error
    }
  }

  /// The value of a key; nil if there is none.
  ///
  /// - Complexity: O(log *n*).
  func value(of key: [UInt8]) throws -> [UInt8]? {
    if let scratch { return try scratch.value(of: key) }
    return memory.value(of: key)
  }

  /// Stores the value of a key, or removes it.
  ///
  /// - Throws: ``StorageError`` if a file cannot be written.
  func set(_ key: [UInt8], to value: [UInt8]?) throws {
    if let scratch { return try scratch.set(key, to: value) }
    memory.set(key, to: value)
    if memory.bytesCount > memoryMax { try moveToFiles() }
  }

  /// The first entry behind a key, of those whose keys begin with some bytes.
  ///
  /// - Parameters:
  ///   - key: The key, which need not be there; nil for the first of all.
  ///   - prefix: The first bytes.
  /// - Returns: The entry; nil if there is none.
  /// - Throws: ``StorageError`` if a file cannot be read.
  /// - Complexity: O(log *n*), and a look at each of the entries in files that have as many bytes
  ///   in common as ``ScratchEntries`` orders.
  func first(behind key: [UInt8]? = nil, startingWith prefix: [UInt8]) throws -> Entry? {
    if let scratch { return try scratch.first(behind: key, startingWith: prefix) }
    return memory.first(behind: key, startingWith: prefix)
  }

  private func moveToFiles() throws {
    let files = try ScratchEntries(
      in: directory, pendingMax: 4 * min(memoryMax, 16 << 20))
    scratch = files
    for entry in memory.all { try files.set(entry.key, to: entry.value) }
    memory = MemoryEntries()
  }
}

extension OperatorEntries {
  /// Visits the entries whose keys begin with some bytes, in their order, until `body` returns
  /// false. It may change entries, those behind the visited one, too.
  func forEach(
    behind key: [UInt8]? = nil, startingWith prefix: [UInt8], _ body: (Entry) throws -> Bool
  ) throws {
    var last = key
    while let entry = try first(behind: last, startingWith: prefix), try body(entry) {
      last = entry.key
    }
  }
}
