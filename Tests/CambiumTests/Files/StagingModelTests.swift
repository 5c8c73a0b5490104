// Goal: whatever is staged, broken off, referred to, removed, compacted and reopened in any order,
// a content is there as long as it must be, is the one that was sent, and is gone after a
// compaction once nothing keeps it. Method: random histories, from a seed that is printed, against
// a model that knows only arrays of bytes, ends of leases, and which nodes refer to which content.
//
// The model knows for certain what must be there at any time, and after a compaction of everything
// also what must not.

import FoundationEssentials
import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("Staging", .timeLimit(.minutes(3)))
struct StagingModelTests {
  @Test(
    "keeps what must be kept and nothing else, in any history",
    arguments: SeededGenerator.seeds([1, 2, 3, 4, 5, 6]))
  func histories(seed: UInt64) throws {
    print("seed \(seed)")
    let history = try StagingHistory(seed: seed)
    for _ in 0..<300 { try history.step() }
    try history.end()
  }
}

/// A database and its model, and the steps that both take.
private final class StagingHistory {
  /// An upload as the model knows it.
  private struct Model {
    var all: Data
    var received = 0
    var durable = 0
    var lease: Int64
    var touched: Int64
    /// The upload, while this process is at it.
    var upload: Upload?
  }

  private let place: Place
  private let clock = TestClock()
  private var random: SeededGenerator
  private var database: Database
  private var uploads: [UUID: Model] = [:]
  /// Every content that was ever stored, with the end of its lease.
  private var leases: [Data: Int64] = [:]
  private var blobs: [Data: Blob] = [:]
  /// The content to which each node refers now.
  private var nodes: [Int64: Data] = [:]
  /// The contents to which the past refers that was not compacted yet.
  private var past: Set<Data> = []

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    place = try Place()
    database = try place.open(clock.configure)
    try write { try $0.set("begun", to: true) }
  }

  private var now: Int64 { clock.now.microseconds }

  private func write(_ body: (borrowing Database.Transaction) throws -> Void) throws {
    try database.write { tx in try body(tx) }
  }

  func step() throws {
    switch random.below(16) {
    case 0, 1: try begin()
    case 2, 3, 4: try go(on: random.below(4))
    case 5: try end(cancelling: random.oneIn(3))
    case 6, 7, 8: try refer()
    case 9: try removeReference()
    case 10: try storeAtOnce()
    case 11: try renew()
    case 12: clock.advance(.seconds(random.pick([1, 3600, 40_000, 90_000, 200_000])))
    case 13: try compact()
    case 14: try compactNothing()
    default: try random.oneIn(3) ? reopen() : checkAll(isCollected: false)
    }
  }

  func end() throws {
    try reopen()
    try compact()
    try expectSound(database)
    try database.close()
    try place.expectSound()
  }

  // MARK: Contents

  /// One of a few contents, so that the same is often stored again.
  private func content() -> Data {
    let number = random.below(24)
    return noise(number, count: [0, 1, 300, 70_000, 262_144, 300_000, 600_000][number % 7])
  }

  private func isKept(_ content: Data) -> Bool {
    nodes.values.contains(content) || past.contains(content) || (leases[content] ?? 0) > now
  }

  private func stored(_ content: Data, _ blob: Blob, until end: Int64) throws {
    if let known = blobs[content], known != blob { throw Divergence("it has another address") }
    blobs[content] = blob
    leases[content] = max(leases[content] ?? 0, end)
  }

  private func checkAll(isCollected: Bool) throws {
    for (content, blob) in blobs {
      let isThere = try database.holds(blob)[0]
      let name = "\(content.count) bytes, whose lease ends in \((leases[content] ?? 0) - now)"
      if isKept(content) {
        guard isThere else { throw Divergence("\(name) are gone") }
        let found = try database.read { try $0.read(blob) }
        if found != content { throw Divergence("\(name) are others") }
      } else if isThere && isCollected {
        throw Divergence("\(name) are still there")
      }
    }
    for (number, content) in nodes {
      let file = try database.read { StoredFile(try $0[path(number)].value) }
      if file?.content != blobs[content] { throw Divergence("node \(number) names another file") }
    }
    let known = try database.uploads()
    for upload in known {
      guard let model = uploads[upload.id] else { throw Divergence("an upload came back") }
      try requireSame([Int(upload.received)], [model.durable], "bytes of an upload")
    }
    let missing = uploads.filter { pair in !known.contains { $0.id == pair.key } }
    for (_, model) in missing where model.upload != nil || model.touched + model.lease > now {
      throw Divergence("an upload is gone")
    }
    if isCollected, uploads.contains(where: { isLapsed($1) && !missing.keys.contains($0) }) {
      throw Divergence("an upload outlived its lease")
    }
    for id in missing.keys { uploads[id] = nil }
  }

  private func isLapsed(_ model: Model) -> Bool {
    model.upload == nil && model.touched + model.lease <= now
  }

  // MARK: Uploads

  private func begin() throws {
    let content = content()
    let seconds = random.pick([1, 7200, 86_400, 300_000])
    let upload = try database.stage(
      name: "f", size: random.oneIn(2) ? UInt64(content.count) : nil, lease: .seconds(seconds))
    uploads[upload.id] = Model(
      all: content, lease: Int64(seconds) * 1_000_000, touched: now, upload: upload)
  }

  private func pick() -> UUID? {
    uploads.isEmpty ? nil : random.pick(uploads.keys.sorted { $0.uuidString < $1.uuidString })
  }

  /// Lets an upload go on: takes it up if nobody is at it, sends, saves, or lets go of it.
  private func go(on what: Int) throws {
    guard let id = pick(), var model = uploads[id] else { return }
    guard let upload = model.upload else { return try takeUp(id, model) }
    switch what {
    case 0:
      try upload.save()
      (model.durable, model.touched) = (model.received, now)
    case 1: model.upload = nil
    default:
      let count = min(random.pick([1, 1000, 262_144, 500_000]), model.all.count - model.received)
      try upload.append(model.all[model.received..<(model.received + count)])
      model.received += count
      try requireSame([Int(upload.received)], [model.received], "received bytes")
    }
    uploads[id] = model
  }

  private func takeUp(_ id: UUID, _ old: Model) throws {
    var model = old
    do {
      let upload = try database.resumeUpload(id)
      try requireSame([Int(upload.received)], [model.durable], "durable bytes")
      (model.received, model.upload) = (model.durable, upload)
      uploads[id] = model
    } catch DatabaseError.misuse {
      guard isLapsed(model) else { throw Divergence("an upload is gone") }
      uploads[id] = nil
    } catch DatabaseError.busy {
      // It is being removed in the background.
      guard isLapsed(model) else { throw Divergence("an upload is not free") }
    }
  }

  private func end(cancelling: Bool) throws {
    guard let id = pick(), let model = uploads[id] else { return }
    guard let upload = model.upload else { return try takeUp(id, model) }
    if cancelling {
      upload.cancel()
    } else {
      try upload.append(model.all[model.received...])
      let file = try upload.finish()
      try stored(model.all, file.content, until: now + model.lease)
    }
    uploads[id] = nil
  }

  // MARK: References

  private func path(_ number: Int64) -> NodePath { NodePath(keys: ["f", .integer(number)]) }

  private func refer() throws {
    guard !blobs.isEmpty else { return }
    let contents = blobs.keys.sorted { (blobs[$0]?.name ?? "") < (blobs[$1]?.name ?? "") }
    let content = random.pick(contents)
    guard let blob = blobs[content] else { return }
    let number = Int64(random.below(8))
    let old = nodes[number]
    do {
      try write { try $0.set(path(number), to: .file(StoredFile(blob, name: "f"))) }
      if let old { past.insert(old) }
      nodes[number] = content
    } catch DatabaseError.badValue {
      if isKept(content) { throw Divergence("a content that is kept is refused") }
    }
  }

  private func removeReference() throws {
    guard let number = nodes.keys.sorted().first else { return }
    try write { try $0.remove(path(number)) }
    nodes[number].map { _ = past.insert($0) }
    nodes[number] = nil
  }

  private func storeAtOnce() throws {
    let content = content()
    let end = now + BlobLeases.usual
    if random.oneIn(2) { return try stored(content, try database.store(content), until: end) }
    let refers = random.oneIn(2)
    let number = Int64(random.below(8))
    var blob: Blob?
    try write { tx in
      let new = try tx.store(content)
      if refers { try tx.set(path(number), to: .file(StoredFile(new, name: "f"))) }
      blob = new
    }
    guard let blob else { return }
    try stored(content, blob, until: refers ? 0 : end)
    if refers {
      if let old = nodes[number] { past.insert(old) }
      nodes[number] = content
    }
  }

  private func renew() throws {
    guard let (content, blob) = blobs.min(by: { $0.value.name < $1.value.name }) else { return }
    do {
      try database.renewLease(of: blob, for: .seconds(50_000))
      try stored(content, blob, until: now + 50_000_000_000)
    } catch DatabaseError.misuse {
      if isKept(content) { throw Divergence("a content that is kept cannot be renewed") }
    }
  }

  // MARK: The database

  private func compact() throws {
    // A transaction that drops everything before it.
    try write { try $0.set("last", to: .integer(Int64($0.sequence.rawValue))) }
    let head = try database.head
    try write { try $0.set("newest", to: 1) }
    try database.compact(upTo: head)
    past = []
    try checkAll(isCollected: true)
  }

  /// Compacts with nothing to drop: leases end all the same.
  private func compactNothing() throws {
    try write { try $0.set("time", to: .date(clock.now)) }
    try database.compact()
    for (content, blob) in blobs where !isKept(content) {
      if try database.holds(blob)[0] { throw Divergence("\(content.count) bytes outlived a lease") }
    }
  }

  private func reopen() throws {
    for id in uploads.keys { uploads[id]?.upload = nil }
    try database.close()
    database = try place.open(clock.configure)
    try checkAll(isCollected: false)
  }
}
