// A kept answer as the note that it is stored as:
//
//     microseconds since 1970 i64 | {"request": digest, …}
//
//     … "sequence", "isRecorded", "value"      a receipt
//     … "error"                                a refusal; see ErrorValue.swift
//     … "refusal"                              a refusal in a service's own words
//     … "status", "headers", "text"            the answer of a command
//     … "done"                                 what a command has done so far

import Cambium
import FoundationEssentials

/// An error in which a service refuses a request, and which is told again when the request is
/// repeated.
protocol KeptRefusal: Error {
  /// The error again.
  init(_ value: Value)
  /// The error as it is kept.
  var value: Value { get }
}

/// A receipt, a refusal, or the answer of a command.
struct KeptAnswer {
  /// The longest answer of a command that is kept whole.
  static let textBytesMax = 16 << 10

  private var members: ValueMap

  init(_ note: [UInt8]) throws {
    let text = String(decoding: note.dropFirst(8), as: UTF8.self)
    guard case .map(let members) = try JSONReader.value(of: text, name: "a kept answer") else {
      throw DatabaseError.corrupt(reason: "a kept answer is no object")
    }
    self.members = members
  }

  init(_ request: String, _ outcome: Result<AnsweredRequests.Receipt, any Error>) {
    members = ["request": .string(request)]
    switch outcome {
    case .success(let receipt):
      members["sequence"] = .integer(Int64(clamping: receipt.sequence.rawValue))
      members["isRecorded"] = .bool(receipt.isRecorded)
      if receipt.value != .null { members["value"] = receipt.value }
    case .failure(let error as any KeptRefusal): members["refusal"] = error.value
    case .failure(let error): members["error"] = ErrorValue.value(of: error).map { .map($0) }
    }
  }

  /// The answer of a command. Only the status is kept of one that was sent while it was written, or
  /// is long.
  init(_ request: String, _ response: Response) {
    members = ["request": .string(request), "status": .integer(Int64(response.status))]
    if case .bytes(let bytes) = response.body, bytes.count <= KeptAnswer.textBytesMax,
      let text = String(validating: bytes, as: UTF8.self)
    {
      members["text"] = .string(text)
      var headers = ValueMap()
      for (name, value) in response.headers { headers[name] = .string(value) }
      members["headers"] = .map(headers)
    }
  }

  /// The part that a command has done.
  init(_ request: String, done: Value) { members = ["request": .string(request), "done": done] }

  /// All that says what the request does.
  var request: String? { members.text("request") }

  /// The part that a command has done and has not answered yet.
  var done: Value? { members["done"] }

  /// The answer of a command, once there is one.
  var response: Response? {
    guard members["status"] != nil else { return nil }
    let replayed = (name: "Idempotency-Replayed", value: "true")
    guard let text = members.text("text"), case .map(let headers)? = members["headers"] else {
      return Response(
        members.count("status"), json: Array((#"{"v":1,"repeated":true}"# + "\n").utf8),
        headers: [replayed])
    }
    return Response(
      members.count("status"),
      headers: headers.members.map { ($0.name, headers.text($0.name) ?? "") } + [replayed],
      body: .bytes(Array(text.utf8)))
  }

  /// True for a refusal that would be another, or none, if the request were made later.
  static func isKept(_ error: any Error) -> Bool {
    switch error {
    case is ValidationError, is any KeptRefusal: true
    case DatabaseError.badKey, DatabaseError.badValue, DatabaseError.notFound,
      DatabaseError.exists, DatabaseError.invalid, DatabaseError.notUnique,
      DatabaseError.stillReferred, DatabaseError.conflict:
      true
    default: false
    }
  }

  /// True for a note that is not older than notes are kept. It is not read but for its time: of
  /// many notes this is all that is looked at.
  static func isFresh(_ note: [UInt8], _ time: Date, _ keep: Duration) -> Bool {
    let microseconds = note.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let at = Date(timeIntervalSince1970: Double(Int64(bitPattern: microseconds)) / 1e6)
    return time.timeIntervalSince(at) < keep.seconds
  }

  /// The outcome again.
  ///
  /// - Parameter refusal: The service's own errors; nil if it has none.
  /// - Returns: The receipt, or the refusal.
  func outcome(
    refusal: (any KeptRefusal.Type)?
  ) -> Result<AnsweredRequests.Receipt, any Error> {
    if let value = members["refusal"], let refusal { return .failure(refusal.init(value)) }
    if let error = members["error"] ?? members["refusal"] {
      return .failure(
        ErrorValue.error(of: error) ?? DatabaseError.corrupt(reason: "a kept refusal is unknown"))
    }
    return .success(
      AnsweredRequests.Receipt(
        sequence: members.sequence("sequence"), isRecorded: members["isRecorded"] == true,
        value: members["value"] ?? .null, isRepeated: true))
  }

  /// The note.
  func note(_ time: Date) -> [UInt8] {
    let microseconds = UInt64(bitPattern: Int64(time.timeIntervalSince1970 * 1e6))
    var bytes = (0..<8).map { UInt8(truncatingIfNeeded: microseconds >> (8 * $0)) }
    JSONWriter.append(members, to: &bytes)
    return bytes
  }
}
