import Cambium

/// The records that answer a query, each a line of JSON, read at one moment while they are sent.
///
///     {"path":"pets/1","values":{"age":3,"owner":"ada"}}
///     {"count":1,"end":true,"sequence":12}
///
/// A list without its last line was cut off. One that fails on its way ends with an `error`.
struct RecordList {
  private static let pieceBytes = 32 << 10

  let query: DynamicQuery
  let sequence: SequenceNumber

  /// The answer, which is written while it is sent.
  ///
  /// It throws ``Refusal`` where too many are being sent.
  func response(_ writers: Workers) throws -> Response {
    let pipe = BodyPipe()
    let isBegun = writers.write {
      do { try write(to: pipe) } catch is BodyPipe.Abandoned { return } catch {
        let value = ErrorValue.value(of: error) ?? ["message": .string("\(error)")]
        let last: ValueMap = ["error": .map(value)]
        try? pipe.write(RecordList.line(last))
      }
      pipe.finish()
    }
    guard isBegun else {
      throw Refusal(status: 503, "busy", "too many lists are being sent; try again")
    }
    return Response(
      200, headers: [("Content-Type", "application/x-ndjson; charset=utf-8")], body: .pipe(pipe))
  }

  private func write(to pipe: BodyPipe) throws {
    var (piece, count): ([UInt8], Int64) = ([], 0)
    try query.forEach { record in
      JSONWriter.append(
        ["path": .string(record.path.description), "values": .map(record.values)], to: &piece)
      piece.append(UInt8(ascii: "\n"))
      count += 1
      if piece.count < RecordList.pieceBytes { return }
      try pipe.write(piece)
      piece = []
    }
    let last: ValueMap = [
      "count": .integer(count), "end": true, "sequence": RecordsService.number(sequence),
    ]
    try pipe.write(piece + RecordList.line(last))
  }

  private static func line(_ members: ValueMap) -> [UInt8] {
    var bytes: [UInt8] = []
    JSONWriter.append(members, to: &bytes)
    return bytes + [UInt8(ascii: "\n")]
  }
}
