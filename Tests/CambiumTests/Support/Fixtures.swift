// The places of the files that tests read, wherever a test lies.

import Foundation

enum Fixtures {
  /// The folder `Tests`.
  static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  /// Files of formats as earlier versions have written them.
  static let folder = tests.appending(path: "CambiumTests/Fixtures")
}
