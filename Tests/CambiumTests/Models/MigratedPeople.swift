// The people of MigrationTests, in the forms that they have one after the other.

@testable import Cambium

/// The form that everything starts with.
struct Person1: Cambium.Model {
  typealias Key = Int
  var id = ID()
  var first = ""
  var last = ""
  var born: String?
  var legacy = 1
  static let schema = ModelSchema<Person1>("people") { Index(\.last) }
}

/// Merged, with another type under the same name, and without what is not needed.
struct Person2: Cambium.Model, Equatable {
  typealias Key = Int
  var id = ID()
  var name = ""
  var born: Int?
  static let schema = ModelSchema<Person2>("people", version: 2) {
    Property(\.name).required()
    Migration("full name") { old, new in
      new.name = try old["first", as: String.self] + " " + old["last", as: String.self]
    }
    Migration("year", changing: \.born) { old, new in
      guard let text = try old["born", as: String?.self] else { return }
      guard let year = Int(text) else { throw Unreadable(text: text) }
      new.born = year
    }
    Removed("first", "last")
    Unique(\.name)
    Index(\.born)
  }
  struct Unreadable: Error, Equatable { let text: String }
}

/// The third form, with steps that need the values of the forms before it.
struct Person3: Cambium.Model, Equatable {
  typealias Key = Int
  var id = ID()
  var name = ""
  var born: Int?
  var rank = 0
  var title = ""
  static let schema = ModelSchema<Person3>("people", version: 3) {
    Property(\.name).required()
    Property(\.rank).was("legacy")
    Property(\.title).required()
    Migration("full name") { old, new in
      new.name = try old["first", as: String.self] + " " + old["last", as: String.self]
    }
    Migration("year", changing: \.born) { old, new in
      new.born = try old["born", as: String?.self].flatMap { Int($0) }
    }
    Migration("title") { old, new in
      new.title = try "\(old["legacy", as: Int.self]) \(old["extra", as: String.self])"
    }
    Removed("first", "last", "extra")
    Unique(\.name)
  }
}
