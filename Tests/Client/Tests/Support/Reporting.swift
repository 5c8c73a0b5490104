import FoundationEssentials
import Scratch
import Testing

/// Reports what a test throws in a process of its own, which would otherwise end without a word.
func reporting(_ body: () async throws -> Void) async {
  do { try await body() } catch { Issue.record(error, "\(error)") }
}

/// The same in a new working directory, for programs that name a database by a relative path.
func inScratchDirectory(_ body: () async throws -> Void) async {
  await reporting {
    let directory = try TemporaryDirectory()
    try #require(FileManager.default.changeCurrentDirectoryPath(directory.path))
    try await body()
  }
}
