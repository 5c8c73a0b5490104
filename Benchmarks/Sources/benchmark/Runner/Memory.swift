import CHeap
import FoundationEssentials

/// The memory that the process holds, in bytes, as Linux counts it.
struct Memory {
  /// Its own: heap and stacks (RssAnon).
  let anonymous: Int
  /// Pages of mapped files, which the kernel can drop at any time (RssFile).
  let file: Int

  /// Nil where there is no `/proc`.
  static func current() -> Memory? {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let anonymous = kilobytes("RssAnon:", in: text), let file = kilobytes("RssFile:", in: text)
    else { return nil }
    return Memory(anonymous: anonymous * 1_024, file: file * 1_024)
  }

  /// The bytes of the heap that are in use, of all threads; nil where the system does not tell.
  static func allocated() -> Int? {
    #if canImport(Glibc)
      let heap = mallinfo2()
      return Int(heap.uordblks) + Int(heap.hblkhd)
    #else
      return nil
    #endif
  }

  private static func kilobytes(_ name: String, in text: String) -> Int? {
    let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
    return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
      .flatMap { Int($0) }
  }

  func max(_ other: Memory) -> Memory {
    Memory(
      anonymous: Swift.max(anonymous, other.anonymous), file: Swift.max(file, other.file))
  }
}
