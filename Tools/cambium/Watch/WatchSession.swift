import Cambium
import Synchronization

/// Shows the steps of a watched list: on a terminal, or as JSON lines.
struct WatchSession {
  let call: Call
  let title: String
  /// The number of steps to show.
  let countMax: Int

  // MARK: On a terminal

  /// Shows the list on a screen of its own, until the user leaves it.
  ///
  /// - Throws: ``Failure`` after Ctrl-C. The terminal is given back in any case.
  func show(_ source: some WatchSource, on descriptor: Int32) async throws {
    Signals.noticeTerminal()
    let mode = try TerminalMode(descriptor)
    defer { mode.leave() }
    let size = System.size(descriptor) ?? Screen.Size(rows: 24, columns: 80)
    var screen = Screen(size, call.output.style)
    var view = WatchView(title: title)
    var keys = KeyDecoder()
    var left = countMax
    var isDrawn = false
    try await WatchSession.follow(source) { step in
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
  func write(_ source: some WatchSource) async throws {
    let isAbandoned = call.output.isAbandoned
    var left = countMax
    var old = WatchedList()
    try await WatchSession.follow(source) { step in
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

  /// Prints the list of a first step.
  func printOnce(_ step: WatchStep) throws {
    var view = WatchView(title: title)
    view.show(step, at: .now)
    for line in view.page(columns: call.output.isTerminal ? call.output.columns : .max) {
      try call.output.line(line)
    }
  }

  // MARK: Following

  /// Calls `turn` 50 times a second on the calling task, with the next step if there is one, until
  /// it returns false or the source ends. A source that is ahead waits, so that nothing queues up.
  private static func follow(
    _ source: some WatchSource, _ turn: (WatchStep?) throws -> Bool
  ) async throws {
    let handoff = Handoff()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        let end: Result<Void, any Error>
        do {
          for try await step in source.steps() { try await handoff.offer(step) }
          end = .success(())
        } catch {
          end = .failure(error)
        }
        handoff.finish(end)
      }
      defer { group.cancelAll() }
      while true {
        let (step, end) = handoff.take()
        if try !turn(step) { return }
        if step == nil, let end { return try end.get() }
        if step == nil { try await Task.sleep(for: .milliseconds(20)) }
      }
    }
  }

  /// Hands steps from the task that computes them to the one that shows them, one at a time.
  private final class Handoff: Sendable {
    private struct State {
      var step: WatchStep?
      var end: Result<Void, any Error>?
    }

    private let state = Mutex(State())

    /// Waits until the step before was taken, and leaves this one.
    func offer(_ step: WatchStep) async throws {
      while state.withLock({ $0.step != nil }) { try await Task.sleep(for: .milliseconds(5)) }
      state.withLock { $0.step = step }
    }

    func finish(_ end: Result<Void, any Error>) { state.withLock { $0.end = end } }

    /// The next step, and how the source ended if it has.
    func take() -> (step: WatchStep?, end: Result<Void, any Error>?) {
      state.withLock { state in
        defer { state.step = nil }
        return (state.step, state.end)
      }
    }
  }
}
