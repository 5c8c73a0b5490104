import Testing

@testable import CambiumServer

/// The pipe between a writer and a connection, here without one.
@Suite("A body's pipe") struct BodyPipeTests {
  @Test("gives what was written, in order, and then its end")
  func order() throws {
    let pipe = BodyPipe()
    try pipe.write([1, 2, 3])
    #expect(pipe.offer([4, 5]))
    pipe.finish()
    #expect(pipe.bytes(4) == [1, 2, 3, 4])
    #expect(pipe.bytes(4) == [5])
    #expect(pipe.bytes(4) == nil)
  }

  @Test("refuses an event that a slow client has no room for, and is abandoned")
  func slow() {
    let pipe = BodyPipe(capacity: 4)
    #expect(pipe.offer([1, 2, 3]))
    #expect(!pipe.offer([4, 5]))
    #expect(pipe.isAbandoned)
    #expect(throws: BodyPipe.Abandoned.self) { try pipe.write([6]) }
  }
}

extension BodyPipe {
  /// The next bytes, or nil at the end.
  fileprivate func bytes(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let reading = unsafe bytes.withUnsafeMutableBytes {
      unsafe read(into: $0, suspend: {}, wake: {})
    }
    switch reading {
    case .bytes(let count): return Array(bytes.prefix(count))
    case .nothing: return []
    case .end, .broken: return nil
    }
  }
}
