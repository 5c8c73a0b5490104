import Cambium

/// The key of a row, from some of its members.
struct RowKey: Sendable {
  /// The members whose values make the key; none for a key in order of time.
  let columns: [String]

  /// - Parameter list: `COLUMN[,COLUMN…]`, or nil.
  init(_ list: String?) {
    columns = list.map { $0.split(separator: ",").map(String.init) } ?? []
  }

  /// The key that a row's values make.
  ///
  /// One value makes it as it is written; several are joined by commas, with `%` and `,` in them
  /// written as `%25` and `%2C`, so that different values never make the same key.
  ///
  /// - Parameter text: Gives the text of a column, or throws where the row has none.
  /// - Returns: The key; a fresh one, in order of time, where there are no columns.
  /// - Throws: The error of `text`; `DatabaseError.badKey` for values that no key can have.
  func key(_ text: (String) throws -> String) throws -> Key {
    switch columns.count {
    case 0: return Key.unique()
    case 1: return try Key(try text(columns[0]))
    default: return try Key(try columns.map { RowKey.escaped(try text($0)) }.joined(separator: ","))
    }
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "%": escaped += "%25"
      case ",": escaped += "%2C"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
