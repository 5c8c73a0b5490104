// Goal: what is stored for a model is exactly what the untyped calls store for the same content,
// and
// comes back as it was; damaged bytes are errors. Method: random models of every kind of property
// from a seed, their layout against the compiler's, and stored records with bytes changed.

import FoundationEssentials
import Testing

@testable import Cambium

@Suite("The codec of models")
struct ModelCodecTests {
  private static func catalog<M: Cambium.Model>(of type: M.Type, reversed: Bool = false) throws
    -> Catalog
  {
    var catalog = Catalog()
    let names = M.schema.core.properties.map(\.name)
    for name in reversed ? names.reversed() : names {
      try catalog.define(name, as: NameID(catalog.count))
    }
    return catalog
  }

  /// The content of the model, as the untyped calls take it.
  private static func record<M: Cambium.Model>(_ model: M) -> ValueMap {
    var record = ValueMap()
    for property in M.schema.core.properties {
      let value = property.value(in: model)
      if property.defaults.absence == value { continue }
      if !value._isAbsent || property.defaults.storesNull { record[property.name] = value }
    }
    return record
  }

  @Test("stores the bytes that a map of the same content has", arguments: FormatSeeds.first(4))
  func bytes(seed: UInt64) throws {
    var random = FormatRandom(seed: 300 + seed)
    var encoder = ModelEncoder()
    for reversed in [false, true] {
      let catalog = try Self.catalog(of: Everything.self, reversed: reversed)
      let binding = try Binding(Everything.schema.core, catalog)
      for _ in 0..<60 {
        let model = random.everything()
        var untyped = RecordEncoder()
        let expected = try untyped.encode(Self.record(model)) { try #require(catalog.id(of: $0)) }
        let stored = try encoder.encode(model, binding)
        #expect(stored == expected, "seed \(seed)")
        let key = Key.uuid(model.id.key).stored
        let found = try stored.lend { record in
          try key.lend { try Everything.schema.decode(record, key: $0, binding) }
        }
        #expect(found == model, "seed \(seed)")
        let updates = try encoder.difference(from: model, to: found, binding)
        #expect(updates == [], "seed \(seed)")
      }
    }
  }

  @Test("finds what differs, so that the one becomes the other", arguments: FormatSeeds.first(4))
  func difference(seed: UInt64) throws {
    var random = FormatRandom(seed: 500 + seed)
    let catalog = try Self.catalog(of: Everything.self)
    let binding = try Binding(Everything.schema.core, catalog)
    var encoder = ModelEncoder()
    for _ in 0..<60 {
      let old = random.everything()
      var new = random.everything()
      new.id = old.id
      let updates = try encoder.difference(from: old, to: new, binding)
      var builder = try encoder.encode(old, binding).lend { try RecordBuilder($0) }
      for update in updates {
        #expect(builder[update.name] != update.value, "seed \(seed)")
        builder[update.name] = update.value
      }
      let expected = try encoder.encode(new, binding)
      #expect(builder.stored() == expected, "seed \(seed)")
    }
  }

  @Test("finds a change that Swift's equality does not see")
  func looseEquality() throws {
    let catalog = try Self.catalog(of: Everything.self)
    let binding = try Binding(Everything.schema.core, catalog)
    var encoder = ModelEncoder()
    var old = Everything()
    (old.double, old.string, old.texts, old.float) = (0.0, "\u{E9}", ["\u{E9}"], .nan)
    var new = old
    (new.double, new.string, new.texts) = (-0.0, "e\u{301}", ["e\u{301}"])
    let names = try encoder.difference(from: old, to: new, binding).map {
      binding.names.firstIndex(of: $0.name)
    }
    .map { $0.map { Everything.schema.core.properties[$0].name } }
    #expect(names == ["double", "string", "texts"])
  }

  @Test(
    "makes an error of damaged bytes, or another model, and never stops",
    arguments: FormatSeeds.first(2))
  func damage(seed: UInt64) throws {
    var random = FormatRandom(seed: 700 + seed)
    let catalog = try Self.catalog(of: Everything.self)
    let binding = try Binding(Everything.schema.core, catalog)
    var encoder = ModelEncoder()
    var refused = 0
    for _ in 0..<40 {
      let model = random.everything()
      let key = Key.uuid(model.id.key).stored
      let stored = try encoder.encode(model, binding)
      for _ in 0..<100 {
        var bytes = stored
        for _ in 0...random.below(3) {
          bytes[random.below(min(bytes.count, 600))] = UInt8(random.below(256))
        }
        if random.chance(oneIn: 4) { bytes.removeLast(random.below(bytes.count)) }
        do {
          _ = try bytes.lend { record in
            try key.lend { try Everything.schema.decode(record, key: $0, binding) }
          }
        } catch let error as DatabaseError {
          guard case .corrupt(let reason) = error, reason.contains("everything/") else {
            Issue.record("\(error)")
            continue
          }
          refused += 1
        } catch is PropertyError {
          refused += 1
        }
      }
    }
    #expect(refused > 1000)
  }

  @Test("reads records that need the large form")
  func large() throws {
    try withDatabase { database in
      var model = Everything()
      model.string = String(repeating: "x", count: 70_000)
      model.texts = (0..<3000).map { "line \($0)" }
      let id = try database.insert(model)
      model.id = id
      #expect(try database.get(id) == model)
      try database.update(id) { $0.string = "short" }
      #expect(try database.get(id).texts == model.texts)
    }
  }

  @Test("tells path and property of a value of another type")
  func mistyped() throws {
    try withDatabase { database in
      let id = try database.insert(Everything())
      let path = try id.path
      // The model's declaration would refuse these values; an earlier program may have left them.
      try database.write { tx in
        var definition = try #require(try tx.readingSnapshot().definition(of: "everything"))
        for place in definition.properties.indices { definition.properties[place].type = .any }
        definition.keys = nil
        try tx.declare("everything", definition)
      }
      for (name, value, text) in [
        ("int8", Value.integer(300), "it holds the whole number 300, which is no Int8"),
        ("string", 5, "it holds a whole number, which is no String"),
        ("int", "five", "it holds a text, which is no Int"),
        ("level", 9, "it holds the whole number 9, which is no Level"),
        ("texts", ["a", 1], "it holds a whole number, which is no String"),
        ("outcome", ["gone": 1], "it holds the case 'gone', which Outcome does not know"),
      ] as [(String, Value, String)] {
        let kept = try database.read { try $0[path][name] }
        try database.write { tx in try tx.update(path, [(name, value)]) }
        #expect(throws: PropertyError(path: path, property: name, reason: text)) {
          try database.get(id)
        }
        try database.write { tx in try tx.update(path, [(name, kept)]) }
      }
      _ = try database.get(id)
      try database.write { tx in try tx.set("everything/12", to: ["int": 1]) }
      let error = #expect(throws: PropertyError.self) { try database.all(Everything.self).fetch() }
      #expect(error?.description == "everything/12, property id: the key is not of the kind 'uuid'")
      try database.write { tx in _ = try tx.remove("everything/12") }
    }
  }

