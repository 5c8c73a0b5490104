import Cambium
import FoundationEssentials

/// Transactions as the commands print them: a line or a heading for people, JSON, CSV.
///
///     tx 12  2026-11-21 10:00:00  3 operations  anna  "refund #8812"  ticket=77
struct CommitText {
  /// The metadata that says who, and that says why; the first of each that is present is printed
  /// first.
  private static let who = ["actor", "author", "who", "user"]
  private static let why = ["reason", "subject", "why", "message"]

  /// The number of columns that the sequence numbers take.
  private let digits: Int

  /// - Parameter newest: The largest sequence number to come, so that the lines are aligned.
  init(upTo newest: SequenceNumber = .zero) { digits = newest.description.utf8.count }

  // MARK: For people

  /// A transaction in one line.
  func line(_ commit: Commit) -> StyledLine {
    var line = start(commit.sequence, commit.time)
    let count = Terminal.padded(Quantity.count(commit.operationCount), to: 5, leading: true)
    let isOne = commit.operationCount == 1
    line.add("  \(count) \(isOne ? "operation" : "operations")", .metadata)
    if isOne && !(commit.metadata.isEmpty && commit.events.isEmpty) { line.add(" ") }
    addMetadata(commit.metadata, to: &line)
    if commit.isErased { line.add("  erased in part", .deleted) }
    for event in CommitText.events(commit) {
      line.add("  ! \(Terminal.escaped(event.name))", .updated)
    }
    return line
  }

  /// A transaction in one line, where what else it did does not matter.
  func line(_ transaction: TransactionInfo) -> StyledLine {
    var line = start(transaction.sequence, transaction.time)
    addMetadata(transaction.metadata, to: &line)
    return line
  }

  /// A transaction's number, and why it was made; else its first event, or how much it did.
  func oneLine(_ commit: Commit) -> StyledLine {
    let number = Terminal.padded(commit.sequence.description, to: digits, leading: true)
    var line = StyledLine(number, .heading)
    if let reason = CommitText.reason(commit.metadata) {
      line.add("  \(Terminal.escaped(reason))")
    } else if let event = CommitText.events(commit).first {
      line.add("  ! \(Terminal.escaped(event.name))", .updated)
    } else {
      line.add("  \(Quantity.count(commit.operationCount, "operation"))", .metadata)
    }
    return line
  }

  /// The author of a transaction.
  static func actor(_ metadata: [String: String]) -> String? {
    who.lazy.compactMap { metadata[$0] }.first
  }

  /// The reason for it.
  static func reason(_ metadata: [String: String]) -> String? {
    why.lazy.compactMap { metadata[$0] }.first
  }

  private func start(_ sequence: SequenceNumber, _ time: Date) -> StyledLine {
    let number = Terminal.padded(sequence.description, to: digits, leading: true)
    return StyledLine("tx \(number)", .heading) + "  \(Zone.system.text(time))"
  }

  private func addMetadata(_ metadata: [String: String], to line: inout StyledLine) {
    var rest = metadata
    if let who = CommitText.take(CommitText.who, from: &rest) {
      line.add("  \(Terminal.escaped(who))")
    }
    if let why = CommitText.take(CommitText.why, from: &rest) {
      line.add("  \(JSONText.quoted(why))")
    }
    for (name, text) in rest.sorted(by: { $0.key < $1.key }) {
      line.add("  \(Terminal.escaped(name))=\(ValueText.short(.string(text)))", .metadata)
    }
  }

  private static func take(_ names: [String], from metadata: inout [String: String]) -> String? {
    guard let name = names.first(where: { metadata[$0] != nil }) else { return nil }
    return metadata.removeValue(forKey: name)
  }

  /// All that is known of a transaction besides its changes.
  static func heading(_ commit: Commit, _ output: Output) throws {
    try output.line(StyledLine("tx \(commit.sequence)", .heading))
    let metadata = commit.metadata.sorted { $0.key < $1.key }.map { name, text in
      (Terminal.escaped(name), Terminal.escaped(text))
    }
    let events = CommitText.events(commit).map { event in
      let payload = event.payload == .null ? "" : " " + ValueText.short(event.payload, columns: 200)
      return ("event", Terminal.escaped(event.name) + payload)
    }
    let head: Entries = [
      "time": exactText(commit.time), "origin": commit.origin.uuidString.lowercased(),
      "operations": Quantity.count(commit.operationCount),
    ]
    let erased: Entries = ["erased": commit.isErased ? "in part; this is what is left" : nil]
    try output.table(head + Entries(metadata) + erased + Entries(events))
  }

  private static func exactText(_ time: Date) -> String {
    let offset = Zone.system.textWithOffset(time).split(separator: " ").last ?? ""
    return "\(Zone.system.exactText(time)) \(offset)"
  }

  // MARK: For programs

  /// The members with which a transaction's line of JSON starts.
  static func json(_ commit: Commit) -> JSONLine {
    [
      "sequence": commit.sequence, "time": commit.time,
      "origin": commit.origin, "metadata": commit.metadata,
      "operations": Served.isPartial ? nil : commit.operationCount,
      "erased": commit.isErased ? true : nil,
      "events": events(commit).isEmpty ? nil : events(commit).map(json),
    ]
  }

  /// The events that may be told. They belong to no node, so that whoever may see a part of the
  /// tree alone is told none.
  private static func events(_ commit: Commit) -> [Event] { Served.isPartial ? [] : commit.events }

  private static func json(_ event: Event) -> JSONLine {
    ["name": event.name, "payload": event.payload]
  }

  /// The fields of a transaction's row.
  static let columns = ["sequence", "time", "origin", "operations", "metadata"]
}
