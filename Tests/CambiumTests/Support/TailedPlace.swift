// A database whose small commits go to the log's tail, for the suites about it.

import FoundationEssentials
import LMDB
import Testing

@testable import Cambium

/// The place of a database whose second commit makes the tail, so that the third goes to it.
struct TailedPlace {
  let place: Place
  var path: String { place.path }

  init() throws { place = try Place() }

  func beside(_ name: String) -> String { place.beside(name) }

  func open(
    bytes: Int = 64 << 10, bytesMax: Int = 0, at path: String? = nil
  ) throws -> Database {
    try TailedPlace.open(path ?? place.path, bytes: bytes, bytesMax: bytesMax)
  }

  static func open(_ path: String, bytes: Int = 64 << 10, bytesMax: Int = 0) throws -> Database {
    var options = Database.Options()
    options.stepSizes.tail = TailSizes(bytes: bytes, bytesMax: bytesMax, commitsBefore: 1)
    return try Database(at: path, options: options)
  }

  func write(_ numbers: Range<Int64>, to database: Database, text: Int = 0) throws {
    for number in numbers { try TailedPlace.write(number, to: database, text: text) }
  }

  static func write(_ number: Int64, to database: Database, text: Int = 0) throws {
    try database.write { tx in
      let text = Value.string(String(repeating: "x", count: text))
      try tx.set(NodePath("n/\(number)"), to: ["number": .integer(number), "text": text])
    }
  }

  /// The numbers of the records in the tail.
  func tail(of database: Database) throws -> [UInt64] {
    try database.directory.log.read { reader in
      var numbers: [UInt64] = []
      reader.tail?.forEach { numbers.append($0.sequence.rawValue) }
      return numbers
    }
  }

  /// Copies the files as a crash would leave them.
  func crash(_ name: String = "crashed", of path: String? = nil) throws -> String {
    let copy = place.beside(name)
    try FileManager.default.copyItem(atPath: path ?? place.path, toPath: copy)
    return copy
  }

  /// Checks that a database has the nodes of some numbers and no others, and is sound.
  func expect(
    _ database: Database, _ numbers: Range<Int64>,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try database.read { snapshot in
      #expect(try snapshot["n"].childCount == numbers.count, sourceLocation: sourceLocation)
      let missing = try numbers.filter { number in
        try snapshot[NodePath("n/\(number)")]["number"] != .integer(number)
      }
      #expect(missing == [], sourceLocation: sourceLocation)
    }
    try expectSound(database, sourceLocation: sourceLocation)
  }
}

/// The file of a tail, of a database that is closed.
struct TailFile {
  private let path: String

  init(_ database: String) { path = Tail.path(in: "\(database)/log") }

  /// The places of the frames that continue the log.
  func frames(_ database: String) throws -> [Range<Int>] {
    let log = try Log(at: "\(database)/log", Database.Options().environment(readOnly: true))
    defer { log.close() }
    let (mark, head) = try log.read { (try $0.tailMark(), try $0.storedHead()) }
    let file = try #require(try PrewrittenFile(path, isReadOnly: true))
    var scan = TailScan(file, seed: try #require(mark).seed)
    return try scan.frames(after: head).map(\.place)
  }

  func edit(_ body: (inout [UInt8]) throws -> Void) throws {
    var bytes = Array(try Data(contentsOf: URL(filePath: path)))
    try body(&bytes)
    try Data(bytes).write(to: URL(filePath: path))
  }
}
