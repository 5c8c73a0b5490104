import Synchronization

/// The memory that one group of writes leaves to the next: encoders, with their buffers and the
/// names of the last record.
///
/// It is Sendable because the thread that has the writer's turn alone uses it: a group takes it,
/// and gives it back when it is committed.
final class WritingBuffers: @unchecked Sendable {
  /// Encodes records; it remembers the names of the last.
  var encoder = RecordEncoder()
  /// The objects of higher layers that serve whole groups.
  let slots = Slots()
  /// The number of names that were defined when it was given back.
  fileprivate var names = 0
}

/// The buffers that no group uses at present.
final class KeptBuffers: Sendable {
  private let kept = Mutex<WritingBuffers?>(nil)
  /// The size of a transaction in bytes from which its group's buffers are not kept: they may have
  /// become as large.
  private static let transactionMax = 64 << 10

  /// Takes the buffers for a group.
  ///
  /// - Parameter names: The number of names that are defined. Those of a state that has lost the
  ///   newest may get other numbers.
  func take(names: Int) -> WritingBuffers {
    guard let buffers = kept.withLock({ $0.take() }) else { return WritingBuffers() }
    if buffers.names > names { buffers.encoder.forget() }
    return buffers
  }

  /// Keeps the buffers of a group that is committed.
  func keep(_ buffers: WritingBuffers, names: Int, _ records: [TransactionRecord]) {
    if records.contains(where: { $0.operations.count > KeptBuffers.transactionMax }) { return }
    buffers.names = names
    kept.withLock { $0 = buffers }
  }
}
