import Cambium
import FoundationEssentials

/// One live query among thousands, whatever its elements are.
struct CrowdMember {
  /// Takes a step; true if it made a difference.
  let step: () throws -> Bool
  /// Runs the query again.
  let fetch: () throws -> Void

  init<Q: Results>(_ query: Q) throws where Q.Element: Sendable {
    let live = try query.live()
    step = { try !live.refresh().isEmpty }
    fetch = { _ = try live.query.fetch() }
  }
}

/// The queries of a crowd.
struct CrowdQueries {
  private let database: Database

  init(_ database: Database) { self.database = database }

  func issues(of author: Int) -> ModelQuery<Issue> {
    database.query(Issue.self).where { $0.author == User.ID(author) }
  }

  func created(from first: Int, to end: Int) -> ModelQuery<Issue> {
    let range = TrackerData.moment(of: first)..<TrackerData.moment(of: end)
    return database.query(Issue.self).where { $0.created.in(range) }
  }

  func newest(_ count: Int, before issue: Int) -> ModelQuery<Issue> {
    let moment = TrackerData.moment(of: issue)
    return database.query(Issue.self)
      .where {
        $0.isOpen == true
        $0.created <= moment
      }
      .order(by: \.created.descending).limit(count)
  }

  /// An author's newest ten issues, joined with the author.
  func firstWithAuthor(of author: Int) -> some Results<(Issue, User)> {
    issues(of: author).order(by: \.created.descending)
      .join(User.self, on: \.author, \.id).limit(10)
  }

  /// An author's newest ten issues, with the number of comments of each.
  func firstWithCount(of author: Int) -> some Results<(Issue, Int)> {
    issues(of: author).order(by: \.created.descending).limit(10).with(\.comments.count)
  }

  /// The newest ten issues that are open, with their authors.
  var newestWithAuthor: some Results<(Issue, User?)> {
    database.query(Issue.self).where { $0.isOpen == true }.order(by: \.created.descending)
      .limit(10).with(\.author)
  }
}

/// An issue whose change concerns a certain number of live queries, in the same proportions as they
/// have in the crowd.
struct CrowdTarget {
  let issue: Int
  let count: Int
  private let author: Int

  /// Takes one of an author's older issues; no other query may ask for that author.
  init(author: Int, count: Int, _ data: TrackerData) {
    self.author = author
    self.count = count
    issue = author - 1 + data.users * author
  }

  func members(_ database: Database) throws -> [CrowdMember] {
    let queries = CrowdQueries(database)
    return try (0..<count).map { number in
      switch (number % 10, number / 10 % 2) {
      case (0..<8, _): try CrowdMember(queries.issues(of: author))
      case (8, _): try CrowdMember(queries.created(from: issue, to: issue + 10 + number / 10))
      case (_, 0): try CrowdMember(queries.firstWithAuthor(of: author))
      default: try CrowdMember(queries.firstWithCount(of: author))
      }
    }
  }
}
