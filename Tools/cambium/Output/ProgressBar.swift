import Cambium
import Synchronization

/// Shows on standard error how far long work has come.
///
///     import  63% ▕██████▎   ▏ 6.3M/10.0M rows  412.0k/s  ETA 00:09
///
/// It appears after half a second, is drawn ten times a second at most, and erases itself. With
/// `--progress=json` it is a line a second for programs instead. SIGUSR1 asks for a line at once.
///
///     let progress = ProgressBar(invocation, unit: "rows")
///     defer { progress.finish() }
///     try database.rebuild { progress.update($0.phase, $0.done, of: $0.total) }
final class ProgressBar: Sendable {
  /// The form in which progress is shown.
  enum Mode: Sendable { case none, bar, json }

  private struct State {
    var job: ProgressJob?
    var lastTold: ContinuousClock.Instant?
    var isDrawn = false
  }

  private let mode: Mode
  private let unit: String
  private let columns: Int
  private let clock: @Sendable () -> ContinuousClock.Instant
  private let write: @Sendable (String) -> Void
  private let started: ContinuousClock.Instant
  private let state = Mutex(State())
  /// The request that the work is for, which hears of it wherever the work is done.
  private let served = Served.current

  /// The bar that the command line asks for. `unit` is what is counted; `bytes` are shown in MB.
  convenience init(_ call: Call, unit: String) {
    let isTerminal = System.isTerminal(System.standardError)
    let mode: Mode =
      switch call.progress {
      case "always": .bar
      case "json": .json
      case "auto" where isTerminal: .bar
      default: .none
      }
    self.init(
      mode, unit: unit, columns: Terminal.columns(System.standardError, environment: [:]),
      clock: { ContinuousClock.now }, write: System.complain)
  }

  init(
    _ mode: Mode, unit: String, columns: Int,
    clock: @escaping @Sendable () -> ContinuousClock.Instant,
    write: @escaping @Sendable (String) -> Void
  ) {
    self.mode = mode
    self.unit = unit
    self.columns = columns
    self.clock = clock
    self.write = write
    started = clock()
  }

  /// Reports how far the work is.
  ///
  /// - Returns: True to continue; false after Ctrl-C.
  @discardableResult
  func update(_ phase: String, _ done: UInt64, of total: UInt64? = nil) -> Bool {
    if let served {
      served.progress?(WorkProgress(phase: phase, done: done, total: total))
      return !Signals.isInterrupted && !served.isAbandoned()
    }
    let isAsked = Signals.takeProgressRequest()
    if mode != .none || isAsked {
      let now = clock()
      state.withLock { tell(phase, done, total, now, isAsked, &$0) }
    }
    return !Signals.isInterrupted
  }

  /// Erases the bar, or writes the last line.
  func finish() {
    state.withLock { state in
      if state.isDrawn { write("\r\u{1B}[K") }
      if mode == .json, let job = state.job { write(job.json) }
      state = State()
    }
  }

  private func tell(
    _ phase: String, _ done: UInt64, _ total: UInt64?, _ now: ContinuousClock.Instant,
    _ isAsked: Bool, _ state: inout State
  ) {
    if state.job?.phase != phase {
      state.job = ProgressJob(
        phase: phase, unit: unit, first: mode == .none ? 0 : done,
        started: state.job == nil ? started : now)
    }
    state.job?.done = done
    state.job?.total = total
    let interval: Duration = mode == .json ? .seconds(1) : .milliseconds(100)
    let isDue = state.lastTold.map { now - $0 >= interval } ?? (now - started >= .milliseconds(500))
    guard let job = state.job, isAsked || isDue else { return }
    if mode == .json {
      write(job.json)
    } else {
      let line = job.line(after: now - job.started, columns: columns - 1)
      write(mode == .bar ? "\r\(line)\u{1B}[K" : line + "\n")
      state.isDrawn = mode == .bar
    }
    state.lastTold = now
  }
}

/// One phase of the work, and how it is rendered.
struct ProgressJob: Sendable {
  let phase: String
  let unit: String
  /// Where it started; more than zero for work that is resumed.
  let first: UInt64
  let started: ContinuousClock.Instant
  var done: UInt64 = 0
  var total: UInt64?

  var json: String {
    let total = total.map { ",\"total\":\($0)" } ?? ""
    return "{\"phase\":\(JSONText.quoted(phase)),\"done\":\(done)\(total)}\n"
  }

  /// The line for people. Where there is no room, first the bar goes, then the rest from its end.
  func line(after elapsed: Duration, columns: Int) -> String {
    let rate = done > first ? Double(done - first) / max(elapsed.seconds, 0.001) : 0
    let percent =
      fraction.map { " \(Terminal.padded("\(Int($0 * 100))%", to: 4, leading: true))" } ?? ""
    let head = "\(Terminal.escaped(phase)) \(percent)"
    var tail = " \(amount)  \(amount(rate))/s"
    if let total, rate > 0, total > done {
      tail += "  ETA \(Quantity.time(seconds: Double(total - done) / rate))"
    }
    let room = min(20, columns - Terminal.displayWidth(head) - Terminal.displayWidth(tail) - 3)
    let bar = fraction.flatMap { room >= 4 ? " " + ProgressJob.bar($0, width: room) : nil }
    return Terminal.truncated(head + (bar ?? "") + tail, to: columns)
  }

  private var fraction: Double? {
    total.flatMap { $0 > 0 ? min(1, Double(done) / Double($0)) : nil }
  }

  private var amount: String {
    let parts = [done, total].compactMap { $0 }.map { amount(Double($0)) }
    return parts.joined(separator: "/") + (unit == "bytes" ? "" : " \(unit)")
  }

  private func amount(_ number: Double) -> String {
    unit == "bytes" ? Quantity.bytes(number) : Quantity.short(number)
  }

  /// A bar in steps of an eighth of a column.
  private static func bar(_ fraction: Double, width: Int) -> String {
    let eighths = Int(fraction * Double(width * 8))
    let partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
    let filled = String(repeating: "█", count: eighths / 8) + partial
    return "▕\(Terminal.padded(filled, to: width))▏"
  }
}

extension ProgressBar {
  /// Shows how far `body` is while it runs.
  @discardableResult
  static func showing<R>(
    _ call: Call, unit: String = "", _ body: (@escaping ProgressHandler) throws -> R
  ) rethrows -> R {
    let bar = ProgressBar(call, unit: unit)
    defer { bar.finish() }
    return try body(bar.handler)
  }

  var handler: ProgressHandler { { self.update($0.phase, $0.done, of: $0.total) } }
}

/// Counts what is walked over, for a bar; every so often it looks whether to stop.
struct Tick {
  private let bar: ProgressBar
  private let phase: String
  private let total: UInt64?
  private(set) var count: UInt64 = 0

  init(_ bar: ProgressBar, _ phase: String, of total: UInt64? = nil) {
    (self.bar, self.phase, self.total) = (bar, phase, total)
  }

  /// Counts one more.
  ///
  /// - Throws: ``Failure`` once the user has asked to stop.
  mutating func next() throws {
    count += 1
    if count % 1024 == 0, !bar.update(phase, count, of: total) { throw Failure.stopped() }
  }
}

extension Duration {
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
