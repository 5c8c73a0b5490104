import Cambium
import Foundation

/// Reads the answers of the server, as values and errors.
enum ServerAnswer {
  /// The object of an answer.
  ///
  /// - Throws: The error that the server has told, or ``RemoteStoreError``.
  static func object(_ answer: TransportAnswer) throws -> ValueMap {
    guard answer.status == 200 else { throw error(of: answer) }
    return try object(answer.body)
  }

  static func object(_ bytes: some Sequence<UInt8>) throws -> ValueMap {
    guard case .map(let members) = try value(Array(bytes)) else {
      throw RemoteStoreError.unexpectedAnswer(reason: "it is no object")
    }
    return members
  }

  private static func value(_ bytes: [UInt8]) throws -> Value {
    do {
      return try JSONReader.value(of: String(decoding: bytes, as: UTF8.self), name: "the answer")
    } catch { throw RemoteStoreError.unexpectedAnswer(reason: "\(error)") }
  }

  /// The error that an answer tells.
  ///
  /// - Parameters:
  ///   - answer: The answer.
  ///   - isBare: True if the body is the error itself.
  /// - Returns: The error of the database, or ``RemoteStoreError/refused(status:message:)``.
  static func error(of answer: TransportAnswer, isBare: Bool = false) -> any Error {
    guard let members = try? object(answer.body) else {
      let text = String(decoding: answer.body.prefix(200), as: UTF8.self)
      return RemoteStoreError.refused(status: answer.status, message: text)
    }
    let told = isBare ? Value.map(members) : members["error"] ?? .null
    if let error = ErrorValue.error(of: told) { return error }
    guard case .map(let error) = told else {
      return RemoteStoreError.refused(status: answer.status, message: "no reason is given")
    }
    return RemoteStoreError.refused(
      status: answer.status, message: error.text("message") ?? error.text("code") ?? "")
  }

  /// The record of a member; nil where it is null.
  static func record(_ value: Value?) throws -> (record: DynamicRecord, modified: SequenceNumber)? {
    guard case .map(let members)? = value else { return nil }
    guard let path = members.path("path"), case .map(let values)? = members["values"] else {
      throw RemoteStoreError.unexpectedAnswer(reason: "a record has no path, or no values")
    }
    return (DynamicRecord(path, values), members.sequence("modified"))
  }

  /// The changes of an event.
  static func changes(_ data: [UInt8]) throws -> [RecordChange] {
    guard case .array(let elements) = try value(data) else {
      throw RemoteStoreError.unexpectedAnswer(reason: "changes are no array")
    }
    return try elements.map { element in
      guard case .map(let members) = element, let path = members.path("path") else {
        throw RemoteStoreError.unexpectedAnswer(reason: "a change has no path")
      }
      var change = RecordChange(path: path)
      if case .map(let old)? = members["old"] { change.old = old }
      if case .map(let new)? = members["new"] { change.new = new }
      return change
    }
  }

  /// The records of a list, which is whole.
  static func list(_ body: [UInt8]) throws -> [DynamicRecord] {
    var records: [DynamicRecord] = []
    for line in body.split(separator: UInt8(ascii: "\n")) {
      let members = try object(line)
      if let error = members["error"] {
        throw ErrorValue.error(of: error)
          ?? RemoteStoreError.refused(status: 200, message: "the list failed on its way")
      }
      if members["end"] == true {
        if members.count("count") == records.count { return records }
        break
      }
      guard let record = try record(.map(members)) else { continue }
      records.append(record.record)
    }
    throw TransportFailure("the list was cut off")
  }
}
