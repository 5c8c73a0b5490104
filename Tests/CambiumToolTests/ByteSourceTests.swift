import Cambium
import FoundationEssentials
import Testing

@testable import CambiumCommands

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite("A byte source")
struct ByteSourceTests {
  @Test("gives a file's bytes, whole, and again after rewinding")
  func file() throws {
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try inFolder { folder in
      try Data(bytes).write(to: folder.appending(path: "data"))
      for size in [1, 7, 4096, 1 << 20] {
        var source = try ByteSource(
          path: folder.appending(path: "data").path, bufferBytes: size)
        #expect(source.size == 100_000)
        #expect(try drain(&source) == bytes)
        source.rewind()
        #expect(try drain(&source) == bytes)
      }
    }
  }

  @Test("copies a pipe, so that it can be read twice")
  func pipes() throws {
    var ends: [Int32] = [-1, -1]
    #expect(unsafe pipe(&ends) == 0)
    let bytes = Array("over the pipe".utf8)
    #expect(unsafe write(ends[1], bytes, bytes.count) == bytes.count)
    _ = close(ends[1])
    let file = try InputFile(sharing: ends[0], name: "standard input")
    _ = close(ends[0])
    #expect(file.size == UInt64(bytes.count))
    var buffer = [UInt8](repeating: 0, count: 20)
    for _ in 0..<2 {
      #expect(try file.read(into: &buffer, from: 1, at: 5, "standard input") == bytes.count - 5)
      #expect(Array(buffer[1...8]) == Array(bytes[5...]))
    }
  }

  @Test("starts where a redirected standard input stands")
  func offset() throws {
    try inFolder { folder in
      let path = folder.appending(path: "data").path
      try Data("0123456789".utf8).write(to: URL(filePath: path))
      let number = unsafe open(path, O_RDONLY)
      defer { _ = close(number) }
      _ = lseek(number, 4, SEEK_SET)
      let file = try InputFile(sharing: number, name: "standard input")
      #expect(file.size == 6)
      var buffer = [UInt8](repeating: 0, count: 20)
      #expect(try file.read(into: &buffer, from: 0, at: 0, "standard input") == 6)
      #expect(buffer.prefix(6).elementsEqual("456789".utf8))
    }
  }

  @Test("says why an input cannot be read")
  func refusals() throws {
    let error = #expect(throws: InputError.self) { _ = try ByteSource(path: "/no/such\u{7}file") }
    #expect(
      error?.description == "\"/no/such\\u0007file\": cannot be opened: No such file or directory")
    try inFolder { folder in
      let path = folder.path
      let error = #expect(throws: InputError.self) { _ = try ByteSource(path: path) }
      #expect(error?.reason == "is a folder; expected a file")
    }
  }

  @Test("counts lines and characters, across buffers, and passes over a byte order mark")
  func places() throws {
    let text = Array("\u{FEFF}aé\n\n😀b".utf8)
    let expected = [(3, 1, 1), (4, 1, 2), (6, 1, 3), (7, 2, 1), (8, 3, 1), (12, 3, 2), (13, 3, 3)]
    for size in 1...20 {
      for (offset, line, column) in expected {
        var source = ByteSource(bytes: text, name: "text", bufferBytes: size)
        try source.skipByteOrderMark()
        while source.offset < offset {
          if source.position == source.end { try source.more() }
          source.position += min(source.end - source.position, offset - Int(source.offset))
        }
        let place = InputError.Place(line: line, column: column, offset: UInt64(offset))
        #expect(source.place(at: source.position) == place)
        #expect(source.error(atOffset: UInt64(offset), "").place == place)
      }
    }
  }

  private func drain(_ source: inout ByteSource) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while !source.isAtEnd {
      bytes += source.buffer[source.position..<source.end]
      source.position = source.end
      try source.more()
    }
    return bytes
  }

  private func inFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "cambium-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
  }
}
