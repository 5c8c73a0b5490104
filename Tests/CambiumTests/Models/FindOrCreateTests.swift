// Goal: what is to be there once is made once. Method: a unique property, calls that find and calls
// that make, in one transaction and in several.

import Testing

@testable import Cambium

@Suite("Finding or creating")
struct FindOrCreateTests {
  struct Account: Cambium.Model, Equatable {
    var id = ID()
    var mail = ""
    var name = ""

    static let schema = ModelSchema<Account>("accounts") { Unique(\.mail.ignoringCase) }
  }

  private func account(_ mail: String, _ tx: borrowing Database.Transaction) throws -> Account {
    try tx.findOrCreate(tx.query(Account.self).where { $0.mail.equals(mail) }) {
      Account(mail: mail, name: "new")
    }
  }

  @Test("by a unique property makes one, and finds it from then on")
  func unique() throws {
    let database = try Database.inMemory(for: Account.self)
    let first = try database.write { tx in
      let made = try account("ada@x.org", tx)
      #expect(made.name == "new" && made.id.isAssigned)
      #expect(try account("ADA@x.org", tx) == made)
      try tx.update(made.id) { $0.name = "Ada" }
      return made
    }
    let again = try database.write { tx in try account("Ada@X.org", tx) }
    #expect(again.id == first.id && again.name == "Ada")
    #expect(try database.write { try account("bob@x.org", $0) }.id != first.id)
    #expect(try database.count(Account.self) == 2)
    let head = try database.head
    // One that the query does not find would be made again and again.
    #expect(throws: DatabaseError.self) {
      try database.write { tx in
        _ = try tx.findOrCreate(tx.query(Account.self).where { $0.mail == "eve@x.org" }) {
          Account(mail: "mallory@x.org")
        }
      }
    }
    #expect(try database.head == head && database.count(Account.self) == 2)
    try expectSound(database)
    try database.close()
  }
}
