/// The stand-in for an absent value of a property, in its stored form.
///
/// It is part of the declaration, so that conditions, indexes, views and the app's types read the
/// same value from a record that was written before the property existed.
struct StandIn: Hashable, Sendable {
  /// The stand-in for absence; empty if that is null.
  var ofAbsence: [UInt8] = []
  /// The stand-in for a stored null; empty if null is a value of its own.
  var ofNull: [UInt8] = []

  static let null = StandIn()

  init() {}

  init(_ property: PropertyDefinition?) throws {
    guard let property, let absence = property.absence else { return }
    ofAbsence = try absence.stored()
    if property.isNullable == false { ofNull = ofAbsence }
  }

  /// The stand-in for a copy of a record's value, which is null if the record has none, and absent
  /// if there is no record.
  init(ofCopy property: PropertyDefinition?) throws {
    ofNull = try StandIn(property).ofNull
  }

  /// True if adding to it, or adding an element, has the same result as adding to an absent value.
  var isNeutral: Bool {
    get throws {
      if ofAbsence.isEmpty { return true }
      switch try ofAbsence.lend({ try Value($0) }) {
      case .integer(0), .null: return true
      case .array(let elements): return elements.isEmpty
      case .map(let members): return members.isEmpty
      default: return false
      }
    }
  }
}

extension RecordTable {
  /// Lends the value of a property, or its stand-in; empty if that is null.
  @inline(__always)
  func lend<R>(
    _ record: RawSpan, _ name: NameID, or standIn: StandIn,
    _ body: (RawSpan) throws -> R
  ) throws -> R {
    guard let range = try find(record, name) else { return try standIn.ofAbsence.lend(body) }
    if !standIn.ofNull.isEmpty, try record.load(UInt8.self, at: range.lowerBound) == ValueTag.null {
      return try standIn.ofNull.lend(body)
    }
    return try body(record.extracting(range))
  }
}
