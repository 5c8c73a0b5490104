// The texts of transactions and of what they changed. All are made of what is in memory: printing a
// commit reads neither its changes nor its operations.

import FoundationEssentials

extension TransactionInfo: CustomStringConvertible, CustomDebugStringConvertible {
  /// Which, when, and by whom: `transaction 12 of 2013-01-01T10:00:00Z by ada`.
  public var description: String {
    "transaction \(sequence) of \(time.literalText)\(metadata.authorText)"
  }

  /// All of it, metadata in order of its names: `TransactionInfo(12, time: …, origin: …,
  /// metadata: {"actor": "ada"})`.
  public var debugDescription: String {
    "TransactionInfo(\(sequence), time: \(time.literalText), "
      + "origin: \(origin.uuidString.lowercased()), metadata: \(metadata.literalText))"
  }
}

extension Commit: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Which, when, by whom, and how large: `transaction 12 of 2013-01-01T10:00:00Z by ada, 3
  /// operations`.
  public var description: String {
    let count = operationCount == 1 ? "1 operation" : "\(operationCount) operations"
    return "transaction \(sequence) of \(time.literalText)\(metadata.authorText), \(count)"
  }

  /// All that is known without reading: `Commit(12, time: …, origin: …, metadata: {…},
  /// operationCount: 3, isErased: false, isArchived: false, events: [])`.
  public var debugDescription: String {
    "Commit(\(sequence), time: \(time.literalText), origin: \(origin.uuidString.lowercased()), "
      + "metadata: \(metadata.literalText), operationCount: \(operationCount), "
      + "isErased: \(isErased), isArchived: \(isArchived), events: \(events))"
  }

  /// The same parts as in ``debugDescription``.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "sequence": sequence, "time": time, "origin": origin, "metadata": metadata,
        "operationCount": operationCount, "isErased": isErased, "isArchived": isArchived,
        "events": events,
      ], displayStyle: .struct)
  }
}

extension Change: CustomStringConvertible, CustomDebugStringConvertible {
  /// The path, and the values at a glance; of two records only what differs:
  /// `users/ada/name: nil → "Ada"`, `users/ada: {born: 1815 → 1816}`.
  public var description: String {
    if case (.map(let old)?, .map(let new)?) = (old, new) {
      return "\(path.inWords): \(old.difference(to: new))"
    }
    return "\(path.inWords): \(old.briefOrNil) → \(new.briefOrNil)"
  }

  /// All of it: `Change("users/ada/name", old: nil, new: "Ada")`.
  public var debugDescription: String {
    "Change(\(path.debugDescription), old: \(old.literalOrNil), new: \(new.literalOrNil))"
  }
}

extension HistoryStep: CustomStringConvertible, CustomDebugStringConvertible {
  /// The change and its transaction: `users/ada: {born: 1815 → 1816}, transaction 12 of
  /// 2013-01-01T10:00:00Z by ada`.
  public var description: String {
    let from = origin.map { ", moved from \($0.inWords)" } ?? ""
    return "\(change)\(from), \(transaction)"
  }

  /// All of it: `HistoryStep(came, Change(…), origin: nil, TransactionInfo(…))`.
  public var debugDescription: String {
    "HistoryStep(\(kind), \(change.debugDescription), "
      + "origin: \(origin?.debugDescription ?? "nil"), \(transaction.debugDescription))"
  }
}

extension Blame: CustomStringConvertible, CustomDebugStringConvertible {
  /// The value at a glance and who set it: `name: "Ada", set by transaction 12 of
  /// 2013-01-01T10:00:00Z by ada`.
  public var description: String {
    let name = property.map { "\($0): " } ?? ""
    return "\(name)\(value.brief), set \(set)"
  }

  /// All of it: `Blame(property: "name", value: "Ada", set: by TransactionInfo(…))`.
  public var debugDescription: String {
    "Blame(property: \(property?.debugDescription ?? "nil"), value: \(value.literal), "
      + "set: \(set.debugDescription))"
  }
}

extension Blame.Setting: CustomStringConvertible, CustomDebugStringConvertible {
  /// In words: `by transaction 12 of 2013-01-01T10:00:00Z by ada`, `at or before transaction 5`.
  public var description: String {
    switch self {
    case .by(let transaction): "by \(transaction)"
    case .atOrBefore(let sequence): "at or before transaction \(sequence)"
    }
  }

  /// The same with all that is known of the transaction.
  public var debugDescription: String {
    if case .by(let transaction) = self { return "by \(transaction.debugDescription)" }
    return description
  }
}

extension Undone: CustomStringConvertible, CustomDebugStringConvertible {
  /// The transactions: `transaction 15, which undoes 14, 13`.
  public var description: String {
    "transaction \(sequence), which undoes \(undoes.map(\.description).joined(separator: ", "))"
  }

  /// All of it, the conflicts included: `Undone(15, undoes: [14, 13], conflicts: [])`.
  public var debugDescription: String {
    "Undone(\(sequence), undoes: \(undoes), conflicts: \(conflicts))"
  }
}

extension [String: String] {
  /// The author as it follows a time: ` by ada`, or nothing.
  fileprivate var authorText: String { self["actor"].map { " by \($0)" } ?? "" }

  /// All of it, in order of the names.
  fileprivate var literalText: String {
    ValueMap(map { (name: $0, value: .string($1)) }).debugDescription
  }
}
