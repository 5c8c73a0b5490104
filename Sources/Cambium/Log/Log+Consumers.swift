// The positions of consumers, which the log keeps beside its records.

import LMDB

extension LogReader {
  /// The stored positions of consumers, by name.
  func consumers() throws -> [(name: String, position: SequenceNumber)] {
    let prefix = Array("consumer/".utf8)
    var consumers: [(name: String, position: SequenceNumber)] = []
    var cursor = try Cursor(access, tables.meta)
    var isThere = try prefix.lend { try cursor.seek($0) }
    while isThere {
      let key = cursor.withEntry { key, _ in key.array() }
      guard key.starts(with: prefix) else { break }
      let position = try cursor.withEntry { _, value in
        try MetaEntry.open(value, name: key) { try $0.load(UInt64.self, at: 0) }
      }
      let name = String(decoding: key[prefix.count...], as: UTF8.self)
      consumers.append((name, SequenceNumber(position)))
      isThere = try cursor.next()
    }
    return consumers
  }
}
