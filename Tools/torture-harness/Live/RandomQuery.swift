// Queries from a seed, in the query language: every clause, every test, joins and groups.

import Cambium
import Simulation

/// A query, as text.
struct RandomQuery {
  /// The form of its results, for the counts of what was tried.
  enum Shape: String, CaseIterable {
    case records, windowed, selected, distinct, joined, grouped, aggregated, counted, keys
  }

  private(set) var shape = Shape.records
  private(set) var text: String
  /// The same query with the order written out in which a live query has rows that are equal by
  /// their own.
  private(set) var ordered: String
  /// True if a result is one record, and nothing else.
  var isOfRecords: Bool { shape == .records || shape == .windowed }
  /// True if a result is some values of one row.
  var isOfSelections: Bool { shape == .selected || shape == .joined }
  private(set) var isWindowed = false
  private var isOfMany = false

  private init() { (text, ordered) = ("", "") }

  /// Draws one.
  static func draw(_ records: inout RandomRecords) -> RandomQuery {
    var query = RandomQuery()
    query.shape = records.random.pick(Shape.allCases + [.windowed, .windowed, .records, .joined])
    let isOfMany = query.shape == .windowed && records.random.oneIn(2)
    var head = isOfMany ? "ants" : "\(records.random.pick(RandomRecords.collections))"
    var sources = [""]
    if query.shape == .joined {
      for name in ["p", "q"].prefix(records.random.oneIn(3) ? 2 : 1) {
        head += " " + records.join(name, sources)
        sources.append("\(name).")
      }
    }
    // A window over many rows, more than are kept of them, whose guard is its bound.
    query.isOfMany = isOfMany
    if !isOfMany && !records.random.oneIn(4) {
      head += " where " + records.condition(sources, depth: 3)
    }
    query.finish(head, sources, &records)
    return query
  }

  private mutating func finish(
    _ head: String, _ sources: [String], _ records: inout RandomRecords
  ) {
    var tail = ""
    switch shape {
    case .grouped:
      let groups = records.groups()
      isWindowed = groups.contains(" limit ") || groups.contains(" offset ")
      (text, ordered) = (head + groups, head + groups)
      return
    case .aggregated: tail = " | count, sum(n), avg(x), min(t), max(to.n)"
    case .counted: tail = records.random.pick([" | count", " | exists"])
    case .selected, .distinct:
      tail =
        " select "
        + (0...records.random.below(3)).map { _ in records.property(hops: 1) }
        .joined(separator: ", ")
      if shape == .distinct { tail += " distinct" }
    case .joined:
      let far = sources.dropFirst().map { $0 + records.property(hops: 1) }
      tail = " select " + (["id", "t"] + far).joined(separator: ", ")
    case .keys: tail = " | ids"
    case .records, .windowed: break
    }
    let isAnswer = shape == .aggregated || shape == .counted
    var sorted = isAnswer ? [] : records.orderings(sources)
    if isOfMany { sorted.insert(records.random.pick(["n", "-n", "x", "-x", "-t"]), at: 0) }
    let begin = sorted.isEmpty ? "" : " sort " + sorted.joined(separator: ", ")
    if !sorted.contains(where: { $0 == "id" || $0 == "-id" }) {
      sorted.append(sorted.last?.hasPrefix("-") ?? false ? "-id" : "id")
    }
    let window = isAnswer ? "" : records.window(isWanted: shape == .windowed)
    isWindowed = !window.isEmpty
    text = head + begin + window + tail
    let end = isAnswer ? "" : " sort " + sorted.joined(separator: ", ")
    ordered = head + end + window + tail
  }
}

// MARK: Clauses

extension RandomRecords {
  fileprivate mutating func join(_ name: String, _ sources: [String]) -> String {
    // A join of two large collections would take most of the time.
    let other = random.pick(Self.collections.filter { $0 != "ants" })
    let inner = random.pick(["id", "n", "n", "t", "to"])
    let outer = random.pick(sources) + property(of: inner == "id" ? ["to", "via"] : [inner])
    let kind = random.pick(["join", "left join"])
    return "\(kind) \(other) as \(name) on \(outer) = \(name).\(inner)"
  }

  fileprivate mutating func orderings(_ sources: [String]) -> [String] {
    (0..<random.below(3)).map { _ in
      let far = random.oneIn(2) ? 2 : 0
      let path = random.oneIn(8) ? "id" : random.pick(sources) + property(hops: far)
      let end = path.hasSuffix("t") ? random.pick(["", "", " ignoring case"]) : ""
      let nulls = random.pick(["", "", "", "", " nulls first", " nulls last"])
      return random.pick(["", "-"]) + path + end + (path == "id" ? "" : nulls)
    }
  }

