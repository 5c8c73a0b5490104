// The pages that opening reads through LMDB are checked before.

import Foundation
import Testing

@testable import LMDB

@Suite("Opening a damaged file", .timeLimit(.minutes(1)))
struct OpeningDamageTests {
  /// The page of the main table, and the first page of the table `words`.
  private static func pages(_ path: String) throws -> [UInt64] {
    let file = try PageFile(path: path)
    defer { file.close() }
    let meta = try FileCheck.check(file)
    let directory = try ScratchPages(file, main: meta.main.root)
    return [meta.main.root, directory.tableRoot]
  }

  @Test("is refused or works, wherever the pages are damaged that it reads", arguments: 0..<2)
  func damage(_ which: Int) throws {
    let directory = try ScratchDirectory()
    try directory.fill(500)
    let sound = try Data(contentsOf: URL(filePath: directory.data))
    let page = Int(try Self.pages(directory.data)[which])
    var refused = 0
    // All bits of a byte, or one: an entry that is a table of another kind differs in one.
    for mask in [0xFF] + (0..<8).map({ 1 << $0 }) as [UInt8] {
      for place in Array(0..<192) + Array(3904..<4096) {
        var bytes = sound
        bytes[page * 4096 + place] ^= mask
        try bytes.write(to: URL(filePath: directory.data))
        do { try directory.open().close() } catch { refused += 1 }
      }
    }
    #expect(refused > 20)
    try sound.write(to: URL(filePath: directory.data))
    #expect(try directory.open().get("word 7") == "value 7")
  }
}

/// Where the only table of a small file begins.
private struct ScratchPages {
  let tableRoot: UInt64

  init(_ file: PageFile, main: UInt64) throws {
    let leaf = try file.page(main)
    let node = try #require(try leaf.checkedNodes(isBranch: false, order: .bytes).first)
    tableRoot = try TreeSummary(leaf, at: node.data.lowerBound).root
  }
}
