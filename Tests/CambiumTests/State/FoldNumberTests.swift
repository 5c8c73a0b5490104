// Goal: what one fold has made is never read by the rules of another. Method: states whose content
// is wrong on purpose are given the number of an earlier or a later fold, and must not be asked; a
// database that version 1 compacted must give the same answers as its records.

import FoundationEssentials
import LMDB
import Testing

@testable import Cambium

@Suite("The number of the fold", .timeLimit(.minutes(1)))
struct FoldNumberTests {
  private let place: Place
  private let heard = Heard()

  init() throws {
    place = try Place()
    try place.fill(5)
  }

  /// Makes the state say that `n/5` is another number, soundly sealed.
  private func falsifyState() throws {
    try place.editState { transaction, tables in
      var cursor = try Cursor(transaction.access, tables.tree)
      guard try cursor.last() else { return }
      let key = cursor.withEntry { key, _ in key.array() }
      let header = NodeHeader(kind: .scalar, modified: 5, node: 0)
      var version = ByteBuffer()
      let content = try Value.integer(-1).stored()
      content.lend { content in
        key.lend { header.store(content, nil, key: $0, into: &version) }
      }
      try key.lend { key in try version.lend { try transaction.put(tables.tree, key, $0) } }
    }
  }

  @Test("makes a state of an earlier fold anew before it is asked")
  func earlier() throws {
    try falsifyState()
    #expect(try place.use { try $0.read { try $0["n/5"].value } } == -1)
    try place.setMark { $0.fold = 1 }
    try place.use({ $0.diagnostics = heard.add }) { database in
      #expect(try database.read { try $0["n/5"].value } == 5)
      try expectSound(database)
    }
    #expect(heard.rebuilds == ["an earlier version of Cambium made it"])
    #expect(try place.mark?.fold == StateMark.foldNumber)
  }

  @Test("refuses a state of a later fold, and leaves everything as it is")
  func later() throws {
    try place.setMark { $0.fold = StateMark.foldNumber + 1 }
    let before = try place.listing()
    for readOnly in [true, false] {
      #expect {
        try place.use({ $0.readOnly = readOnly }) { _ in }
      } throws: { error in
        guard case .unsupported(_, let reason)? = error as? DatabaseError else { return false }
        return reason.contains("later version of Cambium") && reason.contains("update this program")
      }
    }
    let after = try place.listing()
    #expect(after == before)
  }

  @Test("refuses to go on with a database that a later version has taken over meanwhile")
  func takenOver() throws {
    let database = try place.open()
    try database.write { tx in try tx.set("n/5", to: 50) }
    let writer = try LogWriter.begin(database.directory.log)
    var mark = try #require(try writer.reader.stateMark())
    mark.generation += 1
    mark.fold = StateMark.foldNumber + 1
    try writer.setStateMark(mark)
    try writer.commit(head: try database.directory.log.read { try $0.head() })
    func isRefusal(_ error: any Error) -> Bool {
      if case .unsupported? = error as? DatabaseError { true } else { false }
    }
    #expect { _ = try database.read { try $0["n/5"].value } } throws: { isRefusal($0) }
    #expect { try database.write { tx in try tx.set("n/5", to: 51) } } throws: { isRefusal($0) }
    // The mark is the later version's to change.
    try? database.close()
    #expect(try place.mark == mark)
  }

  @Test("raises the format of a database of format 1 with the first state that is made for it")
  func format() throws {
    try place.editLog { transaction, tables in
      let reader = LogReader(access: transaction.access, tables: tables, damage: LogDamage())
      var format = try reader.format()
      format.version = 1
      try transaction.put(tables.meta, "format", MetaEntry.seal(format.stored(), name: "format"))
    }
    #expect(try place.use({ $0.readOnly = true }) { try $0.information().format } == 1)
    try place.setMark { $0.fold = 1 }
    #expect(try place.use { try $0.information().format } == 2)
    #expect(try place.use({ $0.readOnly = true }) { try $0.information().format } == 2)
  }

  // MARK: Checkpoints and baselines

  @Test("ignores a checkpoint of an earlier fold")
  func checkpoint() throws {
    try place.use({ $0.checkpointGrowth = 1 }) { database in
      try database.write { tx in try tx.set("n/6", to: 6) }
      database.finishCheckpoint()
    }
    let directory = try #require(try place.names.first { $0.hasPrefix("checkpoint-") })
    try place.editLog { transaction, tables in
      let reader = LogReader(access: transaction.access, tables: tables, damage: LogDamage())
      var mark = try #require(try reader.checkpoint())
      mark.fold = 1
      let sealed = MetaEntry.seal(mark.stored(), name: "checkpoint")
      try transaction.put(tables.meta, "checkpoint", sealed)
    }
    // To use it would show: it is not readable any more.
    try Data([1, 2, 3]).write(to: URL(filePath: "\(place.path)/\(directory)/data.mdb"))
    try place.distrust()
    try place.use({ $0.diagnostics = heard.add }) { try expectSound($0) }
    #expect(heard.rebuilds.count == 1 && heard.failures == [])
  }

  /// A database that version 1 has written, compacted and written to again.
  private static let compacted = Fixtures.folder.appending(path: "compacted-1")

  @Test("folds what a baseline of version 1 has derived anew, in each place that goes on from one")
  func baseline() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/compacted-1"
    try FileManager.default.copyItem(atPath: Self.compacted.path(), toPath: path)
    let database = try Database(at: path)
    func expectAnswers(_ database: Database) throws {
      func keys(_ text: String) throws -> [Key?] {
        try database.records("flights where \(text)").fetch().map(\.key)
      }
      // Computed from the imported file, without the database.
      #expect(try keys("carrier = \"UA\" sort -delay limit 3") == [61, 9, 17])
      #expect(try keys("note = \"n61\"") == [61])
      #expect(try keys("delay > 77 sort -delay") == [3, 31])
      let text = "flights | group by carrier select count, sum(delay)"
      let groups = try database.records(text).fetch()
      let figures = groups.map { [$0["count"], $0["sum(delay)"]] }
      #expect(figures == [[15, 342], [15, 317], [16, 922], [16, 452]])
      try expectSound(database)
    }
    try expectAnswers(database)
    try database.rebuild()
    try expectAnswers(database)
    try database.compact(upTo: 7)
    try expectAnswers(database)
    #expect(try database.directory.log.read { try $0.baseline().fold } == StateMark.foldNumber)
    try database.close()
  }
}
