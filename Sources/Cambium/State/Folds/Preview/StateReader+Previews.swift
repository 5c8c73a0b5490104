// Reads the value that a preview shows of another record.

import LMDB

extension StateReader {
  /// The value that a preview shows for a record, in its stored form: nil if the record refers to
  /// nothing, null if the other one has no value. The reader interprets null, so that a declaration
  /// of the other collection leaves the entries unchanged.
  func value(
    of preview: PreviewPlan, _ record: RawSpan, _ table: RecordTable
  ) throws -> [UInt8]? {
    let key = try table.lend(record, preview.reference, or: preview.standIn) {
      $0.byteCount == 0 ? nil : try StoredKey.bytes(naming: $0)
    }
    guard let key else { return nil }
    return try withRecord(key, below: preview.preview.target) { other in
      try RecordTable(other).find(other, preview.property).map {
        other.extracting($0).array()
      } ?? [ValueTag.null]
    }
  }
}
