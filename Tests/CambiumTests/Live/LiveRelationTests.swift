// Goal: a live query that loads some of the related models with each model, or their number, equals
// running it again, and tells of each row whose related models have changed. Method: random
// histories of issues and comments, in which comments are edited, deleted and moved from one issue
// to another; queries with windows, each stepped now and then.
//
// It finds a child's former parent that is forgotten, and a selected count that is taken for the
// row's own: each was planted.

import Simulation
import Testing

@testable import Cambium

@Suite("A live query of related models")
struct LiveRelationTests {
  struct User: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var name = ""
    static let schema = ModelSchema<User>("users")
  }

  struct Issue: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var modified = 0
    var isOpen = true
    var author: User.ID?
    var comments: Many<Comment> { many(\.issue) }
    static let schema = ModelSchema<Issue>("issues") { Index(\.isOpen, \.modified) }
  }

  struct Comment: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var issue: Issue.ID?
    var posted = 0
    var text = ""
    var author: User.ID?
    static let schema = ModelSchema<Comment>("comments") { Index(\.issue, \.posted) }
  }

  /// A live query, as texts of its elements.
  private final class Followed<R: Results> where R.Element: Sendable {
    private let live: LiveResults<R>
    private let again: R
    private let text: (R.Element) -> String
    private var texts: [String] = []

    init(_ query: R, _ text: @escaping (R.Element) -> String) throws {
      (live, again, self.text) = (try query.live(), query, text)
      texts = live.map(text)
    }

    func step(_ comment: Testing.Comment) throws {
      let before = texts
      let diff = try live.refresh()
      let gone = Set(diff.deletions.map(\.position) + diff.moves.map(\.from))
      texts = before.indices.filter { !gone.contains($0) }.map { before[$0] }
      let come =
        diff.insertions.map { ($0.position, text($0.element)) }
        + diff.moves.map { ($0.to, text($0.element)) }
      for (position, text) in come.sorted(by: { $0.0 < $1.0 }) {
        try #require(position <= texts.count, comment)
        texts.insert(text, at: position)
      }
      for update in diff.updates {
        #expect(before[update.before] == text(update.old), comment)
        texts[update.after] = text(update.new)
      }
      let wanted = try again.fetch().map(text)
      #expect(texts == wanted && live.elements.map(text) == wanted, comment)
    }
  }

  private static func steps(_ database: Database) throws -> [(Testing.Comment) throws -> Void] {
    let issues = database.query(Issue.self)
    let newest = issues.where { $0.isOpen }.order(by: \.modified.descending, \.id.descending)
    let lists = try [
      newest.limit(4).with { $0.comments.order(by: \.posted.descending, \.id.descending).limit(2) },
      issues.order(by: \.id).with {
        $0.comments.where { $0.posted > 3 }.order(by: \.author.name, \.id).limit(2)
      },
      newest.limit(3, offset: 2).with { $0.comments.where { $0.author.name == "b" } },
      newest.limit(3).with { $0.comments.order(by: \.text, \.id).limit(1) },
    ].map { try Followed($0) { "\($0.0) \($0.1)" } }
    let numbers = try [
      newest.limit(4).with(\.comments.count),
      newest.limit(3).with { $0.comments.where { $0.posted > 3 }.count },
    ].map { try Followed($0) { "\($0.0) \($0.1)" } }
    let comments = database.query(Comment.self).order(by: \.posted.descending, \.id)
    let whole = try Followed(newest.limit(4).with(\.comments)) { "\($0.0) \($0.1)" }
    let author = try Followed(newest.limit(4).with(\.author)) { "\($0.0) \($0.1, default: "-")" }
    let both = try Followed(issues.order(by: \.id).with(\.author, \.comments)) { "\($0)" }
    let behind = try Followed(comments.limit(6).with(\.issue, \.issue.author)) { "\($0)" }
    let joined = try Followed(
      comments.leftJoin(Issue.self, on: \.issue, \.id).limit(6)
    ) { "\($0)" }
    let selected = try Followed(newest.limit(5).select(\.id, \.comments.count)) { "\($0)" }
    let models = try [
      issues.order(by: \.comments.count.descending, \.id).limit(4, offset: 1),
      issues.where { $0.comments.where { $0.author.name == "b" }.count > 1 }.order(by: \.id),
      issues.where { $0.comments.count < 3 }.order(by: \.modified, \.id).limit(3),
    ].map { try Followed($0) { "\($0)" } }
    let words = [
      "issues select id, count(comments by issue where posted > 2) sort id limit 6",
      "comments select id, count(comments by issue of issue) sort -posted, id limit 5",
      "issues | group by count(comments by issue) select count sort -count(comments by issue)",
    ]
    let texts = try words.map { try Followed(database.records($0)) { "\($0)" } }
    return lists.map { list in { try list.step($0) } } + numbers.map { one in { try one.step($0) } }
      + models.map { one in { try one.step($0) } } + texts.map { one in { try one.step($0) } }
      + [{ try selected.step($0) }, { try whole.step($0) }, { try author.step($0) }]
      + [{ try both.step($0) }, { try behind.step($0) }, { try joined.step($0) }]
  }

  @Test("equals running it again", arguments: SeededGenerator.seeds(1, 2, 3, 4))
  func equals(seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    try withDatabase { database in
      try database.register(User.self, Issue.self, Comment.self)
      for _ in 0..<60 { try database.write { try Self.change($0, &random) } }
      let steps = try Self.steps(database)
      for step in steps { try step("seed \(seed), first") }
      for round in 0..<120 {
        try database.write { tx in
          for _ in 0...random.below(3) { try Self.change(tx, &random) }
        }
        for step in steps where random.chance(oneIn: 2) { try step("seed \(seed), round \(round)") }
      }
      for step in steps { try step("seed \(seed), end") }
    }
  }

  private static func change(
    _ tx: borrowing Database.Transaction, _ random: inout FormatRandom
  ) throws {
    let (issue, comment) = (Issue.ID(random.below(9)), Comment.ID(random.below(50)))
    switch random.below(12) {
    case 0: try tx.delete(issue)
    case 1: try tx.delete(comment)
    case 2: try tx.upsert(User(id: .init(random.below(3)), name: random.pick(["a", "b", "c"])))
    case 3, 4:
      let author = User.ID(random.below(4))
      try tx.upsert(
        Issue(id: issue, modified: random.below(8), isOpen: random.below(4) > 0, author: author))
    case 5 where try tx.find(comment) != nil: try tx.update(comment) { $0.issue = issue }
    case 6 where try tx.find(comment) != nil:
      let text = random.pick(["x", "y", "z"])
      try tx.update(comment) { $0.text = text }
    default:
      try tx.upsert(
        Comment(
          id: comment, issue: random.below(8) > 0 ? issue : nil, posted: random.below(9),
          text: random.pick(["x", "y"]), author: .init(random.below(4))))
    }
  }

  @Test("tells the rows whose related models changed, of both parents")
  func parents() throws {
    try withDatabase { database in
      try database.register(User.self, Issue.self, Comment.self)
      try database.write { tx in
        for id in 0..<4 { try tx.upsert(Issue(id: .init(id), modified: id)) }
        for id in 0..<8 { try tx.upsert(Comment(id: .init(id), issue: .init(id % 4), posted: id)) }
      }
      let numbers = database.query(Issue.self).order(by: \.id).select(\.id, \.comments.count)
      let latest = database.query(Issue.self).order(by: \.id).limit(3).with {
        $0.comments.order(by: \.posted.descending).limit(1)
      }
      let (first, second) = (try numbers.live(), try latest.live())
      try database.write { tx in try tx.update(Comment.ID(5)) { $0.issue = 2 } }
      let moved = try first.refresh()
      #expect(moved.updates.map(\.after) == [1, 2] && moved.updates.map(\.new.1) == [1, 3])
      #expect(moved.updates.allSatisfy { $0.cause == .related } && moved.insertions.isEmpty)
      let shown = try second.refresh()
      // The other parent shows a later comment, as before.
      #expect(shown.updates.map(\.after) == [1])
      #expect(shown.updates.map(\.new.1.first?.id) == [Comment.ID(1)])
      try database.write { tx in try tx.update(Comment.ID(5)) { $0.text = "edited" } }
      #expect(try first.refresh().updates.isEmpty)
      let words = try numbers.explainLive()
      #expect(
        words.contains("comments by their issue: maintained, by the keys that they name"),
        "\(words)")
      #expect(try latest.explainLive().contains("relations loaded along: bounded"))
    }
  }
}
