// Goal: an upload that is broken off, by its source, its task, its process or damage, goes on with
// what was durable, or says why not, and is removed when nobody goes on with it. Method: sources
// that fail, processes that are killed, part files that are damaged, a clock that the test moves.

import Foundation
import LMDB
import Testing

@testable import Cambium

@Suite("An upload that is broken off", .timeLimit(.minutes(2)))
struct UploadResumingTests {
  private let content = noise(3, count: 700_001)

  private struct Lost: Error {}

  @Test("goes on with another source where one has failed, or its task was cancelled")
  func failed() async throws {
    try await withDatabase { database in
      let upload = try database.stage(name: "a")
      let start = content.prefix(300_000)
      let bytes = AsyncThrowingStream<UInt8, any Error> { continuation in
        for byte in start { continuation.yield(byte) }
        continuation.finish(throwing: Lost())
      }
      await #expect(throws: Lost.self) { try await upload.send(bytes) }
      #expect(upload.received == 300_000)
      let (silent, _) = AsyncStream<Data>.makeStream()
      let task = Task { try await upload.send(silent) }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(upload.progress.phase == .running)
      let rest = content[Int(upload.received)...]
      try await upload.send(
        AsyncStream<Data> { pieces in
          pieces.yield(rest)
          pieces.finish()
        })
      #expect(try await upload.finish().content == database.store(content))
    }
  }

  @Test("that is let go of is taken up from what was durable")
  func resumed() throws {
    let place = try Place()
    let id = try place.use { database in
      let upload = try database.stage(name: "a", type: "text/plain", size: 700_001)
      try upload.append(content.prefix(1000))
      try upload.save()
      // Not durable, and other bytes than those that come later.
      try upload.append(Data(repeating: 1, count: 5000))
      return upload.id
    }
    try place.use { database in
      let known = try #require(try database.uploads().first)
      #expect(known.id == id && known.received == 1000 && known.name == "a")
      #expect(known.type == "text/plain" && known.size == 700_001)
      let upload = try database.resumeUpload(id)
      #expect(upload.received == 1000 && upload.progress.total == 700_001)
      try upload.append(content.dropFirst(1000).prefix(2000))
      try upload.save()
    }
    try place.use { database in
      let upload = try database.resumeUpload(id)
      try upload.append(content.dropFirst(Int(upload.received)))
      #expect(try upload.finish().content == database.store(content))
      #expect(throws: DatabaseError.self) { try database.resumeUpload(id) }
      #expect(try database.removeUpload(id) == false)
    }
    try place.expectSound()
  }

  @Test("whose part is cut, changed or gone is refused, and can be removed")
  func damaged() throws {
    let damages: [(String, (URL) throws -> Void)] = [
      ("content", { try Data().write(to: $0) }),
      ("content", { try Data(repeating: 0, count: 300_000).write(to: $0) }),
      ("upload", { try Data(repeating: 0, count: 300).write(to: $0) }),
      ("upload", { try FileManager.default.removeItem(at: $0) }),
    ]
    for (name, damage) in damages {
      let place = try Place()
      let id = try place.use { database in
        let upload = try database.stage(name: "a")
        try upload.append(content.prefix(300_000))
        try upload.save()
        return upload.id
      }
      let folder = "\(place.path)/upload-\(id.uuidString.lowercased())"
      try damage(URL(filePath: "\(folder)/\(name)"))
      try place.use { database in
        #expect(throws: DatabaseError.self) { try database.resumeUpload(id) }
        let count = try database.uploads().count
        #expect(count == (name == "content" ? 1 : 0))
        #expect(try database.removeUpload(id))
        #expect(!Files.exists(folder))
      }
      try place.expectSound()
    }
  }

  @Test("whose bytes change on disk before its end stores nothing, and is kept")
  func changedAtEnd() throws {
    let clock = TestClock()
    let place = try Place()
    try place.use(clock.configure) { database in
      let upload = try database.stage(name: "a")
      try upload.append(content)
      let path = "\(place.path)/upload-\(upload.id.uuidString.lowercased())/content"
      let file = try #require(FileHandle(forUpdatingAtPath: path))
      try file.write(contentsOf: Data("damage".utf8))
      #expect(throws: DatabaseError.self) { try upload.finish() }
      #expect(try database.uploads().count == 1)
      try expectSound(database)
      try clock.pass(.days(1), in: database)
      try database.compact()
      #expect(try database.directory.log.read { try !$0.hasBlobs() })
      #expect(try database.uploads().count == 1)
      upload.cancel()
      #expect(try database.uploads().isEmpty)
    }
    try place.expectSound()
  }

