/// A transaction's place in the log: 1 for the first, and one more for each that follows.
///
/// Zero is the empty database before the first transaction.
public struct SequenceNumber: RawRepresentable, Hashable, Comparable, Sendable,
  ExpressibleByIntegerLiteral, CustomStringConvertible
{
  /// The number itself.
  public let rawValue: UInt64

  /// Wraps a number.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Wraps a number.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// Wraps a literal.
  public init(integerLiteral value: UInt64) { rawValue = value }

  /// The empty database, before the first transaction.
  public static let zero = SequenceNumber(0)

  /// The number of the transaction after this one.
  public var next: SequenceNumber { SequenceNumber(rawValue &+ 1) }

  /// The number of the transaction before this one; zero stays zero.
  public var previous: SequenceNumber { SequenceNumber(rawValue == 0 ? 0 : rawValue - 1) }

  /// Orders by age: the older is the smaller.
  public static func < (a: SequenceNumber, b: SequenceNumber) -> Bool { a.rawValue < b.rawValue }

  /// The number in decimal.
  public var description: String { String(rawValue) }
}
