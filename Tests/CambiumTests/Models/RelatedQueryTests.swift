// Goal: some of the related models for each model, and their number, are what plain dictionaries
// give, by an index in order, by an index on the reference alone, and without one. Method: random
// histories in which three collections have the same content and other indexes, at present, in the
// past, and inside a transaction; long keys, by which entries of indexes are cut; and the counts of
// the records that are read.
//
// It finds a cut entry that is taken for another record's, which was planted.

import Simulation
import Testing

@testable import Cambium

@Suite("Loading some of what is related")
struct RelatedQueryTests {
  struct Topic: Cambium.Model, Equatable {
    typealias Key = String
    var id = ID()
    var parent: Topic.ID?
    var pinned: [Comment.ID] = []
    var comments: Many<Comment> { many(\.topic) }
    var notes: Many<Note> { many(\.topic) }
    var remarks: Many<Remark> { many(\.topics) }
    static let schema = ModelSchema<Topic>("topics")
  }

  /// In the order that is asked for most.
  struct Comment: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var topic: Topic.ID?
    var posted = 0
    var isSpam = false
    var reply: Comment.ID?
    static let schema = ModelSchema<Comment>("comments") { Index(\.topic, \.posted) }
  }

  /// With more before the order, which goes the other way; the reference alone has an index too.
  struct Note: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var topic: Topic.ID?
    var posted = 0
    var isSpam = false
    var reply: Comment.ID?
    static let schema = ModelSchema<Note>("notes") {
      Index(\.topic)
      Index(\.topic, \.isSpam, \.posted.descending)
    }
  }

  /// Refers by an array, of which one element may be there twice. Some keys are so long that
  /// entries have only the beginning of the reference.
  struct Remark: Cambium.Model, Equatable {
    typealias Key = String
    var id = ID()
    var topics: [Topic.ID] = []
    var posted = 0
    var isSpam = false
    var reply: Comment.ID?
    static let schema = ModelSchema<Remark>("remarks")

    static func id(_ number: Int) -> ID {
      ID("\(1000 + number)n" + String(repeating: "y", count: number % 2 * 420))
    }

    var number: Int { (Int(id.key.prefix(4)) ?? 0) - 1000 }
  }

  /// Texts so long that their references take more than entries keep, and some that are short.
  private static let keys = [
    "a", "b", "7", String(repeating: "x", count: 470) + "1",
    String(repeating: "x", count: 470) + "2",
  ]

  /// A question about related models, for the database and for plain dictionaries.
  private struct Question {
    var condition: Int
    var order: Int
    var limit: Int?

    init(_ random: inout FormatRandom) {
      (condition, order) = (random.below(5), random.below(5))
      limit = random.chance(oneIn: 4) ? nil : random.below(4)
    }

    func asked<Other>(_ many: ManyOperand<Other>) -> RelatedQuery<Other> {
      let (spam, posted) = (PropertyPath("isSpam"), PropertyPath("posted"))
      let further = PropertyPath(hops: ["reply"], "posted")
      let tests: [Condition.Test] = [
        .all([]), .compare(spam, .equal, .bool(false)), .compare(posted, .greater, 2),
        .all([.compare(spam, .equal, .bool(true)), .compare(posted, .lessOrEqual, 3)]),
        .compare(further, .greaterOrEqual, 2),
      ]
      let id = PropertyPath(nil)
      let orders: [[Ordering]] = [
        [], [Ordering(posted, isDescending: true), Ordering(id, isDescending: true)],
        [Ordering(posted), Ordering(id)], [Ordering(further), Ordering(id, isDescending: true)],
        [Ordering(posted, isDescending: true)],
      ]
      var query = many.where { _ in Condition(tests[condition]) }
      for ordering in orders[order] { query = query.order(by: { _ in ordering }) }
      return limit.map { query.limit($0) } ?? query
    }

    /// The answer; ties of an order that does not name the id may come either way.
    func answer(_ all: [Comment], _ comments: [Int: Comment]) -> [Comment] {
      func further(_ comment: Comment) -> Int? {
        comment.reply.flatMap { comments[$0.key]?.posted }
      }
      let some = all.filter { comment in
        switch condition {
        case 0: true
        case 1: !comment.isSpam
        case 2: comment.posted > 2
        case 3: comment.isSpam && comment.posted <= 3
        default: (further(comment) ?? -1) >= 2
        }
      }
      func rank(_ comment: Comment) -> (Int, Int) {
        switch order {
        case 0: (0, comment.id.key)
        case 1, 4: (-comment.posted, -comment.id.key)
        case 2: (comment.posted, comment.id.key)
        default: (further(comment) ?? -1, -comment.id.key)
        }
      }
      return Array(some.sorted { rank($0) < rank($1) }.prefix(limit ?? .max))
    }

    /// The part of an answer that does not depend on the order of ties.
    func compared(_ found: [(id: Int, posted: Int)]) -> [Int] {
      order == 4 ? found.map(\.posted) : found.map(\.id)
    }
  }

  private struct World {
    var topics: [String: Topic] = [:]
    var comments: [Int: Comment] = [:]

    func comments(of topic: Topic.ID?) -> [Comment] {
      comments.values.filter { topic != nil && $0.topic == topic }
    }
  }

  // MARK: Against dictionaries

  @Test("is the same as looking through all", arguments: SeededGenerator.seeds(1, 2, 3))
  func random(_ seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    try withDatabase { database in
      try database.register(Topic.self, Comment.self, Note.self, Remark.self)
      var (world, worlds) = (World(), [SequenceNumber: World]())
      for step in 1...120 {
        try database.write { tx in
          for _ in 0...random.below(3) { try Self.step(tx, &world, &random) }
          if step % 20 == 0 { try Self.check(try tx.readingSnapshot(), world, &random, seed) }
        }
        worlds[try database.head] = world
        if step % 10 == 0 { try Self.check(try database.snapshot(), world, &random, seed) }
      }
      for (sequence, world) in worlds.sorted(by: { $0.key < $1.key })
      where random.chance(oneIn: 12) {
        try Self.check(try database.snapshot(at: .sequence(sequence)), world, &random, seed)
      }
    }
  }

  private static func step(
    _ tx: borrowing Database.Transaction, _ world: inout World, _ random: inout FormatRandom
  ) throws {
    let id = random.below(40)
    switch random.below(6) {
    case 0:
      let key = random.pick(keys)
      let pinned = (0..<random.below(5)).map { _ in Comment.ID(random.below(40)) }
      let parent = random.chance(oneIn: 3) ? nil : Topic.ID(random.pick(keys))
      let topic = Topic(id: .init(key), parent: parent, pinned: pinned)
      world.topics[key] = topic
      try tx.upsert(topic)
    case 1:
      world.comments[id] = nil
      try tx.delete(Comment.ID(id))
      try tx.delete(Note.ID(id))
      try tx.delete(Remark.id(id))
    default:
      var comment = Comment(id: .init(id), posted: random.below(5))
      if !random.chance(oneIn: 6) { comment.topic = Topic.ID(random.pick(keys)) }
      comment.isSpam = random.chance(oneIn: 2)
      if random.chance(oneIn: 2) { comment.reply = Comment.ID(random.below(40)) }
      world.comments[id] = comment
      try tx.upsert(comment)
      let topics = comment.topic.map { [$0, $0] } ?? []
      try tx.upsert(
        Note(
          id: .init(id), topic: comment.topic, posted: comment.posted, isSpam: comment.isSpam,
          reply: comment.reply))
      try tx.upsert(
        Remark(
          id: Remark.id(id), topics: topics, posted: comment.posted, isSpam: comment.isSpam,
          reply: comment.reply))
    }
  }

  private static func check(
    _ snapshot: Snapshot, _ world: World, _ random: inout FormatRandom, _ seed: UInt64
  ) throws {
    for _ in 0..<4 {
      let question = Question(&random)
      let comment = Comment_("seed \(seed), \(snapshot.sequence), \(question)")
      try checkLists(snapshot, world, question, comment)
      try checkNumbers(snapshot, world, question, comment)
    }
  }

  private typealias Comment_ = Testing.Comment

  private static func checkLists(
    _ snapshot: Snapshot, _ world: World, _ question: Question, _ comment: Comment_
  ) throws {
    let found = try snapshot.query(Topic.self).with(
      { question.asked($0.comments) }, { question.asked($0.notes) },
      { question.asked($0.remarks) }, { question.asked($0.parent.comments) },
      { question.asked(ManyOperand<Comment>(elements: $0.pinned.operand.path)) }
    ).fetch()
    #expect(Set(found.map { $0.0.id }) == Set(world.topics.values.map(\.id)), comment)
    for (topic, comments, notes, remarks, others, pinned) in found {
      func ids(_ comments: [Comment]) -> [Int] {
        question.compared(comments.map { ($0.id.key, $0.posted) })
      }
      let all = question.answer(world.comments(of: topic.id), world.comments)
      #expect(ids(comments) == ids(all), comment)
      #expect(question.compared(notes.map { ($0.id.key, $0.posted) }) == ids(all), comment)
      #expect(question.compared(remarks.map { ($0.number, $0.posted) }) == ids(all), comment)
      let far = topic.parent.flatMap { world.topics[$0.key] }?.id
      let behind = question.answer(world.comments(of: far), world.comments)
      #expect(ids(others) == ids(behind), comment)
      let elements = topic.pinned.compactMap { world.comments[$0.key] }
      if question.order != 0 {
        #expect(ids(pinned) == ids(question.answer(elements, world.comments)), comment)
      }
    }
  }

  private static func checkNumbers(
    _ snapshot: Snapshot, _ world: World, _ question: Question, _ comment: Comment_
  ) throws {
    var all = question
    (all.limit, all.order) = (nil, 0)
    func number(_ topic: Topic.ID?) -> Int {
      all.answer(world.comments(of: topic), world.comments).count
    }
    let topics = snapshot.query(Topic.self)
    let loaded = try topics.with(
      \.comments.count, { all.asked($0.comments).count }, { all.asked($0.remarks).count },
      { all.asked($0.parent.notes).count }
    ).fetch()
    for (topic, comments, some, remarks, others) in loaded {
      #expect(comments == world.comments(of: topic.id).count, comment)
      #expect(some == number(topic.id) && remarks == number(topic.id), comment)
      #expect(others == number(topic.parent.flatMap { world.topics[$0.key] }?.id), comment)
    }
    let selected = try topics.select(
      \.id, { all.asked($0.comments).count }, { all.asked($0.notes).count }, \.remarks.count
    ).fetch()
    for (id, comments, notes, remarks) in selected {
      #expect(comments == number(id) && notes == number(id), comment)
      #expect(remarks == world.comments(of: id).count, comment)
    }
    let sorted = try topics.where { all.asked($0.notes).count > 0 }
      .order(by: { all.asked($0.comments).count.descending }, \.id).fetch().map(\.id)
    let wanted = world.topics.values.map(\.id).filter { number($0) > 0 }
      .sorted { (number($1), $0.key) < (number($0), $1.key) }
    #expect(sorted == wanted, comment)
  }

  // MARK: Cost

  @Test("reads no more than is wanted, and says so")
  func cost() throws {
    try withDatabase { database in
      try database.register(Topic.self, Comment.self, Note.self, Remark.self)
      try database.write { tx in
        for key in ["a", "b", "c"] { try tx.upsert(Topic(id: .init(key))) }
        for id in 0..<300 {
          let topic = Topic.ID(["a", "b", "c"][id % 3])
          try tx.upsert(Comment(id: .init(id), topic: topic, posted: id))
          try tx.upsert(Note(id: .init(id), topic: topic, posted: id, isSpam: id % 2 == 0))
          try tx.upsert(Remark(id: Remark.id(id), topics: [topic], posted: id))
        }
      }
      let query = database.query(Topic.self).with(
        { $0.comments.order(by: \.posted.descending).limit(3) },
        { $0.notes.where { $0.isSpam == false }.order(by: \.posted.descending).limit(2) },
        { $0.remarks.order(by: \.posted.descending).limit(1) }, \.comments.count)
      #expect(
        try query.counts() == [
          RelationCounts(indexReads: 3, recordsRead: 9),
          RelationCounts(indexReads: 3, recordsRead: 6),
          RelationCounts(indexReads: 3, recordsRead: 300), RelationCounts(indexReads: 3),
        ])
      let words = try query.explain()
      #expect(
        words.hasSuffix(
          """
          load comments that refer by topic sorted by -posted, 3 for each, \
          by the index (topic, posted), backwards: 3 looked for in the index, 9 records read
          load notes that refer by topic where isSpam = false sorted by -posted, 2 for each, \
          by the index (topic, isSpam, -posted): 3 looked for in the index, 6 records read
          load remarks that refer by topics sorted by -posted, 1 for each, by the index (topics), \
          sorted: 3 looked for in the index, 300 records read
          count comments that refer by topic: 3 looked for in the index
          """), "\(words)")
      let sorted = try database.query(Topic.self).order(by: \.comments.count).explain()
      #expect(sorted.contains("actual: 3 records read"), "\(sorted)")
      #expect(
        sorted.hasSuffix("count comments that refer by topic, by the index (topic, posted)"),
        "\(sorted)")
    }
  }

  // MARK: As text

  @Test(
    "counts in the query language",
    arguments: [
      "topics select id, count(comments by topic)",
      "topics where count(comments by topic where isSpam = true) > 3 sort -count(notes by topic)",
      "topics sort count(comments by topic of parent.id) limit 3",
      "topics | group by count(comments by topic) select count",
    ])
  func text(_ text: String) throws {
    let query = try QueryDescription(parsing: text)
    #expect(query.description == text)
    #expect(try QueryDescription(parsing: query.description) == query)
  }

  @Test("counts records of no type")
  func dynamic() throws {
    try withDatabase { database in
      try database.write { tx in
        for (id, topic) in [(1, "a"), (2, "a"), (3, "b")] {
          let value = Value.map(
            ValueMap([(name: "topic", value: .string(topic)), (name: "rank", value: 1)]))
          try tx.set(NodePath(keys: ["posts", .integer(Int64(id))]), to: value)
        }
        for key in ["a", "b", "c"] {
          try tx.set(NodePath(keys: ["topics", .text(key)]), to: ["n": 1])
        }
      }
      let query = try database.records("topics select id, count(posts by topic) sort id")
      #expect(try query.fetch().map { $0["count(posts by topic)"] } == [2, 1, 0])
      #expect(try query.properties().map(\.type) == [.reference("topics"), .integer])
      let most = try database.records("topics where count(posts by topic) >= 1 sort -id | ids")
      #expect(try most.count() == 2)
    }
  }

  @Test("refuses what cannot be counted")
  func misuse() throws {
    try withDatabase { database in
      try database.register(Topic.self, Comment.self, Note.self, Remark.self)
      try database.write { tx in _ = try tx.upsert(Topic(id: "a")) }
      let topics = database.query(Topic.self)
      #expect(throws: QueryError.self) {
        try topics.with({ $0.pinned.where { $0.isSpam }.count }).fetch()
      }
      #expect(throws: QueryError.self) {
        try topics.where { $0.pinned.limit(2).count > 1 }.fetch()
      }
    }
  }
}
