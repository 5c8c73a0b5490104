// Goal: an upload gives the bytes that were sent, however it is cut, paused, and cancelled, and no
// write waits for it. Method: sources that the test holds in its hand. Uploads that are broken off
// are in UploadResumingTests.swift, random histories in StagingModelTests.swift.

import Foundation
import LMDB
import Simulation
import Synchronization
import Testing

@testable import Cambium

@Suite("An upload", .timeLimit(.minutes(2)))
struct UploadTests {
  private let content = noise(3, count: 700_001)

  private func pieces(_ count: Int) -> [Data] {
    stride(from: 0, to: content.count, by: count).map {
      content[$0..<min($0 + count, content.count)]
    }
  }

  private func stream<Element: Sendable>(_ elements: [Element]) -> AsyncStream<Element> {
    AsyncStream { continuation in
      for element in elements { continuation.yield(element) }
      continuation.finish()
    }
  }

  // MARK: All of it

  @Test("stores what its source gives, in pieces of any size, by bytes, and from a file")
  func sources() async throws {
    let place = try Place()
    let database = try place.open()
    let (created, modified) = (Date(timeIntervalSince1970: 1), Date(timeIntervalSince1970: 2))
    for count in [1000, 262_144, 1 << 20] {
      let upload = try database.stage(
        name: "a.bin", type: "application/octet-stream", size: UInt64(content.count),
        created: created, modified: modified)
      try await upload.send(stream(pieces(count)))
      let file = try await upload.finish()
      #expect(file.name == "a.bin" && file.type == "application/octet-stream")
      #expect(file.created == created && file.modified == modified)
      #expect(try database.read { try $0.read(file.content) } == content)
    }
    let bytes = try database.stage(name: "bytes")
    try await bytes.send(stream(Array(content)))
    #expect(try await bytes.finish().content == database.store(content))
    try content.write(to: URL(filePath: place.beside("source")))
    let fromFile = try database.stage(name: "file")
    try fromFile.append(content.prefix(5))
    try await fromFile.send(contentsOf: place.beside("source"))
    let file = try await fromFile.finish()
    try await database.write { tx in try tx.set("f", to: .file(file)) }
    #expect(try database.read { StoredFile(try $0["f"].value) } == file)
    let empty = try await database.stage(name: "empty", size: 0).finish()
    #expect(try database.read { try $0.read(empty.content) } == Data())
    #expect(try database.uploads().isEmpty)
    try await database.close()
    #expect(try !place.names.contains { $0.hasPrefix("upload-") })
    try place.expectSound()
  }

  @Test("lets others write while its source is silent, and lets compaction run")
  func writers() async throws {
    try await withDatabase { database in
      let upload = try database.stage(name: "slow")
      let (source, bytes) = AsyncStream<Data>.makeStream()
      async let sending: Void = upload.send(source)
      for piece in pieces(100_000) {
        bytes.yield(piece)
        try await database.write { tx in try tx.set("n", to: .integer(Int64(piece.startIndex))) }
        try await database.compact()
      }
      bytes.finish()
      try await sending
      let file = try await upload.finish()
      try await database.compact()
      try await database.write { tx in try tx.set("f", to: .file(file)) }
      #expect(try database.read { try $0.read(file.content) } == content)
    }
  }

  @Test("refuses to end with more or fewer bytes than were announced, and to go on after its end")
  func wrongSize() throws {
    try withDatabase { database in
      let upload = try database.stage(name: "short", size: 10)
      try upload.append(Data(count: 9))
      #expect(throws: DatabaseError.self) { try upload.finish() }
      try upload.append(Data(count: 1))
      #expect(try upload.finish().size == 10)
      #expect(throws: DatabaseError.self) { try upload.append(Data(count: 1)) }
      #expect(throws: DatabaseError.self) { try upload.finish() }
      upload.cancel()
      #expect(upload.progress.phase == .finished)
    }
  }

  @Test("inside a write is refused at its end, and can be finished after it")
  func insideWrite() throws {
    try withDatabase { database in
      let upload = try database.stage(name: "a")
      try upload.append(content)
      try database.write { tx in
        #expect(throws: DatabaseError.self) { try upload.finish() }
        try tx.set("n", to: 1)
      }
      #expect(try upload.finish().content == database.store(content))
    }
  }

  // MARK: Its switch

  /// The number of pieces that were taken from a source.
  private final class Taken: Sendable {
    let count = Atomic(0)
  }

  @Test("takes nothing from its source while it is paused, and goes on when it is resumed")
  func paused() async throws {
    try await withDatabase { database in
      let upload = try database.stage(name: "a", size: UInt64(content.count))
      let taken = Taken()
      let all = pieces(10_000)
      let source = AsyncStream(unfolding: {
        let number = taken.count.add(1, ordering: .relaxed).oldValue
        if number == 5 { upload.pause() }
        return number < all.count ? all[number] : nil
      })
      let sending = Task { try await upload.send(source) }
      let isPaused = try await eventually { upload.received == 60_000 }
      #expect(isPaused && upload.progress.phase == .paused)
      try await Task.sleep(for: .milliseconds(50))
      #expect(taken.count.load(ordering: .relaxed) == 6 && upload.received == 60_000)
      // Others see it, and cannot have it while it is at work.
      #expect(throws: DatabaseError.self) { try database.resumeUpload(upload.id) }
      #expect(throws: DatabaseError.self) { try database.removeUpload(upload.id) }
      upload.resume()
      try await sending.value
      #expect(try await upload.finish().content == database.store(content))
    }
  }

