import Cambium

/// The rules of an app that are code, which no command runs on what it writes: it says so on
/// standard error, once for each collection.
///
/// A command that writes records notes its transactions here, and reports at its end, even if that
/// is an error.
final class UncheckedRules {
  private let isQuiet: Bool
  /// The collections with records that were written, and their rules, in the order in which they
  /// were.
  private var found: [(path: NodePath, rules: [String])] = []

  /// The largest number of rules that are listed; of more, only the number is printed.
  private static let shownMax = 3

  init(isQuiet: Bool) { self.isQuiet = isQuiet }

  /// Finds the collections into which a transaction has put records, or whose records it has
  /// changed. Records that it removed are left out, since no rule would have refused that.
  ///
  /// - Parameters:
  ///   - sequence: The transaction. It is committed, so errors here are not reported.
  ///   - database: Where it was committed.
  ///   - place: A node below which all lies that it wrote.
  /// - Complexity: nothing is read where no collection within `place` has such rules; else the
  ///   transaction's changes are.
  func note(
    changesOf sequence: SequenceNumber, in database: Database, under place: NodePath = .root
  ) {
    try? look(at: sequence, database, place)
  }

  /// Notes that records of a collection were written.
  func note(recordsOf collection: NodePath, in database: Database) {
    guard let rules = try? unseen(in: database, under: collection)[collection] else { return }
    found.append((collection, rules))
  }

  private func look(at sequence: SequenceNumber, _ database: Database, _ place: NodePath) throws {
    var wanted = try unseen(in: database, under: place)
    if wanted.isEmpty { return }
    var changes = try database.commit(sequence).changes.makeCursor()
    while !wanted.isEmpty, let change = try changes.next() {
      guard change.new != nil, let parent = change.path.parent,
        let rules = wanted.removeValue(forKey: parent)
      else { continue }
      found.append((parent, rules))
    }
  }

  /// The rules of the collections that were not found yet.
  private func unseen(in database: Database, under place: NodePath) throws -> [NodePath: [String]] {
    if isQuiet { return [:] }
    var unseen: [NodePath: [String]] = [:]
    for (path, definition) in try database.snapshot().collections
    where !definition.rulesInCode.isEmpty && (path.isWithin(place) || place.isWithin(path)) {
      unseen[path] = definition.rulesInCode
    }
    for (path, _) in found { unseen[path] = nil }
    return unseen
  }

  /// Says it.
  func tell() {
    for (path, rules) in found {
      var words = rules.prefix(UncheckedRules.shownMax).joined(separator: "; ")
      let more = rules.count - UncheckedRules.shownMax
      if more > 0 { words += "; and \(more) more, see `cambium schema`" }
      System.note(
        "the app's own rules of \(Terminal.escaped(path.description)) were not checked: "
          + "\(Terminal.escaped(words))")
    }
    found = []
  }
}
