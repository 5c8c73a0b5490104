import FoundationEssentials
import Synchronization
import Testing

@testable import Cambium

/// A property that a schema leaves out is in no record, no log and no declaration, and disturbs
/// nothing of what lies around it in memory.
@Suite("An ignored property")
struct IgnoredPropertyTests {
  final class Renderer: Sendable, Equatable {
    static func == (a: Renderer, b: Renderer) -> Bool { a === b }
  }

  struct Photo: Cambium.Model {
    struct Frame: Nested {
      var width = 1
      var cache: Int8 = 3
    }

    var id = ID()
    var flag: UInt8 = 7
    var title = ""
    var isSelected = false
    var renderer: Renderer?
    var work: (@Sendable () -> Int)?
    var rating: Int16 = 2
    var frame = Frame()
    var origin = Frame(width: 5)
    let scale = 2.5
    var twice: Int??
    var taken = Date(timeIntervalSince1970: 0)

    var heading: String { title.uppercased() }
    var stars: Int {
      get { Int(rating) }
      set { rating = Int16(newValue) }
    }

    static let schema = ModelSchema<Photo>("photos") {
      Ignored(\.isSelected)
      Ignored(\.renderer)
      Ignored(named: "work")
      Ignored(\.frame.cache)
      Ignored(\.origin)
      Ignored(\.scale)
      Ignored(\.twice)
      Rule("selected photos have a title") { !$0.isSelected || !$0.title.isEmpty }
    }
  }

  private static func photo() -> Photo {
    var photo = Photo(flag: 255, title: "Sea", isSelected: true, renderer: Renderer(), rating: 4)
    photo.work = { 5 }
    photo.frame = .init(width: 9, cache: 9)
    photo.origin = .init(width: 8, cache: 8)
    photo.twice = .some(nil)
    photo.stars = 5
    return photo
  }

  @Test("beside a computed one is neither declared, stored nor logged")
  func storing() throws {
    #expect(
      Photo.schema.definition.properties.map(\.name) == [
        "flag", "title", "rating", "frame.width", "taken",
      ])
    try withDatabase { database in
      let id = try database.insert(Self.photo())
      let path = try id.path
      #expect(
        try database.read { try $0[path].value } == [
          "flag": 255, "title": "Sea", "rating": 5, "frame.width": 9,
          "taken": .date(Date(timeIntervalSince1970: 0)),
        ])
      let read = try database.get(id)
      #expect(read.flag == 255 && read.title == "Sea" && read.rating == 5 && read.frame.width == 9)
      #expect(read.taken == Date(timeIntervalSince1970: 0))
      #expect(!read.isSelected && read.renderer == nil && read.work == nil)
      #expect(read.frame.cache == 3 && read.origin == .init(width: 5) && read.scale == 2.5)
      #expect(read.twice == .none && read.heading == "SEA" && read.stars == 5)
      #expect(try database.query(Photo.self).fetch().count == 1)
    }
  }

  @Test("that alone is changed logs nothing, though rules and the app see it")
  func updating() throws {
    try withDatabase { database in
      let id = try database.insert(Self.photo())
      let head = try database.head
      let update = try database.update(id) {
        $0.isSelected = true
        $0.origin.width = 4
        $0.renderer = Renderer()
      }
      #expect(update.properties.isEmpty && update.after.isSelected)
      #expect(try database.head == head)
      var copy = try database.get(id)
      copy.isSelected = true
      #expect(try database.upsert(copy) == .unchanged)
      #expect(throws: ValidationError.self) {
        try database.insert(Photo(isSelected: true))
      }
    }
  }

  @Test("cannot be set, asked for or indexed by itself, and the error says so")
  func misuse() throws {
    try withDatabase { database in
      func reason(_ body: () throws -> Void) -> String {
        do { try body() } catch { return "\(error)" }
        return "nothing"
      }
      let id = try database.insert(Self.photo())
      for text in [
        reason { try database.write { try $0.set(id, \.isSelected, to: true) } },
        reason { try database.write { try $0.increment(id, \.origin.width, by: 1) } },
        reason { _ = try database.query(Photo.self).where { $0.isSelected == true }.fetch() },
        reason { _ = try database.query(Photo.self).order(by: \.origin.width).fetch() },
      ] { #expect(text.contains("is ignored by the schema"), "\(text)") }
      #expect(try database.query(Photo.self).filter { !$0.isSelected }.count() == 1)
    }
  }

  struct Watched: Cambium.Model {
    var id = ID()
    var name = "" { didSet { isChanged = true } }
    var isChanged = false
    var length: Int { name.count }
    static let schema = ModelSchema<Watched>("watched") { Ignored(\.length) }
  }
  struct Misnamed: Cambium.Model {
    var id = ID()
    static let schema = ModelSchema<Misnamed>("misnamed") { Ignored(named: "nothing") }
  }
  struct Observed: Cambium.Model {
    var id = ID()
    var name = ""
    var count = 3 { didSet { name += "!" } }
    static let schema = ModelSchema<Observed>("observed") { Ignored(named: "count") }
  }
  struct WithoutID: Cambium.Model {
    var id = ID()
    static let schema = ModelSchema<WithoutID>("ids") { Ignored(\.id) }
  }
  struct Unsaid: Cambium.Model {
    var id = ID()
    var frame = Photo.Frame()
    var renderer: Renderer?
    static let schema = ModelSchema<Unsaid>("unsaid") { Ignored(\.frame) }
  }

  @Test("must be stored, and no id; what is not ignored is still told of, with the remedy")
  func problems() throws {
    try withDatabase { database in
      func expectProblem(_ text: String, _ body: () throws -> Void) {
        #expect {
          try body()
        } throws: { error in
          guard case DatabaseError.misuse(let reason) = error else { return false }
          return reason.contains(text)
        }
      }
      expectProblem("cannot be ignored: it is computed") {
        try database.insert(Watched())
      }
      expectProblem("no stored property 'nothing'") { try database.insert(Misnamed()) }
      expectProblem("the id cannot be ignored") { try database.insert(WithoutID()) }
      expectProblem("Ignored(\\.renderer)") { try database.insert(Unsaid()) }
      let id = try database.insert(Observed(name: "x", count: 5))
      #expect(try database.get(id).count == 3 && database.get(id).name == "x")
      #expect(try database.read { try $0[id.path].value } == ["name": "x"])
    }
  }

  struct Earlier: Cambium.Model {
    var id = ID()
    var title = ""
    var isSelected = false
    static let schema = ModelSchema<Earlier>("photos")
  }
  struct Later: Cambium.Model {
    var id = ID()
    var title = ""
    var isSelected = false
    static let schema = ModelSchema<Later>("photos") { Ignored(\.isSelected) }
  }

  @Test("that was stored once is no longer read, and stays in the records that have it")
  func formerly() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/test.cambium"
    let earlier = try Database(at: path, for: Earlier.self)
    let key = try earlier.insert(Earlier(title: "Sea", isSelected: true)).key
    try earlier.close()
    let later = try Database(at: path, for: Later.self)
    #expect(try later.get(Later.ID(key)).isSelected == false)
    try later.update(Later.ID(key)) { $0.title = "Lake" }
    #expect(try later.read { try $0[Later.ID(key).path]["isSelected"] } == true)
    try expectSound(later)
    try later.close()
  }
}
