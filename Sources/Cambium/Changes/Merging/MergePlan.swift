// Which moments a merge compares. Where one side was merged into the other before, the base is what
// was merged then, so that nothing is taken over, and no conflict decided, a second time. A merge
// says in its metadata what it took over, under `merges`: the number of the other side's newest
// transaction, and its link, which no other history has.
//
//     this    1 ── 2 ── 3 ── 4 ── 5(merges 4') ── 6          merging 6': the base is 4'
//                  └─── 3'── 4'── 5'── 6'         other

/// The moments and places that a merge compares.
struct MergePlan: Sendable {
  /// The common past.
  let past: CommonPast
  /// The moment that both sides contain.
  let base: PlacedMoment
  /// The moment that is merged.
  let there: PlacedMoment
  /// The other side's transactions that may have changed what was common.
  let stretch: LogStretch
  /// This side's transactions since the common past.
  let here: LogStretch
  /// The node that is merged, with all below it.
  let under: NodePath

  /// The name of the entry in the metadata.
  static let metadataName = "merges"

  init(of other: OpenDirectory, into directory: OpenDirectory, under: NodePath) throws {
    if other === directory {
      throw DatabaseError.misuse(reason: "a database cannot be merged into itself")
    }
    self.under = under
    past = try CommonPast(of: directory, and: other)
    there = PlacedMoment(directory: other, sequence: past.otherHead)
    here = LogStretch(directory: directory, after: past.last, upTo: past.head)
    let whole = LogStretch(directory: other, after: past.last, upTo: past.otherHead)
    let into = try MergePlan.newestMerge(in: here, of: whole, under)
    let from = try MergePlan.newestMerge(in: whole, of: here, under)
    // The later of the two contains the earlier, unless each was merged before the other was; then
    // either is a moment that both sides contain.
    if let from, into.map({ $0.merged < from.by && $0.by <= from.merged }) ?? true {
      base = PlacedMoment(directory: directory, sequence: from.merged)
      stretch = whole
    } else {
      let merged = into?.merged ?? past.last
      base = PlacedMoment(directory: other, sequence: merged)
      stretch = LogStretch(directory: other, after: merged, upTo: past.otherHead)
    }
  }

  /// True if the other side has nothing new.
  var isEmpty: Bool { stretch.after >= stretch.upTo }

  /// The text that a merge leaves in its metadata.
  func mark() throws -> String {
    let link = try there.directory.log.read { try $0.link(of: there.sequence) }
    return MergeMark(sequence: there.sequence, link: MergeMark.text(link), under: under).text
  }

  /// The newest merge in one stretch that took over a moment of another.
  private static func newestMerge(
    in stretch: LogStretch, of other: LogStretch, _ under: NodePath
  ) throws -> (merged: SequenceNumber, by: SequenceNumber)? {
    var sequence = stretch.upTo
    while sequence > stretch.after {
      let record = try stretch.directory.log.read { try $0.record(sequence) }
      if let mark = record.metadata[metadataName].flatMap({ MergeMark($0) }),
        under.isWithin(mark.under), mark.sequence > other.after, mark.sequence <= other.upTo,
        try MergeMark.text(other.directory.log.read { try $0.link(of: mark.sequence) }) == mark.link
      {
        return (mark.sequence, sequence)
      }
      sequence = sequence.previous
    }
    return nil
  }
}

/// The text by which a transaction says what it has merged: `6 8f3c0d11a2b4c6d8 path`.
private struct MergeMark {
  let sequence: SequenceNumber
  /// The first bytes of the link of that transaction, in hexadecimal digits.
  let link: String
  let under: NodePath

  private static let linkBytes = 16

  init(sequence: SequenceNumber, link: String, under: NodePath) {
    self.sequence = sequence
    self.link = link
    self.under = under
  }

  /// Reads a mark; nil if the text is none.
  init?(_ text: String) {
    let parts = text.split(separator: " ", maxSplits: 2)
    guard parts.count >= 2, let number = UInt64(parts[0]) else { return nil }
    sequence = SequenceNumber(number)
    link = String(parts[1])
    guard let path = parts.count < 3 ? .root : try? NodePath(parts[2]) else { return nil }
    under = path
  }

  var text: String { "\(sequence) \(link)" + (under.isRoot ? "" : " \(under)") }

  static func text(_ link: [UInt8]) -> String {
    link.prefix(linkBytes).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
