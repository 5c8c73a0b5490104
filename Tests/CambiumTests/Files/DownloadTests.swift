// Goal: a saved file has the content's bytes, whatever was at its place and however often it was
// broken off; and nothing that is there is overwritten. Method: parts of all kinds, and breaks at
// each step.

import Foundation
import LMDB
import Testing

@testable import Cambium

@Suite("A download", .timeLimit(.minutes(1)))
struct DownloadTests {
  private let place: Place
  private let content = noise(7, count: 9_000_001)
  private var target: String { place.beside("saved") }

  init() throws { place = try Place() }

  private func saved() throws -> Data { try Data(contentsOf: URL(filePath: target)) }

  private func remove() throws {
    for path in [target, target + ".part"] where Files.exists(path) { try Files.remove(path) }
  }

  @Test("saves all bytes, of nothing too, and tells how far it is")
  func all() async throws {
    let database = try place.open()
    for content in [Data(), Data([7]), content] {
      try remove()
      let blob = try await database.store(content)
      let download = try database.download(blob, to: target)
      let seen = Task { await download.updates.reduce(into: []) { $0.append($1) } }
      try await download.run()
      let steps = await seen.value
      #expect(try saved() == content)
      #expect(steps.last?.phase == .finished && steps.last?.done == blob.size)
      #expect(!Files.exists(target + ".part"))
      await #expect(throws: DatabaseError.self) { try await download.run() }
    }
    try await database.close()
  }

  @Test("overwrites nothing, and not what has come meanwhile")
  func taken() async throws {
    let database = try place.open()
    let blob = try await database.store(content)
    try Data("mine".utf8).write(to: URL(filePath: target))
    #expect(throws: DatabaseError.self) { try database.save(blob, to: target) }
    try remove()
    let download = try database.download(blob, to: target)
    #expect(throws: DatabaseError.self) { try database.download(blob, to: target) }
    try Data("mine".utf8).write(to: URL(filePath: target))
    await #expect(throws: DatabaseError.self) { try await download.run() }
    #expect(try saved() == Data("mine".utf8))
    try Files.remove(target)
    try await download.run()
    #expect(try saved() == content)
    try await database.close()
  }

  @Test("goes on with a part of it, and starts over with any other")
  func parts() throws {
    try place.use { database in
      let blob = try database.store(content)
      var other = content.prefix(3_000_000)
      other[5] ^= 1
      let parts = [
        Data(), content.prefix(1), content.prefix(300_000), content.prefix(1 << 20), content,
        content + Data([1]), other, Data(count: 20_000_000),
      ]
      for part in parts {
        try remove()
        try part.write(to: URL(filePath: target + ".part"))
        try database.save(blob, to: target)
        #expect(try saved() == content)
      }
    }
  }

  @Test("that is broken off at any step goes on from there")
  func brokenOff() throws {
    try place.use { database in
      let blob = try database.store(content)
      var (breaks, sizes) = (0, [UInt64]())
      while !Files.exists(target) {
        do {
          try database.save(blob, to: target) { _ in false }
        } catch is CancellationError {
          breaks += 1
        }
        sizes.append(Files.size(of: target + ".part"))
      }
      #expect(breaks > 1 && sizes.dropLast() == sizes.dropLast().sorted()[...])
      #expect(try saved() == content)
    }
  }

  @Test("can be paused, resumed and cancelled")
  func controlled() async throws {
    let database = try place.open()
    let blob = try await database.store(content)
    let download = try database.download(blob, to: target)
    download.pause()
    let task = Task { try await download.run() }
    try await Task.sleep(for: .milliseconds(50))
    #expect(download.progress == TransferProgress(phase: .paused, done: 0, total: blob.size))
    download.resume()
    try await task.value
    #expect(try saved() == content)
    try remove()
    let other = try database.download(blob, to: target)
    other.pause()
    let paused = Task { try await other.run() }
    other.cancel()
    await #expect(throws: CancellationError.self) { try await paused.value }
    #expect(!Files.exists(target) && !Files.exists(target + ".part"))
    try await database.close()
  }

  @Test("of a damaged or missing content fails, and gives no file its name")
  func damaged() throws {
    let blob = try place.use { try $0.store(content) }
    try place.editLog { transaction, tables in
      try blob.key(20).lend { _ = try transaction.delete(tables.blobs, $0) }
    }
    try place.use { database in
      #expect(throws: DatabaseError.self) { try database.save(blob, to: target) }
      #expect(!Files.exists(target))
    }
  }
}