  @Test("tells its progress to each observer, the end included")
  func progress() async throws {
    try await withDatabase { database in
      let upload = try database.stage(name: "a", size: UInt64(content.count))
      let (first, second) = (upload.updates, upload.updates)
      let seen = Task { await first.reduce(into: []) { $0.append($1) } }
      try await upload.send(stream(pieces(50_000)))
      try await upload.finish()
      let steps = await seen.value
      #expect(steps.map(\.done) == steps.map(\.done).sorted())
      #expect(steps.last?.phase == .finished && steps.last?.fraction == 1)
      var last: TransferProgress?
      for await step in second { last = step }
      #expect(last == steps.last)
      let late = await upload.updates.reduce(into: []) { $0.append($1) }
      #expect(late == [steps.last])
    }
  }

  @Test("that is cancelled leaves nothing, even while it is paused", arguments: [true, false])
  func cancelled(isPaused: Bool) async throws {
    let place = try Place()
    let database = try place.open()
    let upload = try database.stage(name: "a")
    let (source, bytes) = AsyncStream<Data>.makeStream()
    let sending = Task { try await upload.send(source) }
    bytes.yield(content)
    let hasCome = try await eventually { upload.received == UInt64(content.count) }
    #expect(hasCome)
    if isPaused { upload.pause() }
    upload.cancel()
    bytes.yield(content)
    await #expect(throws: CancellationError.self) { try await sending.value }
    #expect(throws: CancellationError.self) { try upload.append(content) }
    #expect(throws: CancellationError.self) { try upload.finish() }
    #expect(upload.progress.phase == .cancelled)
    #expect(try database.uploads().isEmpty)
    #expect(try !place.names.contains { $0.hasPrefix("upload-") })
    try await database.close()
    try place.expectSound()
  }

  @Test("that is cancelled while it ends is either there or not, and says which")
  func cancelledAtItsEnd() async throws {
    try await withDatabase { database in
      var random = SeededGenerator(seed: 12)
      for number in 0..<30 {
        let upload = try database.stage(name: "a")
        let bytes = noise(100 + number, count: 2_000_000)
        try upload.append(bytes)
        let ending = Task { try await upload.finish() }
        try await Task.sleep(for: .microseconds(random.below(6000)))
        upload.cancel()
        switch await ending.result {
        case .success(let file):
          #expect(upload.progress.phase == .finished)
          #expect(try database.read { try $0.read(file.content) } == bytes)
        case .failure(let error):
          #expect(error is CancellationError)
          #expect(upload.progress.phase == .cancelled)
        }
        #expect(try database.uploads().isEmpty)
      }
    }
  }

  @Test("that is let go of ends the progress of its observers")
  func letGo() async throws {
    try await withDatabase { database in
      func observed() throws -> AsyncStream<TransferProgress> {
        let upload = try database.stage(name: "a")
        try upload.append(content)
        return upload.updates
      }
      let steps = await (try observed()).reduce(into: []) { $0.append($1) }
      #expect(steps.map(\.done) == [UInt64(content.count)])
      #expect(
        try database.resumeUpload(try #require(try database.uploads().first).id).received == 0)
    }
  }

  @Test("goes on with a file that begins with what was received, and with no other")
  func startOfFile() async throws {
    let place = try Place()
    let database = try place.open()
    let (same, other) = (place.beside("same"), place.beside("other"))
    try content.write(to: URL(filePath: same))
    try noise(4, count: content.count).write(to: URL(filePath: other))
    let upload = try database.stage(name: "a")
    try upload.append(content.prefix(400_000))
    #expect(try upload.hasReceived(startOf: same))
    #expect(try !upload.hasReceived(startOf: other))
    await #expect(throws: DatabaseError.self) { try await upload.send(contentsOf: other) }
    #expect(upload.received == 400_000)
    try await upload.send(contentsOf: same)
    #expect(try await upload.finish().content == database.store(content))
    try await database.close()
  }

  // MARK: Its memory

  @Test("of 200 MB takes a few, in and out")
  func memory() async throws {
    let place = try Place()
    await #expect(processExitsWith: .success) {
      [path = place.path as String, target = place.beside("out") as String] in
      let database = try Database(at: path)
      let start = try UploadTests.privateBytes()
      var peak = start
      let block = noise(1, count: 1 << 20)
      let upload = try database.stage(name: "large")
      for number in 0..<200 {
        try upload.append(Data("\(number)".utf8) + block)
        peak = max(peak, try UploadTests.privateBytes())
      }
      let watch = Task.detached {
        var peak = 0
        while !Task.isCancelled {
          peak = max(peak, try UploadTests.privateBytes())
          try? await Task.sleep(for: .milliseconds(5))
        }
        return peak
      }
      let file = try await upload.finish()
      try await database.write { tx in try tx.set("f", to: .file(file)) }
      try await database.download(file.content, to: target).run()
      watch.cancel()
      peak = max(peak, try await watch.value)
      print("\((peak - start) >> 20) MB for \(file.size >> 20) MB")
      #expect(peak - start < 96 << 20)
      #expect(Files.size(of: target) == file.size)
      try await database.close()
    }
  }

  /// The bytes of this process's own memory, without files that are mapped.
  private static func privateBytes() throws -> Int {
    let status = try String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
    return try #require(line.split(separator: " ").dropLast().last.flatMap { Int($0) }) << 10
  }
}
