import Cambium

/// Shows the steps of a live query as a list: on a terminal, or as JSON lines.
struct WatchSession {
  let call: Call
  let title: String
  /// The number of steps to show.
  let countMax: Int
  let changes: SectionedChanges<LiveChanges<DynamicQuery>, DynamicRecord, Value>
  /// The list before the first step, which is empty.
  let list: WatchedList

  // MARK: On a terminal

  /// Shows the list on a screen of its own, until the user leaves it.
  ///
  /// - Throws: ``Failure`` after Ctrl-C. The terminal is given back in any case.
  func show(on descriptor: Int32) async throws {
    Signals.noticeTerminal()
    let mode = try TerminalMode(descriptor)
    defer { mode.leave() }
    let size = System.size(descriptor) ?? Screen.Size(rows: 24, columns: 80)
    var screen = Screen(size, call.output.style)
    var view = WatchView(title: title, list)
    var keys = KeyDecoder()
    var left = countMax
    var isDrawn = false
    try await follow { step in
      if Signals.isInterrupted { throw Failure.stopped() }
      if heedTerminal(mode, descriptor, &screen) { isDrawn = false }
      let bytes = System.isTerminal(System.standardInput) ? typed() : []
      for key in bytes.isEmpty ? keys.flush() : keys.keys(bytes) {
        if !view.press(key, screen.size) { return false }
        isDrawn = false
      }
      if let step {
        view.show(step, at: .now)
        isDrawn = false
        left -= 1
      } else if view.expire(at: .now) {
        isDrawn = false
      }
      if !isDrawn {
        try call.output.write(screen.text(showing: view.lines(screen.size)))
        try call.output.flush()
      }
      isDrawn = true
      return left > 0
    }
  }

  private func typed() -> [UInt8] { System.available(System.standardInput) }

  /// Returns true if the screen must be drawn again.
  private func heedTerminal(
    _ mode: TerminalMode, _ descriptor: Int32, _ screen: inout Screen
  ) -> Bool {
    let events = Signals.takeTerminalEvents()
    if events.isEmpty { return false }
    if events.contains(.suspended) {
      mode.suspend()
    } else if events.contains(.continued) {
      mode.enter()
    }
    screen.resize(to: System.size(descriptor) ?? screen.size)
    return true
  }

  // MARK: For programs and papers

  /// Writes a line of JSON for each step.
  func write() async throws {
    let isAbandoned = call.output.isAbandoned
    var left = countMax
    var old = list
    try await follow { step in
      if Signals.isInterrupted { throw Failure.stopped() }
      if isAbandoned() { throw Failure.silent(.brokenPipe) }
      guard let step else { return true }
      try call.output.line(step.json(after: old))
      old = step.list
      try call.output.flush()
      left -= 1
      return left > 0
    }
  }

  /// Prints the list as it is.
  func printOnce() async throws {
    var (list, view) = (list, WatchView(title: title, list))
    var steps = changes.makeAsyncIterator()
    guard let diff = try await steps.next() else { return }
    let difference = list.apply(diff)
    view.show(WatchStep(list: list, difference: difference), at: .now)
    for line in view.page(columns: call.output.isTerminal ? call.output.columns : .max) {
      try call.output.line(line)
    }
  }

  // MARK: Following

  private enum Turn: Sendable {
    case change(SectionedDiff<DynamicRecord, Value>)
    case time
  }

  /// Calls `turn` 50 times a second on the calling task, and with each step, until it returns
  /// false. The next step is computed once this one was taken, so that nothing queues up.
  private func follow(_ turn: (WatchStep?) throws -> Bool) async throws {
    let clock = AsyncThrowingStream<Turn, any Error> {
      try await Task.sleep(for: .milliseconds(20))
      return .time
    }
    var list = list
    var isFirst = true
    for try await next in changes.map({ Turn.change($0) }).merge(clock) {
      var step: WatchStep?
      if case .change(let diff) = next {
        let difference = list.apply(diff)
        // Properties may have changed that are not shown.
        if difference.isEmpty && !isFirst { continue }
        step = WatchStep(list: list, difference: difference)
        isFirst = false
      }
      if try !turn(step) { return }
    }
  }
}
