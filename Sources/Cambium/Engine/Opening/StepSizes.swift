/// The sizes of the steps in which a database works, and of the parts that it stores things in.
///
/// The defaults suit large databases. The torture harness draws small ones, so that its databases
/// of a few hundred pages reach what otherwise only large ones do: further segments, records in
/// parts, replays of many transactions. None of them is stored: a database is read whatever the
/// sizes were that wrote it.
package struct StepSizes: Sendable {
  /// The least bytes of a segment's records before compression, if there are as many.
  package var segmentBytes = 256 << 10
  /// The sizes on which the log's entries of records depend.
  package var records = RecordSizes()
  /// The bytes of operations after which a transaction of a replay ends.
  package var replayBytes = Replay.stepBytes
  /// The sizes of the log's tail where each commit is flushed; it is larger where that is later.
  package var tail = TailSizes(bytes: 256 << 10, bytesMax: 1 << 20, commitsBefore: 8)
  /// The disk space that is reserved for commits of the state: enough for the pages that a usual
  /// group of writes changes.
  package var reserveBytes = 1 << 20
  /// The most bodies in one group of writes, so that the first does not wait forever.
  package var groupCount = 1024
  /// The free bytes of the state's map with which a group of writes begins. For one that needs
  /// more, the map grows in the middle.
  package var groupRoom = 64 << 20
  /// The bytes of entries that the state's file may lack; 0 if each commit writes to it at once.
  package var deferredBytes = 2 << 20
  /// A checkpoint is due only once the log has grown by the state's size divided by this.
  package var checkpointDivisor = 4

  /// The sizes of timelines of groups.
  package var timeline = TimelineSizes()

  /// The memory that a live query's groups and their rows may take before they go to files.
  package var keptBytes = 16 << 20
  /// The records that a live query's step may look at on the executor of whoever follows it.
  package var shortRecords = 256

  /// Makes the defaults.
  package init() {}
}

/// The sizes of what is kept for groups of the past.
package struct TimelineSizes: Sendable {
  /// The records that a query would have to look at before a timeline is kept for it.
  package var records = 10_000
  /// The checkpoints of a timeline, if its history has that many transactions.
  package var checkpoints = 4096
  /// The memory that a timeline may take.
  package var bytes = 16 << 20
}
