import CSQLite
import FoundationEssentials

@testable import Cambium

/// SQLite in memory, as an oracle: tables made of records, and answers as values.
@safe final class SQLite {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private var handle: OpaquePointer?

  init() throws { try check(unsafe sqlite3_open(":memory:", &handle)) }

  deinit { unsafe sqlite3_close(handle) }

  func run(_ text: String) throws {
    try check(unsafe sqlite3_exec(handle, text, nil, nil, nil), text)
  }

  /// Runs a statement once for each row of parameters, in one transaction.
  func run(_ text: String, _ rows: [[Value?]]) throws {
    try run("BEGIN")
    var statement: OpaquePointer?
    defer { unsafe sqlite3_finalize(statement) }
    try check(unsafe sqlite3_prepare_v2(handle, text, -1, &statement, nil), text)
    for row in rows {
      for (index, value) in row.enumerated() { try unsafe bind(statement, Int32(index + 1), value) }
      let code = unsafe sqlite3_step(statement)
      if code != SQLITE_DONE { try check(code, text) }
      try check(unsafe sqlite3_reset(statement), text)
    }
    try run("COMMIT")
  }

  /// The rows that a query gives; integers, doubles, texts and nulls.
  func rows(_ text: String) throws -> [[Value]] {
    var statement: OpaquePointer?
    defer { unsafe sqlite3_finalize(statement) }
    try check(unsafe sqlite3_prepare_v2(handle, text, -1, &statement, nil), text)
    var rows: [[Value]] = []
    while unsafe sqlite3_step(statement) == SQLITE_ROW {
      let columns = unsafe sqlite3_column_count(statement)
      rows.append((0..<columns).map { column in unsafe value(statement, column) })
    }
    try check(unsafe sqlite3_reset(statement), text)
    return rows
  }

  private func value(_ statement: OpaquePointer?, _ column: Int32) -> Value {
    switch unsafe sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: .integer(unsafe sqlite3_column_int64(statement, column))
    case SQLITE_FLOAT: .double(unsafe sqlite3_column_double(statement, column))
    case SQLITE_TEXT: .string(unsafe String(cString: sqlite3_column_text(statement, column)))
    default: .null
    }
  }

  /// Dates are microseconds.
  private func bind(_ statement: OpaquePointer?, _ index: Int32, _ value: Value?) throws {
    let code: Int32
    switch value {
    case nil, .null?: code = unsafe sqlite3_bind_null(statement, index)
    case .integer(let number)?: code = unsafe sqlite3_bind_int64(statement, index, number)
    case .double(let number)?: code = unsafe sqlite3_bind_double(statement, index, number)
    case .date(let date)?:
      code = unsafe sqlite3_bind_int64(statement, index, date.microseconds)
    case .string(let text)?:
      // SQLITE_TRANSIENT: SQLite takes a copy.
      let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      code = unsafe sqlite3_bind_text(statement, index, text, -1, copied)
    default: throw Failure(description: "no column for \(String(describing: value))")
    }
    try check(code)
  }

  private func check(_ code: Int32, _ text: String = "") throws {
    if code == SQLITE_OK { return }
    throw Failure(description: unsafe String(cString: sqlite3_errmsg(handle)) + " in " + text)
  }
}
