/// A set of page numbers below a limit, in one bit per page.
///
/// Memory is allocated in chunks, for one gibibyte of pages each, only for chunks with members: a
/// sparse file that claims to be immense costs little.
struct PageSet {
  private static let pagesPerChunk: UInt64 = 1 << 18

  private var chunks: [[UInt64]]
  private(set) var count: UInt64 = 0
  let limit: UInt64

  init(limit: UInt64) {
    self.limit = limit
    chunks = Array(repeating: [], count: Int(limit / Self.pagesPerChunk) + 1)
  }

  func contains(_ page: UInt64) -> Bool {
    guard page < limit else { return false }
    let (chunk, word) = Self.place(of: page)
    return !chunks[chunk].isEmpty && chunks[chunk][word] >> (page % 64) & 1 == 1
  }

  /// Returns false if the page is in the set already, or not below the limit.
  mutating func insert(_ page: UInt64) -> Bool {
    guard page < limit, !contains(page) else { return false }
    let (chunk, word) = Self.place(of: page)
    if chunks[chunk].isEmpty {
      chunks[chunk] = Array(repeating: 0, count: Int(Self.pagesPerChunk / 64))
    }
    chunks[chunk][word] |= 1 << (page % 64)
    count += 1
    return true
  }

  /// The lowest page that is in neither set; nil if there is none.
  func firstMissing(alsoFrom other: PageSet) -> UInt64? {
    (0..<limit).first { !contains($0) && !other.contains($0) }
  }

  private static func place(of page: UInt64) -> (chunk: Int, word: Int) {
    (Int(page / pagesPerChunk), Int(page % pagesPerChunk / 64))
  }
}
