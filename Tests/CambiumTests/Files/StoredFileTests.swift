// Goal: a file is a value like any other: of a node, a property, a model, an array, in JSON and in
// print. Method: round trips of files with and without each part.

import FoundationEssentials
import Testing

@testable import Cambium

@Suite("A stored file")
struct StoredFileTests {
  private struct Letter: Cambium.Model {
    var id = ID()
    var scan: StoredFile?
    var pages: [StoredFile] = []
    static let schema = ModelSchema<Letter>("letters")
  }

  /// Files with each subset of what may be left out.
  private static func files(_ blob: Blob) -> [StoredFile] {
    (0..<8).map { bits in
      StoredFile(
        blob, name: "ä \(bits).png", type: bits & 1 > 0 ? "image/png" : nil,
        created: bits & 2 > 0 ? Date(timeIntervalSince1970: 1.5) : nil,
        modified: bits & 4 > 0 ? Date(timeIntervalSince1970: -2) : nil)
    }
  }

  @Test("comes back as the value of a node, of a property and of a model, in arrays and past")
  func values() throws {
    try withDatabase { database in
      let files = Self.files(try database.store(Data("scan".utf8)))
      let letter = Letter(scan: files[7], pages: files)
      try database.write { tx in
        try tx.set("f", to: .file(files[1]))
        try tx.set("r", to: ["f": .file(files[2])])
        try tx.insert(letter)
      }
      try database.write { tx in try tx.set("f", to: .file(files[3])) }
      try database.read { snapshot in
        #expect(StoredFile(try snapshot["f"].value) == files[3])
        #expect(StoredFile(try snapshot["r"]["f"]) == files[2])
        let found = try snapshot.query(Letter.self).fetch().first
        #expect(found?.scan == files[7] && found?.pages == files)
      }
      #expect(try database.read(at: .sequence(1)) { StoredFile(try $0["f"].value) } == files[1])
    }
  }

  @Test("refuses a value that is none, and one whose content is not stored")
  func others() throws {
    let blob = Blob(hash: [UInt8](repeating: 1, count: 32), size: 3)
    #expect(StoredFile(nil) == nil)
    for value in [
      .null, .blob(blob), ["name": "a"], ["content": .blob(blob)], ["content": 1, "name": "a"],
      ["content": .blob(blob), "name": 1],
    ] as [Value] {
      #expect(StoredFile(value) == nil)
      #expect(throws: (any Error).self) { try StoredFile(storedValue: value) }
    }
    // Members of a later version are left out, and one that is not of its type is not known.
    let odd: Value = ["content": .blob(blob), "name": "a", "type": 1, "width": 5]
    #expect(StoredFile(odd) == StoredFile(blob, name: "a"))
    try withDatabase { database in
      _ = #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.set("f", to: .file(StoredFile(blob, name: "a"))) }
      }
    }
  }

  @Test("is exported to JSON and imported from it")
  func json() throws {
    try withDatabase { database in
      for file in Self.files(try database.store(Data("scan".utf8))) {
        let text = JSONWriter.text(file.storedValue)
        #expect(StoredFile(try JSONReader.value(of: text, name: "file")) == file)
        let letter = Letter(scan: file, pages: [file])
        for kinds in [InterchangeProfile.Kinds.plain, .kept] {
          let profile = InterchangeProfile { $0.kinds = kinds }
          let read = try Letter(json: try letter.json(profile), profile)
          #expect(read.scan == file && read.pages == [file])
        }
      }
    }
  }

  @Test("is printed with its name, size and type")
  func printed() {
    let blob = Blob(hash: [UInt8](repeating: 1, count: 32), size: 3)
    #expect("\(StoredFile(blob, name: "a.png", type: "image/png"))" == "a.png, 3 bytes, image/png")
    #expect("\(StoredFile(blob, name: "a"))" == "a, 3 bytes")
  }

  @Test("has the bytes that the file format says")
  func golden() throws {
    let blob = Blob(hash: [UInt8](repeating: 0xAB, count: 32), size: 3)
    let file = StoredFile(
      blob, name: "a", type: "b", created: Date(timeIntervalSince1970: 1),
      modified: Date(timeIntervalSince1970: 2))
    // Made with Python's struct.
    let golden = [UInt8](
      hex: """
        0E
        07636F6E74656E74 29 10
        ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB
        0300000000000000    ; content
        0763726561746564 09 0A40420F0000000000    ; created
        086D6F646966696564 09 0A80841E0000000000    ; modified
        046E616D65 02 0861    ; name
        0474797065 02 0862    ; type
        """)
    #expect(try file.storedValue.stored().hex == golden.hex)
  }
}
