import Testing

@testable import CambiumCommands

@Suite("Signals") struct SignalTests {
  @Test("stop work at a safe point the first time, and the process the second time")
  func interrupts() async {
    await #expect(processExitsWith: .exitCode(130)) {
      Signals.install()
      Signals.deferInterrupts()
      let bar = ProgressBar(.none, unit: "rows", columns: 80, clock: { .now }, write: { _ in })
      guard bar.update("work", 1), !Signals.isInterrupted else { System.exit(.usage) }
      Sender.send(Sender.interrupt) { Signals.isInterrupted }
      guard !bar.update("work", 2), Signals.isInterrupted else { System.exit(.missing) }
      guard Failure.stopped().exit == .interrupted else { System.exit(.corrupt) }
      guard Failure.stopped(resume: "again").exit == .partial else { System.exit(.busy) }
      Sender.send(Sender.interrupt) { false }
      System.exit(.refused)
    }
    await #expect(processExitsWith: .exitCode(143)) {
      Signals.deferInterrupts()
      Sender.send(Sender.terminate) { Signals.isInterrupted }
      System.exit(Failure.stopped().exit)
    }
  }

  @Test("ask for a line of progress")
  func progress() async {
    await #expect(processExitsWith: .success) {
      Signals.install()
      guard !Signals.takeProgressRequest() else { System.exit(.usage) }
      var isAsked = false
      Sender.send(Sender.user) {
        isAsked = isAsked || Signals.takeProgressRequest()
        return isAsked
      }
      guard isAsked else { System.exit(.missing) }
      guard !Signals.takeProgressRequest() else { System.exit(.corrupt) }
    }
  }
}