  @Test("has the note that the file format says, byte by byte")
  func golden() throws {
    let clock = TestClock()
    let place = try Place()
    try place.use(clock.configure) { database in
      let upload = try database.stage(
        name: "film.mp4", type: "video/mp4", size: 10,
        modified: Date(timeIntervalSince1970: 1.5))
      try upload.append(Data("abcd".utf8))
      try upload.save()
      // Made with Python's struct, hashlib and xxhash.
      let golden = [UInt8](
        hex: """
          0E
          06646967657374 21 09    ; digest
          9CC3912A042827E45983ED53DF3C759F4574ADDED1D07C6D0C7FE0BC3ECF9C42
          056C65617365 09 06 0060D71D14000000    ; lease
          066C656E677468 02 03 04    ; length
          086D6F646966696564 09 0A 60E3160000000000    ; modified
          046E616D65 09 08 66696C6D2E6D7034    ; name
          0473697A65 02 03 0A    ; size
          07746F7563686564 09 0A 00401E18240A0600    ; touched
          0474797065 0A 08 766964656F2F6D7034    ; type
          85ADB51850AF34AD    ; checksum
          """)
      let folder = "\(place.path)/upload-\(upload.id.uuidString.lowercased())"
      #expect(try Files.names(in: folder) == ["content", "upload"])
      let note = try Data(contentsOf: URL(filePath: "\(folder)/upload"))
      #expect(Array(note).hex == golden.hex)
      #expect(try Data(contentsOf: URL(filePath: "\(folder)/content")) == Data("abcd".utf8))
      upload.cancel()
    }
  }

  @Test("that nobody goes on with is removed once its lease has ended, and no other")
  func lapsed() throws {
    let clock = TestClock()
    let place = try Place()
    try place.use(clock.configure) { database in
      for lease in [1, 3] { _ = try database.stage(name: "\(lease)", lease: .days(lease)) }
      let atWork = try database.stage(name: "at work", lease: .seconds(1))
      try Files.createDirectory("\(place.path)/upload-\(UUID().uuidString.lowercased())")
      try clock.pass(.days(2), in: database)
      try database.compact()
      #expect(Set(try database.uploads().map(\.name)) == ["3", "at work"])
      #expect(try place.names.count { $0.hasPrefix("upload-") } == 2)
      _ = atWork
    }
  }

  @Test("is in no backup and in no branch")
  func elsewhere() throws {
    let place = try Place()
    try place.use { database in
      try database.count(2)
      let upload = try database.stage(name: "a")
      try upload.append(content)
      try upload.save()
      let staged = try database.store(Data("staged".utf8), name: "s")
      let sizes = try database.sizes(by: [.collection]).groups
      #expect(sizes.first { $0.use == .uploads }?.bytes ?? 0 > UInt64(content.count))
      #expect(try database.information().uploads == database.uploads())
      #expect(try database.information().leases?.count == 1)
      try database.backUp(to: place.backup)
      try place.withRestored { restored in
        let uploads = try restored.uploads()
        #expect(uploads.isEmpty)
        #expect(try restored.read { try $0.read(staged.content) } == Data("staged".utf8))
      }
      try database.branch(to: place.beside("branch.cambium"))
      let branch = try Database(at: place.beside("branch.cambium"))
      #expect(try branch.uploads().isEmpty)
      #expect(try branch.holds(staged.content) == [true])
      try expectSound(branch)
      try branch.close()
    }
    try place.expectSound()
  }

  @Test(
    "of a process that is killed goes on, from no less than it had made durable", arguments: 1...4)
  func killed(seed: Int) async throws {
    let place = try Place()
    for round in 1...3 {
      let delay = 20 + seed * 13 + round * 31
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [
          path = place.path as String, acknowledged = place.beside("acknowledged") as String,
          delay = delay as Int
        ] in
        let file = try WakeFile(path: acknowledged)
        let database = try Database(at: path)
        let known = try database.uploads().first
        let upload =
          try known.map { try database.resumeUpload($0.id) }
          ?? database.stage(name: "long", lease: .days(1))
        killAfter(milliseconds: delay)
        while true {
          try upload.append(UploadResumingTests.piece(at: upload.received))
          if upload.received % 7 == 0 {
            try upload.save()
            file.write(upload.received)
          }
          if upload.received > 40 << 20 { usleep(1000) }
        }
      }
      let acknowledged = try WakeFile(path: place.beside("acknowledged")).read() ?? 0
      try place.use { database in
        let received = try database.uploads().first?.received ?? 0
        #expect(received >= acknowledged)
        try expectSound(database)
      }
    }
    try place.use { database in
      guard let known = try database.uploads().first else { return }
      let upload = try database.resumeUpload(known.id)
      while upload.received < known.received + 50_000 {
        try upload.append(UploadResumingTests.piece(at: upload.received))
      }
      let size = upload.received
      let file = try upload.finish()
      var expected = Data()
      while UInt64(expected.count) < size {
        expected += UploadResumingTests.piece(at: UInt64(expected.count))
      }
      #expect(try database.read { try $0.read(file.content) } == expected)
    }
    try place.expectSound()
  }

  /// The piece that follows a place, of a length and content that follow from it.
  private static func piece(at offset: UInt64) -> Data {
    noise(Int(offset), count: 1000 + Int(offset % 9000))
  }
}
