// Queries as text; QueryText.swift reads what is written here.

extension QueryDescription: CustomStringConvertible {
  /// The query in the query language.
  package var description: String {
    var parts = [ConditionText.collection(collection)]
    parts += joins.map(\.text)
    if let condition { parts.append("where \(condition)") }
    if let selection {
      let names = selection.map(\.description).joined(separator: ", ")
      parts.append("select \(names)\(isDistinct ? " distinct" : "")")
    }
    if grouping == nil { parts += refinements }
    if let after { parts.append("after \(ConditionText.quoted(after.description))") }
    if let grouping { parts.append(contentsOf: text(grouping)) }
    if outcome != .list { parts.append("| \(outcome.rawValue)") }
    return parts.joined(separator: " ")
  }

  private var refinements: [String] {
    var parts: [String] = []
    if let sectionedBy { parts.append("section by \(sectionedBy)") }
    let orderings = orderingsWithinSections
    if !orderings.isEmpty {
      parts.append("sort \(orderings.map(\.text).joined(separator: ", "))")
    }
    if let limit { parts.append("limit \(limit)") }
    if offset > 0 { parts.append("offset \(offset)") }
    return parts
  }

  private func text(_ grouping: Grouping) -> [String] {
    let aggregates = grouping.aggregates.map(\.name).joined(separator: ", ")
    if grouping.paths.isEmpty { return ["| \(aggregates)"] }
    let paths = grouping.paths.map(\.description).joined(separator: ", ")
    var parts = ["| group by \(paths) select \(aggregates)"]
    if let condition = grouping.condition { parts.append("having \(condition)") }
    return parts + refinements
  }
}

extension QueryDescription.Join {
  fileprivate var text: String {
    let property = PropertyPath(hops: [name], inner)
    return "\(isLeft ? "left join" : "join") \(ConditionText.collection(collection)) as "
      + "\(ConditionText.name(name)) on \(outer) = \(property)"
  }
}
