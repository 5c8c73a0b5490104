import Foundation
import Testing

@testable import CambiumCommands

/// A folder in which the built program is run as a user would, through a shell.
struct Workplace {
  let folder: String
  private let tools: String

  /// Lends an empty one.
  static func with<R>(_ body: (Workplace) throws -> R) throws -> R {
    try GitFixture.withFolder { folder in
      let tools = try #require(toolFolder, "the program is not built: run `swift build` first")
      return try body(Workplace(folder: folder, tools: tools))
    }
  }

  /// Runs a line of shell, and returns all that it prints. A status other than zero follows as
  /// `[7]`.
  func run(_ line: String) throws -> String {
    let script = """
      cd '\(folder)' && exec 2>&1
      \(line)
      status=$?; [ $status -eq 0 ] || echo "[$status]"
      """
    let shell = try ChildProcess("sh", ["-c", script], name: line, environment: environment)
    return String(decoding: try shell.readAll(), as: UTF8.self)
  }

  var environment: [String: String] {
    let inherited = ProcessInfo.processInfo.environment
    let path = inherited["PATH"] ?? "/usr/bin:/bin"
    let own = ["PATH": "\(tools):\(path)", "TZ": "UTC", "LANG": "C.UTF-8", "TMPDIR": folder]
    return own.merging(inherited.filter { Self.sanitizers.contains($0.key) }) { own, _ in own }
  }

  /// The variables that `Tools/test` sets for a program that was built with a sanitizer.
  private static let sanitizers: Set = ["ASAN_OPTIONS", "TSAN_OPTIONS", "LD_PRELOAD"]

  /// Where the build puts the program: beside the tests, which are in the arguments.
  private static let toolFolder: String? = {
    for argument in CommandLine.arguments {
      guard let range = argument.range(of: ".xctest") else { continue }
      let bundle = URL(filePath: String(argument[..<range.upperBound]))
      let folder = bundle.deletingLastPathComponent().path
      if FileManager.default.isExecutableFile(atPath: folder + "/cambium") { return folder }
    }
    return nil
  }()
}
