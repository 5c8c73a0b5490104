// The positions of consumers, which the log keeps beside its records.

extension LogReader {
  /// The stored positions of consumers, by name.
  func consumers() throws -> [(name: String, position: SequenceNumber)] {
    let prefix = Array("consumer/".utf8)
    var consumers: [(name: String, position: SequenceNumber)] = []
    try forEachEntry(startingWith: prefix) { key, value in
      let name = String(decoding: key[prefix.count...], as: UTF8.self)
      consumers.append((name, SequenceNumber(try value.load(UInt64.self, at: 0))))
    }
    return consumers
  }
}
