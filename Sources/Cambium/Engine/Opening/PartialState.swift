import LMDB

/// The state that a damaged log gives: the one as of the record before the damage, if there is no
/// usable complete state. It is never written to, and is removed when the database is closed; the
/// remains of a killed process are swept, since their directory is locked.
final class PartialState: Sendable {
  let state: State
  private let claim: ClaimedDirectory

  /// Takes over a data file that was just filled.
  init(_ directory: OpenDirectory, from partial: String, _ generation: UInt64) throws {
    claim = try ClaimedDirectory(creating: Database.temporaryPath("\(directory.path)/part", "-"))
    try Files.rename("\(partial)/data.mdb", to: "\(claim.path)/data.mdb")
    try Files.removeDirectory(partial)
    state = try State(
      at: claim.path, generation: generation, directory.options.environment(readOnly: false))
  }

  /// Closes the state and removes its files. A snapshot that is held keeps its map.
  func remove() {
    state.environment.close()
    try? Files.removeDirectory(claim.path)
  }
}
