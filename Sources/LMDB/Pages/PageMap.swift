import CLMDB

/// A data file mapped into memory, read-only.
///
/// It is ours, beside LMDB's own map of the file: pages that are read through it are checked before
/// anything in them is followed, and LMDB never reads them. It lives as long as it has readers;
/// when the file outgrows it, the next reader maps the file again.
@safe final class PageMap: @unchecked Sendable {
  // It is Sendable because nothing in it changes.

  /// The first byte of page 0.
  let start: UnsafeRawPointer
  /// The number of pages that it has room for.
  let pageCount: UInt64
  private let size: Int
  /// The file, to find out its size, even after LMDB's own descriptor is closed.
  private let descriptor: CInt

  /// The minimum size in bytes, so that a small file need not be mapped again while it grows.
  private static let sizeMin = 1 << 26

  /// Maps a file with room for four times the number of pages requested.
  ///
  /// - Returns: nil if the address space has no room (H15), or no descriptor is left.
  init?(_ descriptor: CInt, pages: UInt64) {
    var size = PageMap.sizeMin
    while UInt64(size / PageFormat.pageSize) < pages.multipliedReportingOverflow(by: 4).partialValue
    {
      guard size < 1 << 47 else { return nil }
      size *= 2
    }
    let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard own >= 0 else { return nil }
    guard let start = unsafe mmap(nil, size, PROT_READ, MAP_SHARED, own, 0),
      unsafe start != MAP_FAILED
    else {
      close(own)
      return nil
    }
    self.descriptor = own
    unsafe self.start = UnsafeRawPointer(start)
    self.size = size
    pageCount = UInt64(size / PageFormat.pageSize)
  }

  deinit {
    unsafe munmap(UnsafeMutableRawPointer(mutating: start), size)
    close(descriptor)
  }

  /// A larger map of the same file.
  func enlarged(pages: UInt64) -> PageMap? { PageMap(descriptor, pages: pages) }

  /// The number of pages in the file.
  func pagesInFile() throws(StorageError) -> UInt64 {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      throw StorageError(code: errno, while: "measuring a file")
    }
    return UInt64(max(status.st_size, 0)) / UInt64(PageFormat.pageSize)
  }
}
