/// Tells the caller of a walk how far it has come, until the caller cancels it.
struct WalkProgress {
  let receive: (_ pagesDone: UInt64, _ pagesTotal: UInt64) -> Bool
  private(set) var isCancelled = false
  /// The number of pages from which the next report is due.
  private(set) var next: UInt64 = 0

  mutating func report(_ done: UInt64, of total: UInt64) {
    guard !isCancelled else { return }
    next = done + 256
    isCancelled = !receive(done, total)
  }
}
