// Copies of an environment in use.

import Dispatch
import Testing

@testable import LMDB

@Suite("A copy of an environment", .timeLimit(.minutes(1)))
struct EnvironmentCopyTests {
  private let source: ScratchDirectory
  private let target: ScratchDirectory
  private let environment: Environment

  init() throws {
    source = try ScratchDirectory()
    target = try ScratchDirectory()
    environment = try source.open(mapSize: 1 << 28)
  }

  private func fill(_ count: Int, _ value: String) throws {
    try environment.write { transaction, table in
      for number in 0..<count { try transaction.put(table, "word \(number)", value) }
    }
  }

  @Test("holds one commit whole, is sound, and goes on by itself")
  func content() throws {
    try fill(2_000, "first")
    let copy = try EnvironmentCopy(of: environment, to: target.data)
    let writing = DispatchQueue(label: "writing")
    writing.async { [environment] in
      for number in 0..<20 { try? environment.put("word \(number)", "second") }
    }
    try copy.run()
    writing.sync {}
    try FileCheck.check(target.data)
    let copied = try target.open()
    let walker = try PageWalker(descriptor: try copied.dataDescriptor())
    #expect(try walker.walk { _, _ in true }.findings.isEmpty)
    // The writes came in order, so those that are in it are the first ones.
    let values = try (0..<2_000).map { try copied.get("word \($0)") }
    let changed = values.prefix { $0 == "second" }.count
    #expect(changed <= 20)
    #expect(values.dropFirst(changed).allSatisfy { $0 == "first" })
    try copied.put("more", "of it")
    #expect(try environment.get("more") == nil)
  }

  @Test("is refused where there is a file")
  func existing() throws {
    _ = try EnvironmentCopy(of: environment, to: target.data)
    #expect(throws: StorageError.self) { try EnvironmentCopy(of: environment, to: target.data) }
  }

  @Test("that is given up fails, and its environment goes on")
  func cancelled() throws {
    try fill(2_000, "first")
    let copy = try EnvironmentCopy(of: environment, to: target.data)
    copy.cancel()
    #expect(throws: StorageError.self) { try copy.run() }
    try environment.put("word 1", "second")
    #expect(try environment.get("word 1") == "second")
    #expect(environment.health.failure == nil)
  }
}
