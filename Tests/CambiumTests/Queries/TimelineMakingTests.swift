// Goal: a timeline is made for the second moment that is asked for, used where it is right, and
// never where it is not: for other questions, over the end of the database. Each answer is compared
// with what was written, and each test says if a timeline gave it.
//
// It finds, planted in the timeline: a default of now, related records that are not noticed,
// databases without names that share a timeline.

import Testing

@testable import Cambium

@Suite("Timelines of groups")
struct TimelineMakingTests {
  private func kept(
    _ query: String, at moment: UInt64, _ database: Database
  ) throws -> UsedCheckpoint? {
    let snapshot = try database.snapshot(at: .sequence(SequenceNumber(moment)))
    let run = try QueryRun(QueryDescription(parsing: query), on: snapshot)
    try run.visit { _ in }
    database.finishTimelines()
    return run.plan.checkpoint
  }

  @Test("are made for the second moment that is asked for, and say so")
  func secondMoment() throws {
    try withTimelines { database in
      var jobs = PastJobs(13)
      for _ in 0..<50 { try jobs.write(to: database, states: 3) }
      #expect(try kept(PastJobs.query, at: 20, database) == nil)
      #expect(try kept(PastJobs.query, at: 20, database) == nil)
      #expect(try kept(PastJobs.query, at: 21, database) == nil)
      #expect(try kept(PastJobs.query, at: 20, database) != nil)
      // The condition on groups, their order and their number do not matter.
      #expect(try kept(PastJobs.query + " having count > 2", at: 30, database) != nil)
      let snapshot = try database.snapshot(at: .sequence(20))
      #expect(
        try snapshot.records(PastJobs.query).explain() == """
          take the groups that jobs had after transaction 20, which are kept in memory, and what \
          has changed in between, in 0 records
          """)
    }
  }

  @Test(
    "are made of the records where they must be",
    arguments: [
      "jobs | group by state select max(size)", "jobs | group by boss.state select count",
      "jobs where boss.state = 's1' | group by state select count",
      "jobs where jobs by boss any (size > 3) | group by state select count",
    ])
  func others(query: String) throws {
    try withTimelines { database in
      var definition = CollectionDefinition()
      definition.properties = [PropertyDefinition("boss", .reference("jobs"))]
      try database.write { [definition] in try $0.declare("jobs", definition) }
      var jobs = PastJobs(14, hasOthers: false)
      for _ in 0..<50 { try jobs.write(to: database, states: 3) }
      for moment in 20..<25 { #expect(try kept(query, at: UInt64(moment), database) == nil) }
    }
  }

  @Test("show equal values in one form, also where a later transaction brings another one")
  func forms() throws {
    try withTimelines { database in
      func set(_ key: String, _ value: Value) throws {
        try database.write { try $0.set(NodePath(keys: ["jobs", .text(key)]), to: ["n": value]) }
      }
      for (key, value) in [("b", 1), ("a", .double(1)), ("c", 2)] as [(String, Value)] {
        try set(key, value)
      }
      try database.write { try $0.set("other", to: 1) }
      let query = "jobs | group by n select count"
      for moment in [1, 2] as [UInt64] { #expect(try kept(query, at: moment, database) == nil) }
      #expect(try kept(query, at: 3, database) != nil)
      try set("d", .double(2))
      try set("e", 3)
      try database.write { try $0.set("other", to: 2) }
      let moments: [(UInt64, [(Value, Value)])] = [
        (2, [(1, 2)]), (3, [(1, 2), (2, 1)]), (6, [(1, 2), (2, 2), (3, 1)]),
      ]
      for (moment, wanted) in moments {
        let snapshot = try database.snapshot(at: .sequence(SequenceNumber(moment)))
        let found = try snapshot.records(query).fetch()
        #expect(found.map { $0["n"] } == wanted.map(\.0), "\(moment)")
        #expect(found.map { $0["count"] } == wanted.map(\.1), "\(moment)")
      }
    }
  }

  @Test("are read from the records while the timeline is made, and if it cannot be")
  func failed() throws {
    try withTimelines { database in
      var jobs = PastJobs(15)
      for _ in 0..<30 { try jobs.write(to: database, states: 3) }
      #expect(try kept(PastJobs.query, at: 11, database) == nil)
      try database.jobs.pausing(database.jobs[TimelineJob.self]) { _ in
        let snapshot = try database.snapshot(at: .sequence(12))
        for _ in 0..<2 {
          #expect(try snapshot.records(PastJobs.query).fetch().count == jobs.rows(at: 12).count)
        }
        // The moment whose timeline is wanted can be read no more.
        _ = try database.compact(upTo: 20)
      }
      database.finishTimelines()
      #expect(try kept(PastJobs.query, at: 20, database) == nil)
      #expect(try kept(PastJobs.query, at: 21, database) != nil)
    }
  }

  @Test("are read from the records by a snapshot that is held over the end of its database")
  func closed() throws {
    let directory = try TemporaryDirectory()
    var options = Database.Options()
    (options.stepSizes.timeline.records, options.stepSizes.timeline.checkpoints) = (0, 2)
    let database = try Database(at: directory.path + "/db", options: options)
    var jobs = PastJobs(17)
    for _ in 0..<60 { try jobs.write(to: database, states: 3) }
    for moment in [30, 31, 32] { _ = try jobs.compare(at: moment, database) }
    let snapshot = try database.snapshot(at: .sequence(33))
    try database.close()
    let run = try QueryRun(QueryDescription(parsing: PastJobs.query), on: snapshot)
    var rows: [[Value]] = []
    try run.visit { rows.append($0) }
    #expect(rows == jobs.rows(at: 33))
    #expect(run.plan.checkpoint == nil)
  }

  @Test("are not those of another database without names")
  func nameless() throws {
    var counts: [[DynamicRecord]] = []
    for count in [3, 5] {
      try withTimelines { database in
        for key in 0..<count {
          try database.write {
            try $0.set(NodePath(keys: ["jobs", .integer(Int64(key))]), to: [:])
          }
        }
        for _ in 0..<3 { try database.write { try $0.increment("tick", by: 1) } }
        for moment in [count, count + 1, count + 2] {
          let snapshot = try database.snapshot(at: .sequence(SequenceNumber(UInt64(moment))))
          counts.append(try snapshot.records("jobs | count, sum(n)").fetch())
          database.finishTimelines()
        }
      }
    }
    let found = counts.map { $0.first?["count"] ?? .null }
    #expect(found == [3, 3, 3, 5, 5, 5].map { Value.integer($0) })
  }

  @Test("can be interrupted, as reading the records can")
  func interrupted() throws {
    struct Enough: Error {}
    try withTimelines(checkpoints: 2) { database in
      var jobs = PastJobs(18)
      for _ in 0..<10 { try jobs.write(to: database, states: 3) }
      for _ in 0..<790 { try jobs.write("s1", to: database) }
      for moment in [30, 31] { _ = try jobs.compare(at: moment, database) }
      let snapshot = try database.snapshot(at: .sequence(400))
      let run = try QueryRun(QueryDescription(parsing: PastJobs.query), on: snapshot)
      run.work.check = { throw Enough() }
      #expect(throws: Enough.self) { try run.visit { _ in } }
    }
  }

  @Test("are those of the default of then, where absence stood for something else")
  func defaults() throws {
    try withTimelines { database in
      func declare(_ state: String) throws {
        var definition = CollectionDefinition()
        definition.properties = [PropertyDefinition("state", .string)]
        definition.properties[0].absence = .string(state)
        try database.write { [definition] in try $0.declare("jobs", definition) }
      }
      try declare("old")
      for key in Int64(0)..<5 {
        try database.write { try $0.set(NodePath(keys: ["jobs", .integer(key)]), to: ["n": 1]) }
      }
      try declare("new")
      for key in Int64(5)..<9 {
        try database.write { try $0.set(NodePath(keys: ["jobs", .integer(key)]), to: ["n": 1]) }
      }
      let query = "jobs | group by state select count"
      for moment in [9, 8, 3, 9, 4, 5, 8] as [UInt64] {
        let snapshot = try database.snapshot(at: .sequence(SequenceNumber(moment)))
        let found = try snapshot.records(query).fetch().map { [$0["state"], $0["count"]] }
        let (name, count) = moment < 7 ? ("old", moment - 1) : ("new", moment - 2)
        #expect(found == [[.string(name), .integer(Int64(count))]], "\(moment)")
        database.finishTimelines()
      }
      // Each default has a timeline of its own.
      for moment in [5, 8] as [UInt64] { #expect(try kept(query, at: moment, database) != nil) }
    }
  }

  @Test("go on while transactions follow, also with groups that are new")
  func laterTransactions() throws {
    try withTimelines { database in
      var jobs = PastJobs(12)
      for _ in 0..<100 { try jobs.write(to: database, states: 3) }
      for moment in [40, 50] { _ = try jobs.compare(at: moment, database) }
      for moment in 101...104 {
        try jobs.write(to: database, states: 3)
        #expect(try jobs.compare(at: moment - 1, database) == 1)
      }
      for state in ["new", "newer"] { try jobs.write(state, to: database) }
      for moment in [105, 103, 105, 50] { #expect(try jobs.compare(at: moment, database) == 1) }
      // After a sixteenth more transactions another timeline is made.
      for _ in 0..<4 { try jobs.write("newest", to: database) }
      for moment in [109, 108, 109, 50] {
        #expect(try jobs.compare(at: moment, database) == (moment == 108 ? 0 : 1))
      }
    }
  }

  @Test("come in pages, and are counted")
  func pages() throws {
    try withTimelines { database in
      var jobs = PastJobs(16)
      for _ in 0..<80 { try jobs.write(to: database, states: 5) }
      for moment in [30, 31, 32] { _ = try jobs.compare(at: moment, database) }
      let snapshot = try database.snapshot(at: .sequence(32))
      var query = try snapshot.records(PastJobs.query)
      var found: [Value?] = []
      while true {
        let (page, next) = try query.page(of: 2)
        found += page.map { $0["state"] }
        guard let next else { break }
        query = next
      }
      #expect(found == jobs.rows(at: 32).map { $0[0] })
      #expect(try snapshot.records(PastJobs.query).count() == found.count)
      var count = 0
      try snapshot.records(PastJobs.query).batches(of: 2) { count += $0.count }
      #expect(count == found.count)
    }
  }
}
