/// Standard output: buffered, and every failed write is an error.
///
/// The entry point opens one, hands it to the command and finishes it; a command that follows
/// something flushes after each piece of news.
final class Output {
  /// True if a person reads it, directly or through a pager.
  let isTerminal: Bool
  let style: Style
  /// The number of its columns.
  let columns: Int
  let format: OutputFormat
  /// True where only errors are wanted.
  let isQuiet: Bool

  private let descriptor: Int32
  /// Takes what is written instead of the descriptor, for a call that answers a request.
  private let sink: (([UInt8]) throws -> Void)?
  private let startPager: () -> Pager?
  private var pager: Pager?
  private var isStarted = false
  private let limit: Int
  private var buffer: [UInt8] = []

  /// An output to a descriptor, or to the pager that is started when there is something to show.
  init(
    _ descriptor: Int32 = System.standardOutput, color: String = "auto",
    format: OutputFormat = .short, isQuiet: Bool = false, environment: [String: String] = [:],
    startPager: @escaping () -> Pager? = { nil }
  ) {
    isTerminal = System.isTerminal(descriptor)
    style = Style(choice: color, isTerminal: isTerminal, environment: environment)
    columns = Terminal.columns(descriptor, environment: environment)
    self.format = format
    self.isQuiet = isQuiet
    self.descriptor = descriptor
    sink = nil
    self.startPager = startPager
    limit = isTerminal ? 4 << 10 : 64 << 10
    buffer.reserveCapacity(limit)
  }

  /// An output to a function, which is handed pieces of some 64 KiB.
  init(format: OutputFormat, to sink: @escaping ([UInt8]) throws -> Void) {
    (isTerminal, isQuiet, columns) = (false, false, 80)
    style = Style(choice: "never", isTerminal: false, environment: [:])
    self.format = format
    self.sink = sink
    descriptor = -1
    startPager = { nil }
    limit = 64 << 10
  }

  /// Appends text as it is.
  ///
  /// - Throws: ``Failure``, for earlier text too; a silent one where the reader went away.
  func write(_ text: String) throws {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= limit { try flush() }
  }

  /// Appends bytes as they are.
  func write(bytes: some Sequence<UInt8>) throws {
    buffer.append(contentsOf: bytes)
    if buffer.count >= limit { try flush() }
  }

  /// Appends a piece of a form for programs, of which tabs and line feeds are a part. Where a
  /// terminal shows it, what could control the terminal is escaped.
  func write(form: some Sequence<UInt8>) throws {
    if !isTerminal { return try write(bytes: form) }
    let text = String(decoding: Array(form), as: UTF8.self)
    try write(Terminal.escaped(text, keeping: ["\n", "\t"]))
  }

  /// Appends text and a line feed.
  func line(_ text: String = "") throws {
    buffer.append(contentsOf: text.utf8)
    try write("\n")
  }

  /// Text from the database as it may be shown here: escaped where a terminal would obey it.
  func shown(_ text: String) -> String { isTerminal ? Terminal.escaped(text) : text }

  /// True if nobody reads standard output any more; this writes nothing to it.
  var isAbandoned: @Sendable () -> Bool {
    let descriptor = descriptor
    return { System.isReaderGone(descriptor) }
  }

  /// Hands over what is buffered.
  func flush() throws {
    if buffer.isEmpty { return }
    defer { buffer.removeAll(keepingCapacity: true) }
    if let sink { return try sink(buffer) }
    if !isStarted { pager = startPager() }
    isStarted = true
    let failure = System.write(buffer, to: pager?.descriptor ?? descriptor)
    if failure == 0 { return }
    if failure != System.brokenPipe {
      throw Failure.system("standard output cannot be written", errno: failure)
    }
    throw Failure.silent(pager == nil ? .brokenPipe : .success)
  }

  /// Drops what is buffered.
  func discard() { buffer.removeAll(keepingCapacity: true) }

  /// Flushes, and waits until the user has left the pager.
  func finish() throws {
    let flushed = Result { try flush() }
    try pager?.wait()
    try flushed.get()
  }
}
