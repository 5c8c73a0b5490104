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
      #expect(try sections(of: request) == ["1 COOK", "2 WASH"])
    }
  }

  private func sections(of request: ModelQuery<TaskModel>) throws -> [String] {
    var shown: [String] = []
    func show(_ project: Int, _ rows: [Row]?) {
      shown.append("\(project) \((rows ?? []).map(\.title).joined(separator: " "))")
    }
    let tasks = try request.filter { $0.name.count > 3 }.fetch()
    let sections = Dictionary(grouping: tasks, by: \.projectID)
    for project in sections.keys.sorted() {
      show(project, sections[project]?.map(Row.init))
    }
    return shown
  }

  @Test("is told of each write as a whole")
  func changes() async throws {
    try await withDatabase { database in
      let tasks = try fill(database)
      let (show, head) = (Shown(), try database.head)
      let observer = Task { try await Self.observe(database, head, show) }
      try Self.write(database, tasks)
      let rest = try await database.insert(TaskModel(name: "rest"))
      try await show.waits(for: 2)
      observer.cancel()
      _ = await observer.result
      #expect(show.lines[0].hasPrefix("[] [") && show.lines[0].hasSuffix("] 1"))
      #expect(show.lines[1].hasPrefix("[") && show.lines[1].hasSuffix("] [] 0"))
      #expect(show.lines[1].contains(try rest.path.description))
    }
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

  private static func observe(
    _ database: Database, _ head: SequenceNumber, _ show: Shown
  ) async throws {
    for try await commit in database.changes(after: head, under: "tasks") {
      let changes = try commit.changes.fetch()
      let inserted = changes.filter { $0.old == nil }
      let deleted = changes.filter { $0.new == nil }
      show(inserted, deleted, changes.count - inserted.count - deleted.count)
    }
  }
}
