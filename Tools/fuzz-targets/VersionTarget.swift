import LMDB

@testable import Cambium

/// Versions of nodes with links, values and records, as if the checksum had been made after the
/// damage: the length of the tree's key, the key, the version.
enum VersionTarget {
  static let target = FuzzTarget(name: "version", seeds: seeds, run: run)

  private static func seeds() throws -> [[UInt8]] {
    try Fixtures.withDatabase { database in
      let state = try database.directory.currentState()
      let reader = try ReadTransaction(state.environment, tables: state.tables.read)
      var seeds: [[UInt8]] = []
      try reader.access.forEach(state.tables.tree) { key, version in
        if key.byteCount < 64 && version.byteCount < 2_000 {
          seeds.append([UInt8(key.byteCount)] + key.array() + version.array())
        }
      }
      return seeds
    }
  }

  private static func run(_ input: inout FuzzInput) {
    let key = input.bytes(Int(input.byte()))
    guard input.rest.count >= 8 else { return }
    let version = Array(input.rest).sealed(at: 0) { body in
      key.lend { Checksum.of(body, seed: Checksum.of($0)) }
    }
    unlessRefused("version") { try check(version, key) }
  }

  private static func check(_ version: [UInt8], _ key: [UInt8]) throws {
    let (header, links, content) = try decoded(version, key)
    let again = stored(header, links, content, key)
    let same = mustSucceed("version again") { try decoded(again, key) }
    require(same.header.kind == header.kind, "the kind comes back")
    require(same.header.modified == header.modified, "the transaction comes back")
    require(same.header.node == header.node, "the node id comes back")
    require(same.links == links && same.content == content, "links and content come back")
    checkGrowth(links, header.modified)
    switch header.kind {
    case .none: break
    case .scalar: try StoredContent.value(content)
    case .record: try StoredContent.record(content)
    }
  }

  /// A version that was read gets replaced: its links take in one more.
  private static func checkGrowth(_ links: VersionLinks, _ sequence: UInt64) {
    for moment in [0, 1, sequence, .max] {
      _ = mustSucceed("searching links") { try links.oldest(after: moment) }
    }
    var links = links
    for index in 0..<20 as Range<UInt32> {
      // As many as no history has: there is no level left into which they could spill.
      let count = mustSucceed("links") { try links.all.count }
      if count > VersionLinks.levelsMax * 7 { return }
      let link = HistoryLink(sequence: sequence, index: index)
      let names = (0...index).map { NameID($0 * 97) }
      let taken = mustSucceed("a link") { try links.add(link, changing: .these(names)) }
      mustSucceed("more changes") { try links.noteNewest(.these([index, 1 << 20])) }
      for links in [links, taken] {
        let stored = links.stored()
        require(stored.count <= Int(UInt16.max), "links fit a version")
        let same = mustSucceed("links again") { try stored.lend { try VersionLinks($0) } }
        require(same == links, "\(links) come back")
      }
    }
  }

  private static func decoded(
    _ version: [UInt8], _ key: [UInt8]
  ) throws -> (header: NodeHeader, links: VersionLinks, content: [UInt8]) {
    try key.lend { key in
      try version.lend { version in
        let header = try NodeHeader(version, key: key)
        let links = header.hasLinks ? try header.links(version) : VersionLinks()
        return (header, links, version.extracting(droppingFirst: header.contentOffset).array())
      }
    }
  }

  private static func stored(
    _ header: NodeHeader, _ links: VersionLinks, _ content: [UInt8], _ key: [UInt8]
  ) -> [UInt8] {
    var buffer = ByteBuffer()
    content.lend { content in
      key.lend { header.store(content, links, key: $0, into: &buffer) }
    }
    return buffer.array()
  }
}
