import Testing

@testable import Cambium

@Suite("The catalog")
struct CatalogTests {
  @Test("numbers names in the order of their definition")
  func numbers() throws {
    var catalog = Catalog()
    let names = ["name", "born", "", "é", "e\u{301}", "Name", "name "]
    for (id, name) in names.enumerated() {
      #expect(catalog.id(of: name) == nil)
      try catalog.define(name, as: UInt32(id))
    }
    #expect(catalog.count == names.count && catalog.names == names)
    for (id, name) in names.enumerated() {
      #expect(catalog.id(of: name) == UInt32(id))
      #expect(try catalog.name(of: UInt32(id)).utf8.elementsEqual(name.utf8))
    }
  }

  @Test("refuses a name that is defined, or out of order, and keeps what it had")
  func refusals() throws {
    var catalog = Catalog()
    try catalog.define("a", as: 0)
    try catalog.define("b", as: 1)
    for (name, id) in [("c", 0), ("c", 1), ("c", 3), ("c", .max), ("a", 2)] as [(String, UInt32)] {
      #expect(
        throws: DatabaseError.corrupt(
          reason: "the name \(name) is defined twice or out of order")
      ) { try catalog.define(name, as: id) }
      #expect(catalog.count == 2 && catalog.id(of: "a") == 0 && catalog.id(of: "c") == nil)
    }
    try catalog.define("c", as: 2)
    #expect(catalog.id(of: "c") == 2)
  }

  @Test("names the number that it does not know")
  func unknown() throws {
    var catalog = Catalog()
    try catalog.define("a", as: 0)
    for id in [1, 70_000, .max] as [UInt32] {
      #expect(
        throws: DatabaseError.corrupt(reason: "a record uses the name \(id), which is not defined")
      ) { try catalog.name(of: id) }
    }
  }

  @Test("is written through the log, once for each name, and survives a rebuild")
  func database() throws {
    try withDatabase { database in
      try database.write { tx in
        try tx.define("b", "a", "b")
        try tx.set("x", to: ["a": 1, "é": 2, "e\u{301}": 3])
        try tx.set("y", to: ["a": 1, "b": 2])
      }
      try database.write { tx in try tx.set("z", to: ["e\u{301}": 1, "a": 2]) }
      #expect(try Self.definitions(database) == ["b", "a", "e\u{301}", "é"].map { Array($0.utf8) })
      #expect(try database.information().names == 4)
      try database.rebuild()
      #expect(try Self.definitions(database).count == 4)
      let names = try database.read { try $0.names.names.map { Array($0.utf8) } }
      #expect(names == ["b", "a", "e\u{301}", "é"].map { Array($0.utf8) })
      let x = try database.read { try $0["x"].value }
      #expect(x == ["a": 1, "é": 2, "e\u{301}": 3])
    }
  }

  @Test("takes back what an undone part defined, and gives its number to the next name")
  func undone() throws {
    struct Undone: Error {}
    try withDatabase { database in
      try database.write { tx in
        try tx.set("x", to: ["kept": 1])
        #expect(throws: Undone.self) {
          try tx.attempt {
            try tx.set("y", to: ["gone": 1, "kept": 2])
            throw Undone()
          }
        }
        try tx.set("z", to: ["next": 3, "kept": 4])
      }
      #expect(throws: Undone.self) {
        try database.write { tx in
          try tx.set("y", to: ["gone too": 1])
          throw Undone()
        }
      }
      try database.write { tx in try tx.set("w", to: ["last": 5]) }
      let names = try Self.definitions(database).map { String(decoding: $0, as: UTF8.self) }
      #expect(names == ["kept", "next", "last"])
      #expect(try database.read { try $0["z"].value } == ["next": 3, "kept": 4])
      #expect(try database.read { try $0["w"].value } == ["last": 5])
    }
  }

  @Test("refuses names that cannot be keys, and goes on")
  func badNames() throws {
    try withDatabase { database in
      for name in ["", "a\u{0}", String(repeating: "x", count: 481)] {
        #expect(throws: DatabaseError.self) { try database.write { tx in try tx.define(name) } }
        try database.write { tx in
          #expect(throws: DatabaseError.self) { try tx.set("x", to: .map(["a": 1, name: 1])) }
          try tx.set("x", to: [:])
          try tx.set("y", to: ["a": 2])
        }
        #expect(try database.read { try $0["x"].value } == [:])
        #expect(try database.read { try $0["y"].value } == ["a": 2])
      }
    }
  }

  /// The names that the log's operations define, in order.
  private static func definitions(_ database: Database) throws -> [[UInt8]] {
    var names: [[UInt8]] = []
    for sequence in 1...(try database.head.rawValue) {
      let record = try database.directory.log.read { try $0.record(SequenceNumber(sequence)) }
      var operations = OperationReader(record.operations)
      while let operation = try operations.next() {
        if case .define(let id, let name) = operation {
          #expect(Int(id) == names.count)
          names.append(Array(name.utf8))
        }
      }
    }
    return names
  }
}
