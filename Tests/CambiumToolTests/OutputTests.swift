import Foundation
import Testing

@testable import CambiumCommands

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite("The output") struct OutputTests {
  @Test("writes everything, in order, whatever the sizes", arguments: [1, 2] as [UInt64])
  func bytes(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    var expected: [UInt8] = []
    let written = try Captured.bytes { output in
      for index in 0..<500 {
        let text = String(repeating: "é\(index) ", count: Int.random(in: 0...400, using: &random))
        if Bool.random(using: &random) {
          try output.write(text)
        } else {
          try output.write(bytes: Array(text.utf8))
        }
        expected += text.utf8
        if Int.random(in: 0..<50, using: &random) == 0 { try output.flush() }
      }
    }
    #expect(written == expected, "seed \(seed)")
    #expect(written.count > 200_000)
  }

  @Test("holds text back until it is flushed")
  func buffering() throws {
    try Captured.withFile { descriptor, contents in
      let output = Output(descriptor)
      try output.line("one")
      #expect(try contents().isEmpty)
      try output.flush()
      #expect(try contents() == Array("one\n".utf8))
      try output.finish()
      #expect(try contents() == Array("one\n".utf8))
    }
  }

  @Test("waits for a pipe that does not block")
  func nonblocking() async throws {
    let (reading, writing) = try Captured.pipe()
    #expect(fcntl(writing, F_SETFL, O_NONBLOCK) == 0)
    let reader = Task.detached {
      defer { close(reading) }
      var count = 0
      var buffer = [UInt8](repeating: 0, count: 10_000)
      while true {
        let read = unsafe read(reading, &buffer, buffer.count)
        if read <= 0 { return count }
        count += read
      }
    }
    let output = Output(writing)
    try output.write(bytes: [UInt8](repeating: 7, count: 1_000_000))
    try output.finish()
    close(writing)
    #expect(await reader.value == 1_000_000)
  }

  @Test("ends silently with 141 when the reader has gone")
  func brokenPipe() throws {
    Signals.install()
    let (reading, writing) = try Captured.pipe()
    close(reading)
    defer { close(writing) }
    let output = Output(writing)
    try output.line("lost")
    let failure = try #require(throws: Failure.self) { try output.flush() }
    #expect(failure.exit == .brokenPipe)
    #expect(failure.text.isEmpty && failure.json.isEmpty)
    try output.finish()
  }

  @Test(
    "says that the disk is full", .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func full() throws {
    let descriptor = unsafe open("/dev/full", O_WRONLY)
    defer { close(descriptor) }
    let output = Output(descriptor)
    try output.line("lost")
    let failure = try #require(throws: Failure.self) { try output.finish() }
    #expect(failure.exit == .inputOutput)
    #expect(failure.message?.contains("No space left") == true)
  }

  @Test("escapes text from the database only on a terminal")
  func shown() throws {
    let text = "a\u{1B}[2Jb"
    try Captured.withFile { descriptor, _ in #expect(Output(descriptor).shown(text) == text) }
    try Captured.withTerminal { descriptor in
      let output = Output(descriptor, environment: ["TERM": "xterm"])
      #expect(output.isTerminal && output.columns == 97 && output.style.isColoured)
      #expect(output.shown(text) == "a\\u{1b}[2Jb")
    }
  }
}
