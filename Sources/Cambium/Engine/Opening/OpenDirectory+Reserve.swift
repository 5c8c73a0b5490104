// Room for the state when the disk is full.
//
//     log ──committed──▶ takes the last free space ──▶ the state cannot be committed
//                                                          │
//     state-<n>/reserve ──released──▶ space for that ◀─────┘
//
// A transaction that is stored and cannot be read is of little use. So a group of writes begins
// only when the reserve is complete: if the disk is too full for that, the write fails before
// anything is logged. The reserve is released when the state cannot be committed, and allocated
// again by the next write that finds space.

import LMDB
import Synchronization

extension State {
  fileprivate func openReserve(_ bytes: Int) throws -> Reserve {
    try reserve.withLock { reserve in
      if let reserve { return reserve }
      let opened = try Reserve(path: "\(environment.path)/reserve", bytesMax: bytes)
      reserve = opened
      return opened
    }
  }
}

extension OpenDirectory {
  /// Reserves space for the commits of a state.
  ///
  /// - Throws: ``StorageError``: `.diskFull`.
  func fillReserve(of state: State) throws {
    // Commits wait in memory only while this process alone has the state open.
    try state.openReserve(options.stepSizes.reserveBytes).fill(isAlone: !state.behind.isEmpty)
  }

  /// Releases the space that is reserved for a state.
  ///
  /// - Returns: True if there was any.
  @discardableResult
  func releaseReserve(of state: State) -> Bool {
    (try? state.openReserve(options.stepSizes.reserveBytes).release()) ?? false
  }

  /// Runs a commit to a state, or the one in use; once more, with the reserve, if the disk is full.
  @discardableResult
  func usingReserve<R>(of state: State? = nil, _ body: () throws -> R) throws -> R {
    do { return try body() } catch let error where OpenDirectory.isFull(error) {
      guard releaseReserve(of: try state ?? latestState()) else { throw error }
      return try body()
    }
  }

  /// True if an error means that the disk is full.
  static func isFull(_ error: any Error) -> Bool {
    switch error {
    case let error as StorageError: error.kind == .diskFull
    case DatabaseError.full: true
    default: false
    }
  }
}