  @Test("takes null and absence as the initial value, and whole numbers as numbers")
  func lenient() throws {
    try withDatabase { database in
      let id = Everything.ID(try #require(UUID._generated()))
      let path = try id.path
      try database.register(Everything.self)
      try database.write { tx in
        try tx.set(
          path, to: ["int": .null, "double": 4, "decimal": 5, "nilByDefault": .null, "x": 1])
      }
      let found = try database.get(id)
      #expect(found.int == 0 && found.double == 4 && found.decimal == 5)
      #expect(found.nilByDefault == nil && found.intOrNil == nil && found.elided == 3)
      try database.write { tx in try tx.set(path, to: [:]) }
      var expected = Everything()
      expected.id = id
      #expect(try database.get(id) == expected)
    }
  }
}

@Suite("The layout of models")
struct ModelLayoutTests {
  @Test("is the compiler's")
  func offsets() throws {
    let core = Everything.schema.core
    #expect(core.problem == nil)
    func at(_ name: String) -> Int? { core.properties.first { $0.name == name }?.offset }
    let places: [(String, PartialKeyPath<Everything>)] = [
      ("bool", \.bool), ("boolOrNil", \.boolOrNil), ("int8", \.int8), ("int16OrNil", \.int16OrNil),
      ("int32", \.int32), ("int64", \.int64), ("int64OrNil", \.int64OrNil), ("int", \.int),
      ("intOrNil", \.intOrNil), ("uint8", \.uint8), ("uint16", \.uint16),
      ("uint32OrNil", \.uint32OrNil), ("uint64", \.uint64), ("uint", \.uint), ("float", \.float),
      ("floatOrNil", \.floatOrNil), ("double", \.double), ("doubleOrNil", \.doubleOrNil),
      ("string", \.string), ("stringOrNil", \.stringOrNil), ("date", \.date),
      ("dateOrNil", \.dateOrNil), ("uuid", \.uuid), ("uuidOrNil", \.uuidOrNil), ("data", \.data),
      ("dataOrNil", \.dataOrNil), ("decimal", \.decimal), ("decimalOrNil", \.decimalOrNil),
      ("urlOrNil", \.urlOrNil), ("blobOrNil", \.blobOrNil), ("anything", \.anything),
      ("level", \.level), ("statusOrNil", \.statusOrNil), ("outcome", \.outcome),
      ("outcomeOrNil", \.outcomeOrNil), ("inner.flag", \.inner.flag), ("inner.text", \.inner.text),
      ("inner.mood", \.inner.mood), ("inner.deeper.one", \.inner.deeper.one),
      ("inner.deeper.two", \.inner.deeper.two), ("inner.last", \.inner.last),
      ("innerOrNil", \.innerOrNil), ("inners", \.inners),
      ("texts", \.texts), ("textsOrNil", \.textsOrNil), ("numbers", \.numbers), ("tags", \.tags),
      ("scores", \.scores), ("seats", \.seats), ("airline", \.airline), ("twin", \.twin),
      ("airports", \.airports), ("settings", \.settings), ("nilByDefault", \.nilByDefault),
      ("elided", \.elided),
    ]
    #expect(places.count == core.properties.count)
    for (name, keyPath) in places {
      #expect(at(name) == MemoryLayout<Everything>.offset(of: keyPath), "\(name)")
    }
    #expect(core.layout.idOffset == MemoryLayout<Everything>.offset(of: \.id))
    for core in [Airline.schema.core, Airport.schema.core, Flight.schema.core] {
      #expect(core.problem == nil)
    }
    #expect(
      Airport.schema.core.properties.map(\.offset) == [
        MemoryLayout<Airport>.offset(of: \.name),
        MemoryLayout<Airport>.offset(of: \.place.latitude),
        MemoryLayout<Airport>.offset(of: \.place.longitude),
      ])
  }

  @Test("of an id is that of its key, optional or not")
  func references() {
    #expect(MemoryLayout<Flight.ID>.size == MemoryLayout<UUID>.size)
    #expect(MemoryLayout<Flight.ID?>.size == MemoryLayout<UUID?>.size)
    #expect(MemoryLayout<Airline.ID>.size == MemoryLayout<String>.size)
    #expect(MemoryLayout<Airline.ID?>.size == MemoryLayout<String?>.size)
  }
}

extension ModelEncoder {
  /// A model's stored record.
  fileprivate mutating func encode<M: Cambium.Model>(
    _ model: M, _ binding: Binding
  ) throws -> [UInt8] {
    try unsafe withUnsafePointer(to: model) { try unsafe encode(UnsafeRawPointer($0), binding) }
  }
}
