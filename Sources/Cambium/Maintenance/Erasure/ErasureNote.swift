// The event in the record of an erasure, which describes the records that the erasure has changed:
//
//     per record: sequence number u64 | BLAKE2b-256 of the operations that are left
//
// The link of such a record covers what it held before. So the chain, which covers this event,
// vouches for the rest: `verify` compares. Where a record was changed twice the later note counts.

import FoundationEssentials

/// The digests of some records as an erasure has left them.
struct ErasureNote {
  private(set) var bytes: [UInt8] = []

  /// Each event stays well below the limit for a value.
  private static let bytesMax = 1 << 19
  private static let entryCount = 8 + Digest.bytesCount

  /// True if there is no room for another record in this event.
  var isFull: Bool { bytes.count + ErasureNote.entryCount > ErasureNote.bytesMax }

  /// Adds a record after it was changed.
  mutating func add(_ record: TransactionRecord) {
    bytes.append(littleEndian: record.sequence.rawValue)
    bytes += ErasureNote.digest(of: record)
  }

  /// The event's operation.
  func operation() throws -> Operation {
    .event(Erasure.eventName, try Value.data(Data(bytes)).stored())
  }

  static func digest(of record: TransactionRecord) -> [UInt8] {
    record.operations.lend { Digest.of($0) }
  }

  /// Visits the entries of an operation, if it is such an event.
  static func forEach(
    in operation: Operation, _ body: (SequenceNumber, _ digest: [UInt8]) -> Void
  ) throws {
    guard case .event(Erasure.eventName, let payload) = operation,
      case .data(let data) = try payload.lend({ try Value($0) })
    else { return }
    try [UInt8](data).lend { bytes in
      var offset = 0
      while offset < bytes.byteCount {
        let sequence = SequenceNumber(try bytes.load(UInt64.self, at: offset))
        body(sequence, try bytes.array(offset + 8, Digest.bytesCount))
        offset += entryCount
      }
    }
  }
}

/// Compares what is left of erased records with what the records of erasures say.
struct ErasureCheck {
  private var left: [SequenceNumber: [UInt8]] = [:]
  private var noted: [SequenceNumber: [UInt8]] = [:]

  /// Takes in the next record.
  mutating func take(_ record: TransactionRecord) {
    if record.isErased { left[record.sequence] = ErasureNote.digest(of: record) }
  }

  /// Takes in one of its operations.
  mutating func take(_ operation: Operation) throws {
    try ErasureNote.forEach(in: operation) { noted[$0] = $1 }
  }

  /// The first record that is not as an erasure has left it, or nil.
  var firstWrong: SequenceNumber? {
    left.filter { noted[$0.key] ?? $0.value != $0.value }.keys.min()
  }

  /// The number of records that were changed by an erasure which the log does not record.
  var unvouched: UInt64 { UInt64(left.keys.count { noted[$0] == nil }) }
}
