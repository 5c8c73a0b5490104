/// The size of a tail, and the rules for making and flushing it.
package struct TailSizes: Sendable {
  /// The size of a file that is made; none is made or written if it is 0. A group of records that
  /// take more than a quarter of it goes to LMDB.
  package var bytes = 0
  /// The size of a file that is made once groups were too large for one of the usual size.
  package var bytesMax = 0
  /// The commits before a process makes a file, of either size: one that writes once does not need
  /// it.
  package var commitsBefore = 0
  /// The least bytes of a record whose entry in LMDB is compressed ahead, beside the next
  /// transactions: a shorter one is not worth waking another thread for.
  package var longBytesMin = 16 << 10
  /// The longest time for which what was written may not be flushed; nil if each commit is.
  package var flushesWithin: Duration?
}
