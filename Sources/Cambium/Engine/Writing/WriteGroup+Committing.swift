// The group's commit: the log durably, then the state.

import LMDB

/// Positions, cursors, notes, tags and chunks of blobs, which the log stores beside a group's
/// records.
struct LogAdditions {
  /// Positions of consumers and cursors, by the names of their entries.
  var numbers: [String: UInt64] = [:]
  /// Notes by the names of their entries; nil removes one.
  var notes: [String: [UInt8]?] = [:]
  /// The moments of tags by their names; nil removes one.
  var tags: [String: SequenceNumber?] = [:]
  var chunks = BlobChunks()

  var isEmpty: Bool { numbers.isEmpty && notes.isEmpty && tags.isEmpty && chunks.isEmpty }
}

extension WriteGroup {
  /// Commits the group. Nothing is stored if the log's commit throws, except for `outcomeUnknown`.
  /// A later failure of the state does not count as an error, since the group is stored.
  func commit() throws -> Outcome {
    if let failure { throw failure }
    if try commitToTail() { return completed() }
    let kept = directory.positions.take()
    do { return try commit(with: kept) } catch {
      directory.positions.putBack()
      throw error
    }
  }

  private func commit(with kept: [String: UInt64]) throws -> Outcome {
    let numbers = additions.numbers.merging(kept) { own, _ in own }
    if records.isEmpty && numbers.isEmpty && additions.isEmpty {
      let hasCaughtUp = stateWriter.hasCaughtUp
      hasCaughtUp ? try stateWriter.commit() : stateWriter.abort()
      return hasCaughtUp ? .visible : .nothing
    }
    try commitLog(numbers)
    directory.positions.dropTaken()
    return completed()
  }

  /// Commits the records to the log's tail, if there is nothing else to store.
  ///
  /// - Returns: False if nothing was committed.
  private func commitToTail() throws -> Bool {
    if records.isEmpty || !additions.isEmpty || !directory.positions.isEmpty { return false }
    return try withOutcome { try directory.log.appendToTail(records) }
  }

  /// Commits the state after the log.
  private func completed() -> Outcome {
    directory.feed.observers.add(stateWriter.observed)
    directory.options.background.pass(.logged)
    return commitState()
  }

  private func commitState() -> Outcome {
    var isVisible = true
    do {
      try stateWriter.commit()
      try state.settleCommit(in: directory)
      isVisible = stateWriter.hasCaughtUp || !records.isEmpty
      directory.stateInUse.buffers.keep(buffers, names: stateWriter.catalog.count)
    } catch {
      stateWriter.abort()
      if OpenDirectory.isFull(error) { directory.releaseReserve(of: state) }
      do { try heal() } catch { return .behind(error) }
    }
    return isVisible ? .visible : .nothing
  }

  private func commitLog(_ numbers: [String: UInt64]) throws {
    var transaction: UInt64 = 0
    let chunks = try leasedChunks()
    let tail = try LogWriter.makeTailIfWanted(of: directory.log)
    try withOutcome {
      try directory.log.write(head: head) { writer in
        transaction = writer.reader.transaction
        if let tail { try writer.setTail(tail) }
        try chunks.write(to: writer)
        for record in records { try writer.append(record) }
        for (name, number) in numbers { try writer.setNumber(name, to: number) }
        for (name, note) in additions.notes {
          if let note { try writer.setEntry(name, note) } else { try writer.removeEntry(name) }
        }
        for (name, sequence) in additions.tags { try writer.setTag(name, to: sequence) }
      }
    }
    // The writer's lock is held since the mark was read, so that nobody can have changed it.
    directory.stateInUse.noteCompared(state, at: transaction)
  }

  /// Runs the log's commit, and says so where its outcome is unknown.
  private func withOutcome<R>(_ commit: () throws -> R) throws -> R {
    do { return try commit() } catch let error as StorageError where error.kind == .uncertain {
      throw DatabaseError.outcomeUnknown(head.sequence)
    }
  }

  /// The chunks to store, with a lease for each blob to which no record of the group refers.
  private func leasedChunks() throws -> BlobChunks {
    var chunks = additions.chunks
    var blobs = chunks.added
    if blobs.isEmpty { return chunks }
    for record in records { try BlobReferences.forEach(in: record) { blobs.remove($0) } }
    if blobs.isEmpty { return chunks }
    let end = LeaseTime(directory).end(after: BlobLeases.usual)
    for blob in blobs { chunks.lease(blob, until: end) }
    return chunks
  }

  /// Folds in the committed records after the state's own commit failed: with more room in its map,
  /// or into a new generation if this one can no longer be written.
  private func heal() throws {
    let state = try directory.prepareState().state
    if state === self.state { try state.environment.growMap(headroom: 1 << 28) }
    stateWriter = try StateWriter(state, catalog: directory.stateInUse.catalog(of: state))
    do {
      try stateWriter.catchUp(with: directory.log, to: head.sequence)
      try stateWriter.commit()
    } catch {
      stateWriter.abort()
      throw error
    }
  }
}
