// The models of RandomDefaultTests, and lines of a schema that are put together.

import Synchronization

@testable import Cambium

/// A model of which the schema and the initial values are whatever the test makes them.
struct DefaultItem: Cambium.Model, Equatable {
  typealias Key = Int
  var id = ID()
  var country: String
  var level: Int
  var ratio: Double
  var flag: Bool
  var note: String?
  var rank: Int?
  var maybe: Int?
  var number: Int
  var tags: [String]

  init() {
    let initial = DefaultItem.initial.withLock { $0 }
    func value<V: PropertyValue>(_ name: String, _ otherwise: V) -> V {
      (try? initial[name].map { try V(storedValue: $0) }) ?? otherwise
    }
    country = value("country", "")
    level = value("level", 0)
    ratio = value("ratio", 0)
    flag = value("flag", false)
    note = value("note", nil)
    rank = value("rank", nil)
    maybe = nil
    number = value("number", 0)
    tags = value("tags", [])
  }

  static let initial = Mutex<[String: Value]>([:])
  static let schemas = Mutex<[ModelSchema<DefaultItem>]>([])
  static var schema: ModelSchema<DefaultItem> { schemas.withLock { $0[$0.count - 1] } }

  static let names = ["country", "level", "ratio", "flag", "note", "rank", "number", "tags"]

  subscript(name: String) -> Value {
    get {
      switch name {
      case "country": country.storedValue
      case "level": level.storedValue
      case "ratio": ratio.storedValue
      case "flag": flag.storedValue
      case "note": note.storedValue
      case "rank": rank.storedValue
      case "number": number.storedValue
      case "maybe": maybe.storedValue
      default: tags.storedValue
      }
    }
    set {
      switch newValue {
      case .string(let text): if name == "country" { country = text } else { note = text }
      case .integer(let value):
        switch name {
        case "level": level = Int(value)
        case "rank": rank = Int(value)
        case "maybe": maybe = Int(value)
        default: number = Int(value)
        }
      case .double(let value): ratio = value
      case .bool(let value): flag = value
      case .array: tags = (try? [String](storedValue: newValue)) ?? []
      default:
        if name == "note" { note = nil } else if name == "rank" { rank = nil } else { maybe = nil }
      }
    }
  }
}

/// A model that refers to items, with copies of some of their properties.
struct DefaultLink: Cambium.Model {
  typealias Key = Int
  var id = ID()
  var item = DefaultItem.ID()
  static let schema = ModelSchema<DefaultLink>("links") { Property(\.item).preview(\.country) }
}

/// Lines that are put together.
struct SchemaLines: SchemaPart {
  typealias M = DefaultItem
  private let items: [SchemaItem<DefaultItem>]

  init(_ make: (inout [SchemaItem<DefaultItem>]) -> Void) {
    var items: [SchemaItem<DefaultItem>] = []
    make(&items)
    self.items = items
  }

  var item: SchemaItem<DefaultItem> { SchemaItem(items) }
}

extension SchemaItem {
  /// Several lines as one.
  fileprivate init(_ items: [SchemaItem]) {
    self.init(
      change: { draft, template in for item in items { item.change?(&draft, template) } },
      define: { definition in for item in items { try item.define?(&definition) } },
      rules: items.flatMap(\.rules), conditions: items.flatMap(\.conditions))
  }
}
