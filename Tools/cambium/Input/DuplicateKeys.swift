import Cambium

/// Finds rows of an import that have the key of an earlier one.
///
/// Keys are remembered by a hash of 64 bits: about 30 bytes for each row. Two of ten million keys
/// have the same with a chance of one in 300,000.
final class DuplicateKeys {
  /// The treatment of a row whose key is there already.
  enum Treatment: String, CaseIterable {
    /// It ends the import.
    case refused
    /// It takes the place of the earlier one.
    case last
    /// It is left out.
    case first
    /// It is left out, also if the key was in the database before the import.
    case skip

    /// The names of all that can be asked for.
    static let names = allCases.filter { $0 != .refused }.map(\.rawValue)
  }

  /// Two rows of one key.
  struct Found: Error {
    let key: Key
    let offset: UInt64
    /// The offset of the first one.
    let first: UInt64
  }

  let treatment: Treatment
  /// The offset of the row of each key, by the key's hash.
  private var offsets: [Int: UInt64] = [:]

  init(_ treatment: Treatment) { self.treatment = treatment }

  /// True if keys must be looked at, also those of rows that an earlier run has committed.
  var areNoted: Bool { treatment != .last }

  /// Notes the key of a row; false if the row is to be left out.
  func takes(_ path: NodePath, _ offset: UInt64) throws(Found) -> Bool {
    guard areNoted, let key = path.last else { return true }
    guard let first = offsets.updateValue(offset, forKey: key.hashValue) else { return true }
    if treatment == .refused { throw Found(key: key, offset: offset, first: first) }
    return false
  }
}

extension DuplicateKeys.Found {
  /// The error for the user.
  func at(_ here: InputError, _ first: InputError.Place?) -> InputError {
    let earlier = first.map { "line \($0.line), column \($0.column)" } ?? "an earlier row"
    return InputError(
      input: here.input, place: here.place,
      reason: "expected each key once, found \(InputError.excerpt(key.description.utf8)) again, "
        + "the key of \(earlier)",
      hint: "correct one of them, or add --on-duplicate last, first or skip")
  }
}
