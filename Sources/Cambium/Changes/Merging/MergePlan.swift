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
  /// The other side's transactions that are not contained here.
  let stretch: LogStretch
  /// The transactions that have touched what differs between the base and the other side.
  let touching: [LogStretch]
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
      // This side may have changed places that the other has left as they were, in a conflict.
      base = PlacedMoment(directory: directory, sequence: from.merged)
      stretch = whole
      touching = [whole, LogStretch(directory: directory, after: past.last, upTo: from.merged)]
    } else {
      let merged = into?.merged ?? past.last
      base = PlacedMoment(directory: other, sequence: merged)
      stretch = LogStretch(directory: other, after: merged, upTo: past.otherHead)
      touching = [stretch]
    }
  }

  /// True if the other side has nothing new.
  var isEmpty: Bool { stretch.after >= stretch.upTo }

  /// The text that a merge leaves in its metadata: what it takes over, and what that has itself
  /// taken over from others.
  func mark() throws -> String {
    let newest = try there.directory.log.read { try $0.link(of: there.sequence) }
    var marks = [MergeMark(there.sequence, newest, under)]
    try stretch.forEachRecord { record in
      for mark in MergeMark.all(in: record) {
        guard let mark = mark.clipped(to: under), marks.count < MergePlan.marksMax else { continue }
        marks.append(mark)
      }
    }
    return MergeMark.text(marks)
  }

  /// The most marks of one merge. A merge that knows fewer compares more than it must.
  private static let marksMax = 100

  /// The newest moment of another stretch that was taken over in one, and the first transaction
  /// that contains it.
  private static func newestMerge(
    in stretch: LogStretch, of other: LogStretch, _ under: NodePath
  ) throws -> (merged: SequenceNumber, by: SequenceNumber)? {
    var newest: (merged: SequenceNumber, by: SequenceNumber)?
    try stretch.forEachRecord { record in
      for mark in MergeMark.all(in: record) where under.isWithin(mark.under) {
        if mark.sequence <= newest?.merged ?? other.after || mark.sequence > other.upTo { continue }
        let link = try other.directory.log.read { try $0.link(of: mark.sequence) }
        if mark.isOf(link) { newest = (mark.sequence, record.sequence) }
      }
    }
    return newest
  }
}

/// A line of the text by which a transaction says what it has merged: `6 8f3c0d11a2b4c6d8 path`.
private struct MergeMark {
  let sequence: SequenceNumber
  /// The first bytes of the link of that transaction, in hexadecimal digits.
  private let link: String
  private(set) var under: NodePath

  private static let linkBytes = 16

  init(_ sequence: SequenceNumber, _ link: [UInt8], _ under: NodePath) {
    self.sequence = sequence
    self.link = MergeMark.digits(link)
    self.under = under
  }

  /// Reads a line; nil if the text is none.
  private init?(_ text: some StringProtocol) {
    let parts = text.split(separator: " ", maxSplits: 2)
    guard parts.count >= 2, let number = UInt64(parts[0]) else { return nil }
    sequence = SequenceNumber(number)
    link = String(parts[1])
    guard let path = parts.count < 3 ? .root : try? NodePath(parts[2]) else { return nil }
    under = path
  }

  /// All marks in a transaction's metadata; what is none is skipped.
  static func all(in record: TransactionRecord) -> [MergeMark] {
    guard let text = record.metadata[MergePlan.metadataName] else { return [] }
    return text.split(separator: "\n").compactMap { MergeMark($0) }
  }

  static func text(_ marks: [MergeMark]) -> String {
    marks.map { "\($0.sequence) \($0.link)" + ($0.under.isRoot ? "" : " \($0.under)") }
      .joined(separator: "\n")
  }

  /// True if it names the transaction with a link.
  func isOf(_ link: [UInt8]) -> Bool { self.link == MergeMark.digits(link) }

  /// The part of what it says that is about a subtree.
  func clipped(to path: NodePath) -> MergeMark? {
    var mark = self
    if path.isWithin(under) { mark.under = path } else if !under.isWithin(path) { return nil }
    return mark
  }

  private static func digits(_ link: [UInt8]) -> String {
    link.prefix(linkBytes).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
