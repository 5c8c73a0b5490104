import Cambium
import FoundationEssentials

/// The position of a script that reads the log: the last transaction that it was shown, or that was
/// passed over.
struct LogCursor {
  private let file: String?
  private let isShown: Bool
  /// The position before this run; nil the first time.
  let position: SequenceNumber?

  /// Reads `--after-cursor`, or the file of `--cursor-file` where there is one.
  init(_ call: Call) throws {
    file = call[.cursorFile]?.text
    isShown = call.has(.showCursor)
    let isAsked = file != nil || call.has(.afterCursor)
    if isAsked && call.has(.since) {
      throw Failure.usage("--since and a cursor both say where to begin; choose one")
    }
    if isShown && ![.short, .json].contains(call.format) {
      throw Failure.usage(
        "--show-cursor has no place in \(call.format.rawValue)", hint: "use --cursor-file")
    }
    if let number = call[.afterCursor]?.number {
      position = SequenceNumber(UInt64(number))
    } else {
      position = try file.flatMap(LogCursor.read)
    }
  }

  private static func read(_ file: String) throws -> SequenceNumber? {
    guard FileManager.default.fileExists(atPath: file) else { return nil }
    guard let data = try? Data(contentsOf: URL(filePath: file)) else {
      throw Failure.inputOutput("the cursor file \(file) cannot be read")
    }
    let text = String(decoding: data.prefix(100), as: UTF8.self)
    guard let number = UInt64(text.prefix { !$0.isNewline }) else {
      throw Failure(
        .negative, "bad_input", "\(file) is no cursor file: it holds no sequence number",
        hint: "name another, or remove it to begin anew")
    }
    return SequenceNumber(number)
  }

  /// Keeps and shows the last transaction that was printed or skipped. Output is flushed before, so
  /// that a cursor never runs ahead of it.
  func finish(_ sequence: SequenceNumber, _ output: Output) throws {
    if isShown {
      if output.format == .json {
        try output.line(["cursor": sequence])
      } else {
        try output.line(StyledLine("-- cursor: \(sequence)", .metadata))
      }
    }
    guard let file else { return }
    try output.flush()
    do {
      try Data("\(sequence)\n".utf8).write(to: URL(filePath: file), options: .atomic)
    } catch {
      throw Failure.inputOutput("the cursor file \(file) cannot be written")
    }
  }
}
