// Goal: a property with a codec is the value that was set, its record holds the stored form, and
// queries are right or refuse. Method: random histories by every way of writing against a naive
// model that keeps values and encodes by hand; every comparison, order and range against sorting
// and filtering the values themselves, with an index and without.

import FoundationEssentials
import Simulation
import Synchronization
import Testing

@testable import Cambium

@Suite("A property with a codec")
struct CodedPropertyTests {
  /// A type that cannot be stored by itself.
  struct Mass: Hashable, Sendable { var grams = 0 }
  /// Another one, of which a property can be nil.
  struct Color: Hashable, Sendable { var rgb: Int }

  struct Refusal: Error, CustomStringConvertible { var description: String }

  /// In order: a number for a number.
  struct Grams: PropertyCodec {
    let guarantee = CodecGuarantee.order
    func encode(_ mass: Mass) throws -> Int {
      if mass.grams < 0 { throw Refusal(description: "less than nothing") }
      return mass.grams * 10
    }
    func decode(_ stored: Int) throws -> Mass {
      if stored % 10 != 0 { throw Refusal(description: "\(stored) is between two grams") }
      return Mass(grams: stored / 10)
    }
  }

  struct HexColor: PropertyCodec {
    let guarantee = CodecGuarantee.equality
    func encode(_ color: Color) -> String { "#" + String(color.rgb, radix: 16) }
    func decode(_ text: String) throws -> Color {
      guard text.hasPrefix("#"), let rgb = Int(text.dropFirst(), radix: 16) else {
        throw Refusal(description: "\(text) is no color")
      }
      return Color(rgb: rgb)
    }
  }

  /// An older form of the same stored type.
  struct NamedColor: PropertyCodec {
    let guarantee = CodecGuarantee.equality
    func encode(_ color: Color) -> String { color.rgb == 0 ? "black" : "red" }
    func decode(_ text: String) throws -> Color {
      switch text {
      case "black": Color(rgb: 0)
      case "red": Color(rgb: 0xFF0000)
      default: throw Refusal(description: "\(text) has no name")
      }
    }
  }

  /// Equal numbers are stored equally, but in no order: digits backwards.
  struct Backwards: PropertyCodec {
    let guarantee = CodecGuarantee.equality
    func encode(_ number: Int) -> String { String(String(number).reversed()) }
    func decode(_ text: String) throws -> Int {
      guard let number = Int(String(text.reversed())) else { throw Refusal(description: text) }
      return number
    }
  }

  /// In order, as texts of one length.
  struct Padded: PropertyCodec {
    let guarantee = CodecGuarantee.order
    func encode(_ number: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }
    func decode(_ text: String) throws -> Int { Int(text) ?? 0 }
  }

  /// As a cipher does it: never twice the same.
  struct Sealed: PropertyCodec {
    private static let nonces = Mutex(0)
    let guarantee = CodecGuarantee.nothing
    func encode(_ text: String) -> Data {
      let nonce = Self.nonces.withLock { nonce in
        nonce = (nonce + 1) % 256
        return UInt8(nonce)
      }
      return Data([nonce] + text.utf8.map { $0 ^ nonce })
    }
    func decode(_ data: Data) throws -> String {
      guard let nonce = data.first else { throw Refusal(description: "it is empty") }
      return String(decoding: data.dropFirst().map { $0 ^ nonce }, as: UTF8.self)
    }
  }

  struct Parcel: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var title = ""
    var mass = Mass()
    var color: Color?
    var code = 7
    var due: Int?
    var note = ""

