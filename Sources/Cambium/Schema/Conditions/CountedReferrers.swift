/// The records of a collection that refer to one, to be counted.
///
///     count(comments by issue)                            \.comments.count
///     count(comments by issue of parent where spam = false)
package struct CountedReferrers: Hashable, Sendable {
  package var collection: NodePath
  /// The property by which they refer.
  package var property: String
  /// The condition on them; nil for all.
  package var condition: Condition?

  package init(_ collection: NodePath, by property: String, where condition: Condition? = nil) {
    self.collection = collection
    self.property = property
    self.condition = condition
  }
}

extension PropertyPath {
  /// The path to the number of records that refer to the record behind some references.
  package init(counting referrers: CountedReferrers, of hops: [String] = []) {
    self.init(hops: hops, nil, .count)
    self.referrers = referrers
  }

  /// True if the value depends on the record's own bytes alone.
  var isOwn: Bool { hops.isEmpty && referrers == nil }

  /// The count in the query language; nil for another path.
  var countText: String? {
    guard let referrers else { return nil }
    var text = ConditionText.name(referrers.collection.description)
    text += " by \(ConditionText.name(referrers.property))"
    if !hops.isEmpty { text += " of \(PropertyPath(hops: hops, nil))" }
    if let condition = referrers.condition { text += " where \(condition)" }
    return "count(\(text))"
  }
}

extension CountedReferrers {
  /// Reads a count, if that comes next.
  static func path(_ parser: inout ConditionTextParser) throws -> PropertyPath? {
    var ahead = parser
    guard try ahead.take(word: "count"), try ahead.take("("),
      let name = try nextName(&ahead), try ahead.take(word: "by")
    else { return nil }
    parser = ahead
    let collection = try parser.path(of: name)
    var referrers = CountedReferrers(
      collection, by: try parser.name("the property that refers to this record"))
    let hops = try parser.take(word: "of") ? owner(&parser) : []
    if try parser.take(word: "where") {
      referrers.condition = Condition(try parser.innerCondition())
    }
    try parser.expect(")", "“of”, “where” or “)”")
    return PropertyPath(counting: referrers, of: hops)
  }

  /// The references that lead to the record whose referrers are counted.
  private static func owner(_ parser: inout ConditionTextParser) throws -> [String] {
    let path = try parser.path("a reference")
    guard path.function == nil else { throw parser.scanner.error("expected a reference") }
    return path.hops + [path.property].compactMap(\.self)
  }

  private static func nextName(_ parser: inout ConditionTextParser) throws -> String? {
    switch try parser.scanner.next() {
    case .word(let name), .quoted(let name): name
    default: nil
    }
  }
}
