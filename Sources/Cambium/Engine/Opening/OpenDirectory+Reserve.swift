// Room for the state where the disk is full.
//
//     log ──committed──▶ takes the last room there is ──▶ the state cannot be committed
//                                                          │
//     state-<n>/reserve ──given up──▶ room for that ◀──────┘
//
// A transaction that is stored and cannot be read is of little use. So a group of writes begins
// only when the reserve is whole: where the disk is too full for that, the write fails before
// anything is logged. The reserve is given up when the state cannot be committed, and set aside
// again by the next write that finds room.

import LMDB
import Synchronization

extension State {
  /// Enough for the pages that a usual group of writes changes.
  private static let reserveBytes = 1 << 20

  private func openReserve() throws -> Reserve {
    try reserve.withLock { reserve in
      if let reserve { return reserve }
      let opened = try Reserve(
        path: "\(environment.path)/reserve", bytesMax: State.reserveBytes)
      reserve = opened
      return opened
    }
  }

  /// Sets room aside for the commits of this state.
  ///
  /// - Throws: ``StorageError``: `.diskFull`.
  func fillReserve() throws { try openReserve().fill() }

  /// Gives the room up that is set aside.
  ///
  /// - Returns: True if there was any.
  @discardableResult
  func releaseReserve() -> Bool { (try? openReserve().release()) ?? false }
}

extension OpenDirectory {
  /// Runs what commits to the state in use; once more, with the reserve, where the disk is full.
  func usingReserve<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let error where OpenDirectory.isFull(error) {
      guard try currentState().releaseReserve() else { throw error }
      return try body()
    }
  }

  /// True if an error says that the disk is full.
  static func isFull(_ error: any Error) -> Bool {
    switch error {
    case let error as StorageError: error.kind == .diskFull
    case DatabaseError.full: true
    default: false
    }
  }
}