    static let schema = ModelSchema<Parcel>("parcels") {
      Property(\.due).labelled("Due").validated("must not be 13") { $0 != 13 }
      Coded(\.mass, name: "grams", by: Grams()).indexed()
      Coded(\.color, by: HexColor())
      Coded(\.code, by: Backwards())
      Coded(\.due, by: Padded())
      Coded(\.note, by: Sealed())
      Index(\.due)
      Index(\.code)
    }
  }

  private static func parcel(_ key: Int, _ random: inout FormatRandom) -> Parcel {
    Parcel(
      id: .init(key), title: random.pick(["a", "b"]), mass: Mass(grams: random.below(20)),
      color: random.chance(oneIn: 3) ? nil : Color(rgb: random.below(3) * 0x10101),
      code: random.below(30), due: random.chance(oneIn: 4) ? nil : random.below(12) * 7,
      note: random.pick(["", "secret", "ä"]))
  }

  // MARK: Against a naive model

  @Test("is the value that was set, and queried as that", arguments: SeededGenerator.seeds(1, 2, 3))
  func random(_ seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    try withDatabase { database in
      try database.register(Parcel.self)
      var (world, worlds) = ([Int: Parcel](), [SequenceNumber: [Int: Parcel]]())
      for step in 1...200 {
        let (head, before) = (try database.head, world)
        try Self.step(database, &world, &random)
        if try database.head == head.next, random.chance(oneIn: 8) {
          try database.undoLast()
          world = before
        }
        worlds[try database.head] = world
        if step % 40 == 0 { try Self.check(try database.snapshot(), world, seed) }
      }
      for (sequence, world) in worlds where random.chance(oneIn: 40) {
        try Self.check(try database.snapshot(at: .sequence(sequence)), world, seed)
      }
    }
  }

  private static func step(
    _ database: Database, _ world: inout [Int: Parcel], _ random: inout FormatRandom
  ) throws {
    let key = random.below(25)
    let made = parcel(key, &random)
    guard let old = world[key] else {
      try database.insert(made)
      return world[key] = made
    }
    switch random.below(5) {
    case 0:
      try database.delete(old.id)
      world[key] = nil
    case 1:
      try database.write { tx in try tx.set(old.id, \.due, to: made.due) }
      world[key]?.due = made.due
    case 2:
      try database.write { tx in try tx.set(old.id, \.note, to: made.note) }
      world[key]?.note = made.note
    case 3:
      let update = try database.update(old.id) { ($0.mass, $0.title) = (made.mass, made.title) }
      let title = old.title == made.title ? [] : ["title"]
      let mass = old.mass == made.mass ? [] : ["grams"]
      #expect(Set(update.properties) == Set(title + mass))
      world[key]?.mass = made.mass
      world[key]?.title = made.title
    default:
      try database.write { tx in _ = try tx.upsert(made) }
      world[key] = made
    }
  }

  private static func check(
    _ snapshot: Snapshot, _ world: [Int: Parcel], _ seed: UInt64
  ) throws {
    let comment = Comment("seed \(seed), \(snapshot.sequence)")
    let all = world.values.sorted { $0.id < $1.id }
    #expect(try snapshot.all(Parcel.self).fetch() == all, comment)
    for parcel in all {
      #expect(try snapshot.get(parcel.id) == parcel, comment)
      #expect(try snapshot.find(parcel.id, \.due) == .some(parcel.due), comment)
      #expect(try snapshot.find(parcel.id, \.note) == parcel.note, comment)
      let record = try snapshot[parcel.id.path].record
      #expect(record?["grams"] == .integer(Int64(parcel.mass.grams * 10)), comment)
      #expect(record?["code"] == .string(Backwards().encode(parcel.code)), comment)
    }
    let query = snapshot.query(Parcel.self)
    func expect(
      _ condition: (Fields<Parcel>) -> Condition, _ holds: (Parcel) -> Bool
    ) throws {
      let found = try query.where { condition($0) }.ids()
      #expect(Set(found) == Set(all.filter(holds).map(\.id)), comment)
    }
    for limit in [0, 14, 35, 77, 90] {
      try expect({ $0.due == limit }, { $0.due == limit })
      try expect({ $0.due != limit }, { $0.due != limit })
      try expect({ $0.due < limit }, { $0.due.map { $0 < limit } ?? false })
      try expect({ $0.due >= limit }, { $0.due.map { $0 >= limit } ?? false })
      try expect({ $0.due.in(14...limit + 14) }, { $0.due.map { 14...limit + 14 ~= $0 } ?? false })
      try expect({ $0.due.in([limit, 7]) }, { $0.due.map { [limit, 7].contains($0) } ?? false })
      try expect({ $0.code == limit / 3 }, { $0.code == limit / 3 })
      try expect({ $0.code != limit / 3 }, { $0.code != limit / 3 })
      try expect(
        { $0.stored(\.mass, as: Int.self) > limit }, { $0.mass.grams * 10 > limit })
    }
    try expect({ $0.due == nil }, { $0.due == nil })
    try expect({ $0.code.in([1, 2, 29]) }, { [1, 2, 29].contains($0.code) })
    try expect({ $0.stored(\.color, as: String?.self) == nil }, { $0.color == nil })
    try expect(
      { $0.stored(\.color, as: String?.self) == "#10101" }, { $0.color == Color(rgb: 0x10101) })
    let byDue = try query.order(by: \.due.descending, \.id).fetch().map(\.id)
    #expect(
      byDue == all.sorted { ($1.due ?? -1, $0.id) < ($0.due ?? -1, $1.id) }.map(\.id), comment)
    let byMass = try query.order(by: { $0.stored(\.mass, as: Int.self) }).order(by: \.id)
      .fetch().map(\.id)
    #expect(byMass == all.sorted { ($0.mass.grams, $0.id) < ($1.mass.grams, $1.id) }.map(\.id))
    let sum = try query.sum { $0.stored(\.mass, as: Int.self) }
    #expect(sum == all.reduce(0) { $0 + $1.mass.grams * 10 }, comment)
  }

  // MARK: Declared

  @Test("is declared as it is stored, once, and found by its index")
  func declared() throws {
    let definition = Parcel.schema.definition
    #expect(definition["grams"]?.type == .integer && definition["color"]?.type == .string)
    #expect(definition["note"]?.type == .data && definition["due"]?.label == "Due")
    #expect(definition["code"]?.absence == .string("7") && definition["note"]?.absence == nil)
    #expect(Parcel.schema[\.mass]?.name == "grams")
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/coded.cambium"
    var database = try Database(at: path, for: Parcel.self)
    try database.insert(Parcel(id: 1, mass: Mass(grams: 3), due: 5, note: "n"))
    try database.write { tx in
      for key in 10..<300 {
        try tx.insert(Parcel(id: .init(key), mass: Mass(), code: key, due: 0))
      }
    }
    let head = try database.head
    try database.close()
    database = try Database(at: path, for: Parcel.self)
    #expect(try database.head == head)
    #expect(try database.get(Parcel.ID(1)).note == "n")
    let query = database.query(Parcel.self)
    #expect(try query.where { $0.due > 3 }.explain().contains("(due)"))
    #expect(try query.where { $0.code == 7 }.explain().contains("(code)"))
    let heavy = query.where { $0.stored(\.mass, as: Int.self) > 3 }
    #expect(try heavy.explain().contains("(grams)"))
    let json = try database.json(of: database.get(Parcel.ID(1)))
    #expect(json.contains("\"grams\":30") && json.contains("\"due\":\"000005\""), "\(json)")
    #expect(try Parcel(json: json) == database.get(Parcel.ID(1)))
    #expect(throws: ValidationError.self) { try database.insert(Parcel(id: 2, due: 13)) }
    // An update that changes nothing does not seal the note anew.
    let sealed = try database.head
    try database.update(Parcel.ID(1)) { $0.note = "n" }
    #expect(try database.head == sealed)
    try expectSound(database)
    try database.close()
  }

  // MARK: Refusals

  @Test("says what its codec does not keep")
  func refusals() throws {
    try withDatabase { database in
      try database.register(Parcel.self)
      try database.insert(Parcel(id: 1))
      let query = database.query(Parcel.self)
      func reason(_ body: () throws -> Void) -> String {
        do { try body() } catch DatabaseError.misuse(let reason) { return reason } catch {
          return "\(error)"
        }
        return "nothing"
      }
      let order = "Parcel.code is stored by Backwards: it does not keep the order of values"
      #expect(reason { _ = try query.where { $0.code < 3 }.count() }.contains(order))
      let equality = "Parcel.note is stored by Sealed: it does not keep which values are equal"
      #expect(reason { _ = try query.where { $0.note == "x" }.count() }.contains(equality))
      #expect(reason { _ = try query.where { $0.note.in(["x"]) }.count() }.contains(equality))
      for body: () throws -> Void in [
        { _ = try query.order(by: \.code).fetch() }, { _ = try query.order(by: \.note).fetch() },
        { _ = try query.select(\.due).fetch() }, { _ = try query.sum(\.code) },
        { _ = try query.maximum(\.due) }, { _ = try query.group(by: \.code).select { $0.count } },
        { _ = try query.where { $0.note.hasPrefix("s") }.fetch() },
        { _ = try query.where { $0.note.count == 2 }.fetch() },
        { _ = try query.where { $0.code == $0.due }.fetch() },
      ] {
        let text = reason(body)
        #expect(text.contains("Parcel.") && text.contains("is stored by"), "\(text)")
      }
      #expect(
        reason {
          _ = try query.where { $0.stored(\.mass, as: String.self) == "" }.fetch()
        }.contains("Grams does not store grams as String"))
      #expect(
        reason {
          _ = try query.where { $0.stored(\.title, as: String.self) == "" }.fetch()
        }.contains("title has no codec"))
      #expect(
        reason { try database.write { tx in try tx.increment(.init(1), \Parcel.code, by: 1) } }
          .contains("is changed as a whole, by set or update"))
      let refused = reason { try database.insert(Parcel(id: 2, mass: Mass(grams: -1))) }
      #expect(refused.contains("parcels/2") && refused.contains("grams: it cannot be encoded"))
      #expect(try database.find(Parcel.ID(2)) == nil)
    }
  }
}
