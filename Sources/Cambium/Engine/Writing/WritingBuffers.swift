import Synchronization

/// The memory that one group of writes leaves to the next: encoders, with their buffers and the
/// names of the last record, and that of a transaction's operations.
///
/// It is Sendable because one group at a time has it, and a group is used on one thread; see
/// ``KeptBuffers``.
final class WritingBuffers: @unchecked Sendable {
  /// Encodes records; it remembers the names of the last.
  var encoder = RecordEncoder()
  /// The encoder of models, of which this layer knows nothing.
  var models: AnyObject?
  /// The operations of the transaction that runs.
  private let operationsCell = Cell(OperationWriter())
  /// The number of names that were defined when it was given back.
  fileprivate var names = 0

  var operations: OperationWriter {
    @inline(__always) _read { yield operationsCell.value }
    @inline(__always) _modify { yield &operationsCell.value }
  }
}

/// The buffers that no group uses at present. A group takes them, and gives them back once it is
/// committed; one that is not has perhaps defined names that nobody knows.
final class KeptBuffers: Sendable {
  private let kept = Mutex<WritingBuffers?>(nil)

  /// Takes the buffers for a group.
  ///
  /// - Parameter names: The number of names that are defined. A state that has lost the newest may
  ///   give their numbers to others.
  /// - Returns: The buffers, which no other group has.
  func take(names: Int) -> WritingBuffers {
    guard let buffers = kept.withLock({ $0.take() }) else { return WritingBuffers() }
    if buffers.names > names { buffers.encoder.forget() }
    return buffers
  }

  /// Keeps the buffers of a group that is committed.
  func keep(_ buffers: WritingBuffers, names: Int) {
    buffers.names = names
    kept.withLock { $0 = buffers }
  }
}
