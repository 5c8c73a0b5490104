import Dispatch
import Testing

@testable import CambiumServer

@Suite("The threads of a server", .timeLimit(.minutes(1))) struct WorkersTests {
  @Test("write as many bodies at a time as there are, and refuse one more")
  func bodies() async {
    let workers = Workers(threadsMax: 3)
    let end = DispatchSemaphore(value: 0)
    let (begun, begin) = AsyncStream<Void>.makeStream()
    var beginnings = begun.makeAsyncIterator()
    let body: @Sendable () -> Void = {
      begin.yield()
      end.wait()
    }
    for _ in 0..<3 { #expect(workers.write(body)) }
    // All of them run, though none has ended.
    for _ in 0..<3 { _ = await beginnings.next() }
    #expect(!workers.write(body))
    end.signal()
    while !workers.write(body) { await Task.yield() }
    _ = await beginnings.next()
    for _ in 0..<3 { end.signal() }
  }
}
