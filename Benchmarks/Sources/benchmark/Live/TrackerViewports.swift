import Cambium

/// The six viewport queries on which Rindle publishes its figures.
struct TrackerViewports {
  let data: TrackerData

  var all: [any MeasuredViewport] {
    [newest, withAuthor, withCount, withLatest, one, secondPage]
  }

  private func newest(_ database: Database, offset: Int = 0) -> ModelQuery<Issue> {
    database.query(Issue.self).where { $0.isOpen == true }.order(by: \.created.descending)
      .limit(50, offset: offset)
  }

  private var newest: some MeasuredViewport {
    Viewport(name: "newest 50 open", cycle: .list(data)) {
      newest($0)
    } peer: {
      try $0.newest(50)
    } digest: {
      $1.add($0)
    }
  }

  private var withAuthor: some MeasuredViewport {
    Viewport(name: "with author", cycle: .listWithAuthor(data)) {
      newest($0).with(\.author)
    } peer: {
      try $0.newestWithAuthor(50)
    } digest: {
      $1.add($0.0)
      if let author = $0.1 { $1.add(author) }
    }
  }

  private var withCount: some MeasuredViewport {
    Viewport(name: "with comment count", cycle: .listWithComments(data)) {
      newest($0).with(\.comments.count)
    } peer: {
      try $0.newestWithCount(50)
    } digest: {
      $1.add($0.0)
      $1.add(Int64($0.1))
    }
  }

  private var withLatest: some MeasuredViewport {
    Viewport(name: "with 3 latest comments", cycle: .listWithComments(data)) {
      newest($0).with { $0.comments.order(by: \.created.descending).limit(3) }
    } peer: {
      try $0.newestWithComments(50, latest: 3)
    } digest: {
      $1.add($0.0)
      for comment in $0.1 { $1.add(comment) }
    }
  }

  private var one: some MeasuredViewport {
    let key = data.newestOpen(20).last ?? 1
    return Viewport(name: "one with comments", cycle: .one(key, data)) {
      $0.query(Issue.self).where { $0.id == Issue.ID(key) }.with(\.comments)
    } peer: {
      try $0.one(key)
    } digest: {
      $1.add($0.0)
      for comment in $0.1 { $1.add(comment) }
    }
  }

  private var secondPage: some MeasuredViewport {
    Viewport(name: "page 2", cycle: .list(data, offset: 50)) {
      newest($0, offset: 50)
    } peer: {
      try $0.newest(50, offset: 50)
    } digest: {
      $1.add($0)
    }
  }
}