  fileprivate mutating func window(isWanted: Bool) -> String {
    if !isWanted && !random.oneIn(4) { return "" }
    let limit = " limit \(random.oneIn(20) ? 0 : 1 + random.below(12))"
    return limit + (random.oneIn(2) ? " offset \(random.below(8))" : "")
  }

  fileprivate mutating func groups() -> String {
    let paths = (0...random.below(2)).map { _ in property(hops: 1) }
    let aggregates = [
      "count", "sum(n)", "avg(n)", "min(t)", "max(x)", "max(to.n)", "sum(x)", "min(id)",
    ].shuffled(using: &random).prefix(1 + random.below(3))
    var text = " | group by " + paths.joined(separator: ", ")
    text += " select " + aggregates.joined(separator: ", ")
    if random.oneIn(3) { text += " having count > \(random.below(3))" }
    if random.oneIn(2) {
      text += " sort " + random.pick(["", "-"]) + random.pick(Array(aggregates) + [paths[0]])
    }
    return text + (random.oneIn(2) ? " limit \(1 + random.below(4))" : "")
      + (random.oneIn(4) ? " offset \(random.below(3))" : "")
  }

  // MARK: Paths

  /// A property, some references away.
  fileprivate mutating func property(hops most: Int) -> String {
    let hops = (0..<random.below(most + 1)).map { _ in random.pick(["to", "via"]) }
    return (hops + [property(of: ["n", "t", "x", "y", "on", "to", "via"])]).joined(separator: ".")
  }

  private mutating func property(of names: [String]) -> String { random.pick(names) }

  // MARK: Conditions

  fileprivate mutating func condition(_ sources: [String], depth: Int) -> String {
    let source = random.pick(sources)
    switch depth > 0 ? random.below(9) : 9 {
    case 0: return "not (\(condition(sources, depth: depth - 1)))"
    case 1:
      let both = (condition(sources, depth: depth - 1), condition(sources, depth: depth - 1))
      return "(\(both.0) or \(both.1))"
    case 2, 3:
      let both = (condition(sources, depth: depth - 1), condition(sources, depth: depth - 1))
      return "(\(both.0) and \(both.1))"
    // A record that is joined has no relations of its own in the query language.
    case 4 where source.isEmpty:
      let other = "`\(random.pick(Self.collections))` by \(random.pick(Self.relations))"
      return quantified(other, depth)
    case 5 where source.isEmpty:
      let path = random.pick(["", "", "to."]) + random.pick(["many", "many", "by", "to"])
      return quantified(path, depth)
    default: return test(source)
    }
  }

  private mutating func quantified(_ relation: String, _ depth: Int) -> String {
    "\(relation) \(random.pick(["any", "all", "none"])) (\(condition([""], depth: depth - 1)))"
  }

  private mutating func test(_ source: String) -> String {
    let path = source + property(hops: 2)
    switch random.below(12) {
    case 0: return "\(path) \(random.pick(["=", "<", "!="])) \(source)\(property(hops: 1))"
    case 1: return "\(path) is \(random.pick(["", "not "]))null"
    case 2: return "\(path) \(random.pick(["", "not "]))in (\(constant(path)), \(constant(path)))"
    case 3: return "\(source)n between \(random.below(3)) and \(1 + random.below(4))"
    case 4, 5: return textTest(source + random.pick(["t", "t", "to.t", "via.to.t"]))
    case 6: return "\(source)\(random.pick(["many", "by"])) has \"k\(random.below(5))\""
    case 7: return "count(\(source)many) \(random.pick(["=", ">"])) \(random.below(3))"
    case 8: return "lowercased(\(source)t) = \"a\""
    default:
      let comparison = random.pick(["=", "=", "!=", "<", "<=", ">", ">="])
      return "\(path) \(comparison) \(constant(path))"
    }
  }

  private mutating func textTest(_ path: String) -> String {
    let not = random.oneIn(4) ? "not " : ""
    switch random.below(6) {
    case 0: return "\(path) \(not)like \"%\(random.pick(["a", "b", "1"]))%\""
    case 1: return "\(path) \(not)matches /^[ak]./"
    default:
      let test = random.pick(["equals", "prefix", "suffix", "contains"])
      let end = random.pick(["", " ignoring case", " ignoring case and diacritics"])
      return "\(path) \(not)\(test) \"\(random.pick(["a", "A", "k", "e"]))\"\(end)"
    }
  }

  private mutating func constant(_ path: String) -> String {
    switch path.split(separator: ".").last {
    case "n": return "\(random.below(8))"
    case "x", "y": return "\(random.below(5)).5"
    case "on": return random.pick(["true", "false"])
    case "t": return "\"\(text())\""
    default:
      let number = random.below(16)
      return number % 3 == 0 ? "\(number)" : "\"k\(number)\""
    }
  }
}
