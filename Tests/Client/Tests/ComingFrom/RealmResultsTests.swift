import Cambium
import FoundationEssentials
import Scratch
import Testing

@Suite("Coming from RealmResultsController, one")
struct RealmResultsTests {
  struct TaskModel: Model {
    var id = ID()
    var name = ""
    var resolved = false
    var projectID = 0
    static let schema = ModelSchema<TaskModel>("tasks")
  }

  /// A task as a view shows it.
  private struct Row {
    let title: String
    init(_ task: TaskModel) { title = task.name.uppercased() }
  }

  private func fill(_ database: Database) throws -> [TaskModel] {
    try database.register(TaskModel.self)
    return try database.write { tx in
      try tx.insert(TaskModel(name: "wash", projectID: 2))
      try tx.insert(TaskModel(name: "cook", projectID: 1))
      try tx.insert(TaskModel(name: "eat", projectID: 1))
      try tx.insert(TaskModel(name: "sleep", resolved: true, projectID: 1))
      return try tx.all(TaskModel.self).fetch()
    }
  }

  @Test("makes a request, filters it in Swift, and makes sections")
  func request() throws {
    try withDatabase { database in
      _ = try fill(database)
      let request = database.query(TaskModel.self)
        .where { !$0.resolved }
        .order(by: \.projectID, \.name)
      let tasks = try request.fetch()
      #expect(tasks.map(\.name) == ["cook", "eat", "wash"])
    }
  }

  @Test("makes sections that follow, with a filter in Swift and a mapper")
  func sections() async throws {
    try await withDatabase { database in
      _ = try fill(database)
      let request = database.query(TaskModel.self).where { !$0.resolved }.order(by: \.projectID)
      let shown = Shown()
      let task = Task {
        @Sendable func show(_ project: Int, _ rows: [Row]) {
          shown("\(project) \(rows.map(\.title).joined(separator: " "))")
        }
        let long = request.filter { $0.name.count > 3 }
        for try await diff in long.changes(by: { $0.projectID }) {
          for section in diff.sections {
            show(section.key, section.elements.map(Row.init))
          }
        }
      }
      try await shown.waits(for: 2)
      try await database.insert(TaskModel(name: "rest", projectID: 3))
      try await shown.waits(for: 5)
      task.cancel()
      _ = await task.result
      #expect(shown.lines == ["1 COOK", "2 WASH", "1 COOK", "2 WASH", "3 REST"])
    }
  }

  /// A table that writes down the batches that it gets.
  private final class Table: ListView, Sendable {
    let shown = Shown()
    func beginUpdates() { shown("begin") }
    func deleteSections(_ positions: [Int]) { shown("delete sections", positions) }
    func insertSections(_ positions: [Int]) { shown("insert sections", positions) }
    func moveSection(_ from: Int, to: Int) { shown("move section", from, to) }
    func delete(_ positions: [SectionedPosition]) { shown("delete", positions) }
    func insert(_ positions: [SectionedPosition]) { shown("insert", positions) }
    func move(_ from: SectionedPosition, to: SectionedPosition) { shown("move", from, to) }
    func endUpdates() { shown("end") }
    func reload(_ positions: [SectionedPosition]) { shown("reload", positions) }
  }

  @Test("drives a table write by write")
  func changes() async throws {
    try await withDatabase { database in
      let tasks = try fill(database)
      let request = database.query(TaskModel.self).order(by: \.projectID, \.name)
      let table = Table()
      let driver = Task {
        let source = LiveListSource(request.changes { $0.projectID }) { "Project \($0)" }
        try await source.drive(table)
      }
      try await table.shown.waits(for: 3)
      try Self.write(database, tasks)
      try await table.shown.waits(for: 6)
      driver.cancel()
      _ = await driver.result
      #expect(table.shown.lines.prefix(3) == ["begin", "insert sections [0, 1]", "end"])
      #expect(table.shown.lines[3] == "begin" && table.shown.lines.contains("end"))
    }
  }

  @Test("asks with another filter, and observes one object")
  func others() async throws {
    try await withDatabase { database in
      let (shown, id) = (Shown(), try fill(database)[0].id)
      try Self.ask(database, shown)
      #expect(shown.lines == ["[0, 1] [0]"])
      let observer = Task {
        let show = shown
        for try await task in database.values(of: id) {
          show(task?.name)
        }
      }
      try await shown.waits(for: 2)
      try await database.update(id) { $0.name = "wash up" }
      try await shown.waits(for: 3)
      observer.cancel()
      _ = await observer.result
      #expect(shown.lines[2] == "wash up")
    }
  }

  private static func ask(_ database: Database, _ show: Shown) throws {
    let request = database.query(TaskModel.self).order(by: \.name)
    let live = try request.filter { $0.name.count > 3 && !$0.resolved }.live()
    let diff = try live.ask(request.filter { $0.name.count > 4 })
    show(diff.deletions.map(\.position), diff.insertions.map(\.position))
  }

  private static func write(_ database: Database, _ tasks: [TaskModel]) throws {
    var task = tasks[0]
    let old = tasks[1]
    task.name = "wash up"
    try database.write { tx in
      try tx.upsert(task)
      try tx.delete(old.id)
    }
  }
}
