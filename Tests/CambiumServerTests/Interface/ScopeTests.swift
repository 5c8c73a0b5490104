// Goal: a caller with a scope learns nothing of what lies outside of it. Method: two databases with
// the same random history within the scope, and different secrets outside. Every served command is
// asked with random parameters; no answer has a secret, and both databases give the same answer.

import Cambium
import Foundation
import Testing

@testable import CambiumCommands
@testable import CambiumServer

@Suite("A caller with a scope", .timeLimit(.minutes(3))) struct ScopeTests {
  private static let scope: NodePath = "team/red"
  private static let caller = Caller(name: "red", scope: scope, canWrite: true)

  /// Tells nothing but the number of times that it was asked.
  private struct Random: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var bits = state
      bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
      bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
      return bits ^ (bits >> 31)
    }

    mutating func pick<T>(_ values: [T]) -> T { values[Int(next() % UInt64(values.count))] }
    mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }
  }

  // MARK: The history

  private func declare(_ database: Database) throws {
    var people = CollectionDefinition()
    people.properties = [
      PropertyDefinition("name", .string), PropertyDefinition("n", .integer),
      PropertyDefinition("boss", .reference("team/red/people")),
      PropertyDefinition("safe", .reference("vault/items")),
    ]
    try database.declare("team/red/people", people)
    var items = CollectionDefinition()
    items.properties = [
      PropertyDefinition("name", .string),
      PropertyDefinition("owner", .reference("team/red/people")),
    ]
    try database.declare("vault/items", items)
  }

  /// One transaction within the scope, outside of it, or both; `secret` differs between the two
  /// databases, and the random numbers do not.
  private func step(
    _ database: Database, _ secret: String, _ number: Int, _ random: inout Random
  ) throws {
    let (inside, outside) = random.pick([(true, false), (false, true), (true, true)])
    let key = random.below(8)
    let removes = random.below(6) == 0
    let (who, why) = inside ? ("anna", "open") : (secret, secret)
    let metadata = ["actor": who, "reason": why]
    try database.write(metadata: metadata) { tx in
      if inside {
        let path = try NodePath("team/red/people/\(key)")
        if removes {
          try tx.remove(path)
        } else {
          try tx.set(
            path,
            to: .map([
              "name": .string("p\(number)"), "n": .integer(Int64(number)),
              "boss": .string("\(key / 2)"), "safe": "1",
            ]))
        }
      }
      if outside {
        try tx.set("vault/items/1", to: .map(["name": .string(secret), "owner": "1"]))
        try tx.set(try NodePath("vault/items/\(secret)\(key)"), to: .map(["name": .string(secret)]))
        try tx.set(try NodePath("team/\(secret)/x"), to: .string(secret))
        // More operations, and an event, in one of the two.
        if secret.hasSuffix("B") { try tx.set("team/blue", to: .string(secret)) }
        try tx.event("event\(secret)", .string(secret))
      }
    }
  }

  private func fill(_ database: Database, _ secret: String, seed: UInt64) throws {
    var random = Random(state: seed)
    try declare(database)
    for number in 1...40 { try step(database, secret, number, &random) }
    try database.write { try $0.set("vault/moved", to: "carried") }
    try database.write { try $0.move("vault/moved", to: "team/red/moved") }
    _ = try database.tag("tag\(secret)", at: .sequence(5))
    _ = database.consumer("consumer\(secret)")
  }

  // MARK: The questions

  private static let values: [String: [String]] = [
    "path": [
      "team/red", "team/red/people", "team/red/people/1", "team/red/people/2/name", "team", "vault",
      "vault/items/1", "/", "team/red/moved", "team/red/nothing", "team/blue", "team/redder",
    ],
    "newpath": ["team/red/new", "vault/new", "team/red/people/77"],
    "rev": ["HEAD", "3", "17", "HEAD~4", "tag:tag", "1h", "42", "43"],
    "range": ["3..", "..9", "1..HEAD", "tag:x..", "10..30"],
    "query": [
      "team/red/people", "team/red/people where n > 3", "vault/items", "/", "team",
      "team/red/people where safe.name prefix \"S\"", "team/red/people sort safe.name",
      "team/red/people where vault/items by owner any (name prefix \"S\")",
      "team/red/people join vault/items as v on safe = v.id select name, v.name",
      "team/red/people select name, boss.name", "team/red/people where boss.safe.name != null",
      "team/red/people select name, count(vault/items by owner)", "team/red/people where x.y = 1",
      "team/red/people | group by safe.name select count", "team/red/people | count",
    ],
    "match": [
      "actor=*", "actor=SECRE*", "reason=*", "path=vault/*", "event=*", "tag=tag*", "op=insert",
      "tx=1*",
    ],
    "grep": ["SECRE.", "open", "p1", "carried"], "text": ["p1", "open"],
    "at": ["3", "HEAD~9", "30"],
    "since": ["2", "HEAD~20"], "until": ["20", "HEAD"],
    "after": ["3", "1", "/vault", "team/red/x"],
    "name": ["tag", "x"], "page": ["3", "50"], "limit": ["3", "100"], "by": ["collection", "age"],
    "output": ["json", "csv", "tsv", "short", "markdown"], "depth": ["1", "9"],
    "clauses": ["set n = 1", "where safe.name = \"x\" set n = 2"], "removed-at": ["10", "20"],
    "where": ["n > 3", "safe.name = \"x\""], "value": ["1", "{\"n\": 5}"],
    "object": ["{\"safe\": \"2\"}"], "property": ["name"], "keep-last": ["3"], "who": ["anna"],
  ]

  private func target(_ offer: CommandOffer, _ random: inout Random) -> String {
    var pairs: [String] = []
    for parameter in offer.parameters {
      let isGiven = parameter.isRequired || random.below(6) == 0
      guard isGiven else { continue }
      let value = parameter.isFlag ? "true" : random.pick(Self.values[parameter.name] ?? ["1"])
      pairs.append("\(parameter.name)=\(PercentEncoding.encode(value))")
    }
    return "/v1/\(offer.name)?\(pairs.joined(separator: "&"))"
  }

  /// The commands that must succeed at least once.
  private static let needed = [
    "log", "show", "get", "tree", "history", "blame", "diff", "query", "put",
  ]

  private static func missing(in successes: [String: Int]) -> [String] {
    needed.filter { successes[$0] == nil }
  }

  /// The answer without what differs between two databases anyway.
  private func plain(_ text: String) -> String {
    text.replacing(/20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?/, with: "TIME")
      .replacing(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/, with: "ORIGIN")
  }

  @Test("learns nothing of what lies outside, whatever they ask", arguments: [1, 2, 3])
  func secrets(seed: UInt64) async throws {
    try await InterfaceFixture.with { one in
      try await InterfaceFixture.with { other in
        try fill(one.database, "SECRETA", seed: seed)
        try fill(other.database, "SECRETB", seed: seed)
        var random = Random(state: seed &* 77)
        let offers = CommandService.offers.filter { !$0.isStream }
        var successes: [String: Int] = [:]
        // A test in which everything is refused would prove nothing.
        for turn in 0..<6000 {
          if turn >= 1200 && Self.missing(in: successes).isEmpty { break }
          // Some of the questions remove what others ask for.
          if turn % 10 == 0 {
            var (first, second) = (random, random)
            try step(one.database, "SECRETA", turn, &first)
            try step(other.database, "SECRETB", turn, &second)
            random = first
          }
          let offer = random.pick(offers)
          let target = target(offer, &random)
          let method: Request.Method = offer.method == .get ? .get : .post
          let first = try await one.ask(target, method, caller: Self.caller)
          let second = try await other.ask(target, method, caller: Self.caller)
          #expect(!first.text.contains("SECRET"), "seed \(seed): \(target)\n\(first.text)")
          #expect(first.status == second.status, "seed \(seed): \(target)\n\(second.text)")
          #expect(plain(first.text) == plain(second.text), "seed \(seed): \(target)")
          if first.status == 200 { successes[offer.name, default: 0] += 1 }
        }
        #expect(Self.missing(in: successes) == [], "seed \(seed)")
        for offer in offers where !offer.isForParts {
          #expect(successes[offer.name] == nil, "\(offer.name)")
        }
      }
    }
  }

  @Test("hears nothing of it in streams", arguments: [4, 5])
  func streams(seed: UInt64) async throws {
    try await InterfaceFixture.with { fixture in
      try fill(fixture.database, "SECRETA", seed: seed)
      for target in [
        "/v1/changes?after=0", "/v1/changes?after=0&grep=SECRE.",
        "/v1/changes?after=0&match=path%3D*", "/v1/live?query=team/red/people",
      ] {
        var request = try #require(Request(.get, target: target))
        request.caller = Self.caller
        let response = await fixture.interface.answer(request)
        guard case .pipe(let pipe) = response.body else { throw CancellationError() }
        let reader = PipeReading(pipe)
        try await fixture.database.write { tx in
          try tx.set("vault/last", to: "SECRETA")
          try tx.set("team/red/people/9", to: .map(["name": "last SECRE!"]))
        }
        while !reader.text.contains("people/9") && !reader.text.contains("last SECRE!") {
          guard await reader.more() else { break }
        }
        pipe.abandon()
        #expect(!reader.text.contains("SECRETA"), "seed \(seed): \(target)")
        #expect(reader.text.contains("last SECRE!"), "seed \(seed): \(target)")
        #expect(!reader.text.contains("\"operations\""))
        try await fixture.database.write { try $0.remove("team/red/people/9") }
      }
      for refused in [
        "/v1/live?query=vault/items", "/v1/changes?path=vault", "/v1/changes?match=tag%3Dx",
      ] {
        let answer = try await fixture.ask(refused, caller: Self.caller)
        #expect(answer.status == 403, "\(refused)")
      }
    }
  }
}
