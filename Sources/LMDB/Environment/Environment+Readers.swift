// The readers of all processes, by the table in the lock file.

import CLMDB

/// A moment that a reader holds: the pages that it needs are not used again meanwhile.
package struct HeldMoment: Hashable, Sendable {
  /// The process that reads.
  package let process: Int
  /// True if that is this process.
  package var isOwn: Bool { process == HeldMoment.ownProcess }
  /// The number of commits since then.
  package let commits: UInt64

  /// The number of this process.
  package static var ownProcess: Int { Int(getpid()) }
}

extension Environment {
  /// The moments that readers hold now, of this process and of others.
  ///
  /// - Throws: `.closed` after the environment was closed.
  package func heldMoments() throws(StorageError) -> [HeldMoment] {
    let newest = try usage().transaction
    return try lines().compactMap { line in
      // A process, a thread, and a transaction; `-` where a slot is kept for the next reader.
      let fields = line.split(whereSeparator: \.isWhitespace)
      guard fields.count == 3, let process = Int(fields[0]), let transaction = UInt64(fields[2])
      else { return nil }
      return HeldMoment(process: process, commits: newest - min(newest, transaction))
    }
  }

  private func lines() throws(StorageError) -> [Substring] {
    try whileOpen {
      var text = ""
      _ = unsafe withUnsafeMutablePointer(to: &text) { text in
        unsafe mdb_reader_list(
          handle,
          { line, text in
            guard let line = unsafe line else { return 0 }
            unsafe text?.assumingMemoryBound(to: String.self).pointee += String(cString: line)
            return 0
          }, text)
      }
      return text.split(separator: "\n")
    }
  }
}
