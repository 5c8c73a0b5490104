// Records and declarations from a seed: few keys and few values, so that almost every change
// concerns somebody, with references in all forms and values that are hard to compare.

import Cambium
import FoundationEssentials
import Simulation

/// Draws declarations, keys and values.
struct RandomRecords {
  static let collections: [NodePath] = ["ants", "bees", "cats", "pens/dogs"]
  /// The properties that refer, which name the target's key.
  static let relations = ["to", "via", "many", "by"]
  static let properties = ["n", "t", "x", "y", "on"] + relations

  var random: SeededGenerator

  // MARK: Declarations

  /// A declaration; the keys of an earlier one stay as they are.
  mutating func definition(after present: CollectionDefinition? = nil) -> CollectionDefinition {
    var definition = CollectionDefinition()
    definition.keys = present.map(\.keys) ?? random.pick([nil, nil, .string, .integer])
    let name = random.oneIn(3) ? "y" : "x"
    definition.properties = [
      PropertyDefinition("n", present?["n"]?.type ?? numberType()),
      PropertyDefinition("t", .string), PropertyDefinition("on", .bool),
      PropertyDefinition(name, random.oneIn(2) ? .double : .any),
      reference("to"), reference("via"),
      PropertyDefinition("many", .array(.reference(random.pick(Self.collections)))),
      PropertyDefinition("by", .keyed(by: random.pick(Self.collections), .integer)),
    ]
    if random.oneIn(3) { definition.properties[0].absence = .integer(1) }
    definition.indexes = indexes()
    return definition
  }

  mutating func numberType() -> PropertyType { random.pick([.integer, .integer, .decimal, .any]) }

  private mutating func reference(_ name: String) -> PropertyDefinition {
    var property = PropertyDefinition(name, .reference(random.pick(Self.collections)))
    if random.oneIn(4) { property.deleteRule = random.pick([.nullify, .cascade]) }
    return property
  }

  private mutating func indexes() -> [IndexDefinition] {
    var indexes: [IndexDefinition] = []
    for name in ["n", "t", "to", "many"] where random.oneIn(3) {
      var term = IndexDefinition.Term(name, isDescending: random.oneIn(3))
      if name == "t" { term.collation = random.pick([.binary, .binary, .ignoringCase]) }
      var terms = [term]
      if name != "many" && random.oneIn(4) { terms.append(.init(name == "n" ? "t" : "n")) }
      indexes.append(IndexDefinition(terms))
    }
    return indexes
  }

  // MARK: Records

  /// The path of a record that may be there, with a key that a declaration takes.
  mutating func path(
    in collection: NodePath, _ definition: CollectionDefinition?
  ) -> NodePath {
    let number = random.below(collection == "ants" ? 150 : 16)
    let isNumber =
      switch definition?.keys {
      case .integer: true
      case .string: false
      default: number % 3 == 0
      }
    return collection.appending(isNumber ? .integer(Int64(number)) : .text("k\(number)"))
  }

  mutating func record(_ definition: CollectionDefinition?) -> ValueMap {
    var record = ValueMap()
    for name in Self.properties where !random.oneIn(4) {
      if let property = definition?[name] { record[name] = value(of: name, property.type) }
    }
    return record
  }

  /// A value of a property, of the type that is declared.
  mutating func value(of name: String, _ type: PropertyType?) -> Value {
    if random.oneIn(12) { return .null }
    switch name {
    case "n": return number(type)
    case "t": return .string(text())
    case "x", "y": return .double(Double(random.below(5)) + 0.5)
    case "on": return .bool(random.oneIn(2))
    case "many": return .array((0..<random.below(4)).map { _ in key() })
    case "by":
      let keys = (0..<random.below(3)).map { _ in random.pick(["k1", "k2", "3", "k4"]) }
      return .map(ValueMap(keys.map { (name: $0, value: .integer(Int64(random.below(3)))) }))
    default: return key()
    }
  }

  mutating func number(_ type: PropertyType?) -> Value {
    let number = random.below(8)
    switch type {
    case .decimal: return .decimal(.init(number))
    case .any where random.oneIn(4): return .double(Double(number) + 0.5)
    default: return .integer(Int64(number))
    }
  }

  mutating func text() -> String { random.pick(["", "a", "A", "ab", "Ab", "b", "k1", "é", "1"]) }

  /// A key as a reference has it.
  mutating func key() -> Value {
    let number = random.below(16)
    return number % 3 == 0 ? .integer(Int64(number)) : .string("k\(number)")
  }
}
