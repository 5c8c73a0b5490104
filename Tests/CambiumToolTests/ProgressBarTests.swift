import Synchronization
import Testing

@testable import CambiumCommands

@Suite("The progress bar") struct ProgressBarTests {
  /// A clock that the test moves, and the output.
  private final class Stage: Sendable {
    private let state = Mutex((now: ContinuousClock.now, written: [String]()))

    func bar(_ mode: ProgressBar.Mode, unit: String = "rows", columns: Int = 80) -> ProgressBar {
      ProgressBar(
        mode, unit: unit, columns: columns, clock: { self.state.withLock { $0.now } },
        write: { text in self.state.withLock { $0.written.append(text) } })
    }

    func pass(_ duration: Duration) { state.withLock { $0.now += duration } }

    /// The texts written since the last call.
    func written() -> [String] {
      state.withLock { state in
        defer { state.written = [] }
        return state.written
      }
    }
  }

  @Test("appears after half a second, is drawn at most ten times a second, and erases itself")
  func timing() {
    let stage = Stage()
    let bar = stage.bar(.bar)
    bar.update("import", 0, of: 1000)
    stage.pass(.milliseconds(499))
    bar.update("import", 100, of: 1000)
    #expect(stage.written().isEmpty)
    stage.pass(.milliseconds(1))
    for _ in 0..<100 { bar.update("import", 250, of: 1000) }
    #expect(
      stage.written() == [
        "\rimport   25% ▕█████               ▏ 250/1000 rows  500/s  ETA 00:02\u{1B}[K"
      ])
    stage.pass(.milliseconds(100))
    bar.update("import", 630, of: 1000)
    #expect(
      stage.written() == [
        "\rimport   63% ▕████████████▌       ▏ 630/1000 rows  1050/s  ETA 00:00\u{1B}[K"
      ])
    bar.finish()
    #expect(stage.written() == ["\r\u{1B}[K"])
    bar.finish()
    #expect(stage.written().isEmpty)
  }

  @Test("leaves nothing behind after short work")
  func shortWork() {
    let stage = Stage()
    let bar = stage.bar(.bar)
    bar.update("import", 10, of: 10)
    bar.finish()
    #expect(stage.written().isEmpty)
  }

  @Test("counts the rate of each phase from where it started")
  func phases() {
    let stage = Stage()
    let bar = stage.bar(.bar, unit: "bytes")
    bar.update("read", 0)
    stage.pass(.seconds(2))
    bar.update("read", 3_000_000)
    #expect(stage.written() == ["\rread  3.0 MB  1.5 MB/s\u{1B}[K"])
    bar.update("check", 5_000_000, of: 10_000_000)
    stage.pass(.seconds(1))
    bar.update("check", 7_500_000, of: 10_000_000)
    #expect(stage.written().last?.contains(" 75% ") == true)
    bar.update("check", 7_500_000, of: 10_000_000)
    #expect(stage.written().isEmpty)
  }

  @Test("tells programs once a second, and at the end")
  func json() {
    let stage = Stage()
    let bar = stage.bar(.json)
    for _ in 0..<30 {
      stage.pass(.milliseconds(100))
      bar.update("re\"play", 5, of: 9)
    }
    let line = #"{"phase":"re\"play","done":5,"total":9}"# + "\n"
    #expect(stage.written() == [line, line, line])
    bar.update("re\"play", 9)
    bar.finish()
    #expect(stage.written() == [#"{"phase":"re\"play","done":9}"# + "\n"])
  }

  @Test("says nothing where it is not wanted")
  func none() {
    let stage = Stage()
    let bar = stage.bar(.none)
    stage.pass(.seconds(5))
    #expect(bar.update("import", 1, of: 2))
    bar.finish()
    #expect(stage.written().isEmpty)
  }

  @Test("fits every width", arguments: 1...120)
  func widths(_ columns: Int) {
    var job = ProgressJob(phase: "import", unit: "rows", first: 0, started: .now)
    for (done, total) in [(0, 0), (0, 9), (5, 9), (9, 9), (12, 9), (.max, .max)]
      as [(UInt64, UInt64)]
    {
      (job.done, job.total) = (done, total)
      for elapsed in [Duration.zero, .seconds(1), .seconds(1_000_000)] {
        let line = job.line(after: elapsed, columns: columns)
        #expect(Terminal.displayWidth(line) <= columns, "\(line)")
      }
    }
  }
}
