// Four versions of one app over one database: properties that come, go, change their name and their
// type, records that a new rule refuses, steps that are run once, an old version that is shut out.

import Cambium
import Scratch

enum Version1 {
  struct Contact: Model {
    typealias Key = Int
    var id = ID()
    var name = ""
    var phone = ""
    var born = ""
    static let schema = ModelSchema<Contact>("contacts")
  }
}

/// A property and an index more, one renamed and one of another type: read as before.
enum Version2 {
  struct Contact: Model {
    typealias Key = Int
    var id = ID()
    var name = ""
    var telephone = ""
    var born = 0
    var isFriend: Bool?
    static let schema = ModelSchema<Contact>("contacts") {
      Property(\.telephone).was("phone")
      Property(\.born).was("born", as: String.self) { Int($0) ?? 0 }
      Index(\.name)
    }
  }
}

/// A rule that the records do not keep.
enum Version3 {
  struct Contact: Model {
    typealias Key = Int
    var id = ID()
    var name = ""
    static let schema = ModelSchema<Contact>("contacts") { Unique(\.name) }
  }
}

/// Telephones as records of their own, made by a step.
enum Version4 {
  struct Contact: Model {
    typealias Key = Int
    var id = ID()
    var name = ""
    var born = 0
    var isFriend: Bool?
    var telephones: Many<Telephone> { many(\.contact) }

    static let schema = ModelSchema<Contact>("contacts", version: 4) {
      Property(\.born).was("born", as: String.self) { Int($0) ?? 0 }
      Index(\.name)
      Migration("telephones apart") { old, new, tx in
        let number = try old["telephone", as: String?.self] ?? old["phone", as: String.self]
        try tx.insert(Telephone(contact: new.id, number: number))
      }
      Removed("phone", "telephone")
    }
  }

  struct Telephone: Model {
    var id = ID()
    var contact: Contact.ID?
    var number = ""
    static let schema = ModelSchema<Telephone>("telephones") {
      Property(\.contact).onDelete(.cascade)
    }
  }
}

func first(_ path: String) throws -> SequenceNumber {
  let database = try Database(at: path, for: Version1.Contact.self)
  try database.write { tx in
    try tx.insert(Version1.Contact(id: 1, name: "Ada", phone: "20", born: "1815"))
    try tx.insert(Version1.Contact(id: 2, name: "Ada", phone: "30", born: "?"))
  }
  let head = try database.head
  try database.close()
  return head
}

func second(_ path: String) throws {
  let database = try Database(at: path, for: Version2.Contact.self)
  let contacts = try database.all(Version2.Contact.self).fetch()
  try check(contacts.map(\.telephone) == ["20", "30"] && contacts.map(\.born) == [1815, 0])
  try database.update(1 as Version2.Contact.ID) { $0.isFriend = true }
  try check(database.query(Version2.Contact.self).where { $0.isFriend == true }.ids() == [1])
  try database.close()
}

func third(_ path: String) throws {
  do {
    _ = try Database(at: path, for: Version3.Contact.self)
    try check(false)
  } catch let error as DatabaseError {
    try check("\(error)".contains("contacts"))
  }
}

func fourth(_ path: String, _ begin: SequenceNumber) throws {
  do {
    _ = try Database(at: path, for: Version4.Contact.self, Version4.Telephone.self)
    try check(false)
  } catch DatabaseError.needsMigration {}
  let database = try Database(
    at: path, for: Version4.Contact.self, Version4.Telephone.self, migrating: { _ in true })
  let rows = try database.query(Version4.Contact.self).with(\.telephones).fetch()
  try check(rows.map { $0.1.map(\.number) } == [["20"], ["30"]])
  try check(rows.map(\.0.born) == [1815, 0] && rows.map(\.0.isFriend) == [true, nil])
  try check(database.query(Version4.Contact.self).where { $0.born > 1800 }.ids() == [1])
  // A snapshot that is held keeps the database from being opened again.
  let phone = try database.read(at: .sequence(begin)) { try $0["contacts/1"]["phone"] }
  try check(phone == .string("20"))
  try checkSound(database)
  try database.close()

  let again = try Database(at: path, for: Version4.Contact.self, Version4.Telephone.self)
  try check(again.planMigration(of: Version4.Contact.self).steps == [])
  try check(again.count(Version4.Telephone.self) == 2)
  try again.close()
}

func firstAgain(_ path: String) throws {
  do {
    _ = try Database(at: path, for: Version1.Contact.self)
    try check(false)
  } catch is DatabaseError {}
}

let directory = try TemporaryDirectory()
let path = "\(directory.path)/contacts.cambium"
let begin = try first(path)
try second(path)
try third(path)
try fourth(path, begin)
try firstAgain(path)
print("evolution: ok")
