/// Adds stored numbers.
enum Arithmetic {
  /// The stored sum; an absent value counts as zero, and a double makes the sum a double.
  static func sum(_ stored: [UInt8]?, _ step: [UInt8], _ path: NodePath) throws -> [UInt8] {
    let step = try step.lend { try Value($0) }
    let start = try stored.map { try $0.lend { try Value($0) } } ?? .integer(0)
    switch (start, step) {
    case (.integer(let a), .integer(let b)):
      let (sum, overflow) = a.addingReportingOverflow(b)
      if overflow { throw DatabaseError.badValue(path, reason: "the sum does not fit 64 bits") }
      return try Value.integer(sum).stored()
    case (.double(let a), .double(let b)): return try Value.double(a + b).stored()
    case (.integer(let a), .double(let b)): return try Value.double(Double(a) + b).stored()
    case (.double(let a), .integer(let b)): return try Value.double(a + Double(b)).stored()
    default:
      throw DatabaseError.badValue(path, reason: "only numbers can be incremented, by numbers")
    }
  }

  /// A stored number with the other sign.
  static func opposite(_ step: [UInt8], _ path: NodePath) throws -> [UInt8] {
    switch try step.lend({ try Value($0) }) {
    case .integer(let number) where number != .min: return try Value.integer(-number).stored()
    case .double(let number): return try Value.double(-number).stored()
    default: throw DatabaseError.badValue(path, reason: "there is no number of the other sign")
    }
  }

  /// True if a stored number is zero, which is what an absent number counts as.
  static func isZero(_ stored: [UInt8]) throws -> Bool {
    let value = try stored.lend { try Value($0) }
    return value == .integer(0) || value == .double(0)
  }
}
