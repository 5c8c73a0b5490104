import Cambium
import FoundationEssentials

/// Two moments as users write them, for output about the time between.
///
///     range   = [moment] ".." [moment]      see ``PointInTime``
///
/// Without the first it begins with the oldest moment there is, which is the empty database unless
/// the log was compacted; without the second it ends now.
struct MomentRange: Hashable, Sendable {
  /// Nil for the oldest moment.
  let from: PointInTime?
  /// Nil for the newest transaction.
  let to: PointInTime?

  /// Reads a range. Relative times count from `now`; days and times of day are those of `zone`.
  init(_ text: String, now: Date, zone: Zone) throws(GrammarError) {
    guard let dots = text.firstRange(of: "..") else {
      throw GrammarError(
        text: text, offset: text.utf8.count,
        reason: "a stretch is written A..B, A.. or ..B; `cambium show` tells of one transaction")
    }
    func moment(_ part: Substring) throws(GrammarError) -> PointInTime? {
      if part.isEmpty { return nil }
      do { return try PointInTime(String(part), now: now, zone: zone) } catch {
        let start = text.utf8.distance(from: text.startIndex, to: part.startIndex)
        throw GrammarError(text: text, offset: start + error.offset, reason: error.reason)
      }
    }
    from = try moment(text[..<dots.lowerBound])
    to = try moment(text[dots.upperBound...])
  }
}

extension OpenDatabase {
  /// The last transactions at or before the ends of a range.
  ///
  /// - Throws: As ``sequence(_:in:)``.
  static func sequences(
    _ range: MomentRange, in database: Database
  ) throws -> (from: SequenceNumber, to: SequenceNumber) {
    let from = try range.from.map { try sequence($0, in: database) } ?? database.horizon
    return (from, try sequence(range.to, in: database))
  }
}
