@testable import Cambium

/// Transaction records and their operations, as if the checksum had been made after the damage; and
/// compressed entries of records as they are.
enum RecordTarget {
  static let target = FuzzTarget(name: "record", seeds: seeds, run: run)

  private static func seeds() throws -> [[UInt8]] {
    try Fixtures.withDatabase { database in
      let head = try database.head.rawValue
      return try database.directory.log.read { reader in
        let records = try (1...head).map { try reader.record(SequenceNumber($0)) }
        let (sizes, compressor) = (RecordSizes(compressedBytes: 0), ZstandardCompressor())
        return records.map { $0.stored() }
          + records.map { RecordEntry.make(of: $0, sizes, compressor) }
      }
    }
  }

  private static func run(_ input: inout FuzzInput) {
    guard input.rest.count >= 8 else { return }
    let entry = Array(input.rest)
    unlessRefused("entry") { _ = try entry.lend { try RecordEntry.record($0) } }
    let bytes = Array(input.rest).sealed(at: 0) { Checksum.of($0) }
    guard let record = unlessRefused("record", { try decoded(bytes) }) else { return }
    requireReturn(of: record, { $0.stored() }, decoded)
    require(record.chained(to: record.link).count == Digest.bytesCount, "a link has its length")
    unlessRefused("operations") { try check(record.operations) }
  }

  private static func decoded(_ bytes: [UInt8]) throws -> TransactionRecord {
    try bytes.lend { try TransactionRecord($0) }
  }

  private static func check(_ bytes: [UInt8]) throws {
    let operations = try decodedOperations(bytes)
    requireReturn(of: operations, encoded, decodedOperations)
    for operation in operations {
      mustSucceed("paths") { try operation.checkPaths() }
      _ = "\(operation)"
      unlessRefused("content") { try checkContent(operation) }
    }
  }

  private static func decodedOperations(_ bytes: [UInt8]) throws -> [Operation] {
    var reader = OperationReader(bytes)
    var operations: [Operation] = []
    while let operation = try reader.next() { operations.append(operation) }
    return operations
  }

  private static func encoded(_ operations: [Operation]) -> [UInt8] {
    var writer = OperationWriter()
    for operation in operations { writer.write(operation) }
    require(Int(writer.count) == operations.count, "all operations are counted")
    return writer.bytes
  }

  private static func checkContent(_ operation: Operation) throws {
    switch operation {
    case .set(_, let content) where content.kind == .record: try StoredContent.record(content.bytes)
    case .set(_, let content): try StoredContent.value(content.bytes)
    case .update(_, let updates):
      for update in updates { try update.value.map { try StoredContent.value($0) } }
    case .change(_, _, let change): try change.payload.map { try StoredContent.value($0) }
    case .event(_, let value): try StoredContent.value(value)
    case .declare(_, let definition?):
      try StoredContent.value(definition)
      _ = try CollectionDefinition(definition.lend { try Value($0) })
    case .remove, .restore, .move, .define, .declare(_, nil): break
    }
  }
}

extension [UInt8] {
  /// A copy whose checksum fits what follows it.
  func sealed(at offset: Int, _ checksum: (RawSpan) -> UInt64) -> [UInt8] {
    var sealed = self
    let sum = lend { checksum($0.extracting(droppingFirst: offset + 8)) }
    sealed.store(sum, at: offset)
    return sealed
  }
}
