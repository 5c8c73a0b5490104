// Goal: CSV is read as RFC 4180 says, and everything else is an error that names the place; however
// the input is cut into buffers. Method: examples; the same input through every buffer size; every
// truncation and every change of one byte of a small file.

import Cambium
import Testing

@testable import CambiumCommands

@Suite("The CSV reader")
struct CSVReaderTests {
  @Test(
    "takes apart what RFC 4180 allows",
    arguments: [
      ("a,b\n1,2\n", [["1", "2"]]),
      ("a,b\r\n1,2\r\n", [["1", "2"]]),
      ("a,b\n1,2", [["1", "2"]]),
      ("\u{FEFF}a,b\n1,2", [["1", "2"]]),
      ("a,b\n\"1\",\"2\"", [["1", "2"]]),
      ("a,b\n\"x,y\",\"x\"\"y\"\n", [["x,y", "x\"y"]]),
      ("a,b\n\"x\ny\r\n\",\"\"\"\"\n", [["x\ny\r\n", "\""]]),
      ("a,b\n\n1,2\n\r\n\n3,4\n\n", [["1", "2"], ["3", "4"]]),
      ("a,b\n é , 😀\n", [[" é ", " 😀"]]),
      ("a,b\n,\n", [["", ""]]),
      ("a\n\n1\n\n", [[""], ["1"], [""]]),
      ("a", []),
      ("a\n", []),
      ("a\n\"\"", [[""]]),
      ("\"a\nb\"\n1", [["1"]]),
      ("a,b\nx\0y,\u{FEFF}\n", [["x\0y", "\u{FEFF}"]]),
    ])
  func accepts(_ input: String, _ expected: [[String]]) throws {
    #expect(try records(input) == expected)
  }

  @Test(
    "says where bad input is, and what was expected",
    arguments: [
      ("", "1:1: expected a header", 0),
      ("\n1\n", "1:1: expected a header", 0),
      ("a,,b\n", "1:3: expected a name for column 2", 2),
      ("a,\"\"\n", "1:4: expected a name for column 2", 3),
      ("a,b,a\n", "1:5: expected each column once, found \"a\" again", 4),
      ("a,b\n1\n", "2:2: expected 2 fields as in the header, found 1", 5),
      ("a,b\n1,2,3,4\n", "2:5: expected 2 fields as in the header, found 4", 8),
      ("a,b\n1,2,\"3\"\n", "2:5: expected 2 fields", 8),
      ("a,b\n1,2\n\"", "3:1: expected a quote that closes this field", 8),
      ("a,b\n1,2\n\"x\n\n", "3:1: expected a quote that closes this field", 8),
      ("a,b\n1,x\"y\n", "2:4: expected no quote inside", 7),
      ("a,b\n1, \"y\"\n", "2:4: expected no quote inside", 7),
      ("a,b\n\"1\"x,2\n", "2:4: expected a comma or the end of the line", 7),
      ("a,b\n\"1\n\n2\" ,3\n", "4:3: expected a comma or the end of the line", 10),
      ("a,b\n1\r2,3\n", "2:2: expected a line feed", 5),
      ("a,b\n1,2\r", "2:4: expected a line feed", 7),
      ("a,b\né,2,3\n", "2:5: expected 2 fields", 9),
      ("\u{FEFF}a,a\n", "1:3: expected each column once", 5),
    ])
  func refuses(_ input: String, _ message: String, _ offset: UInt64) {
    let error = #expect(throws: InputError.self) { try records(input) }
    #expect(
      error?.description.hasPrefix("in.csv:\(message)") == true, "\(String(describing: error))")
    #expect(error?.place?.offset == offset)
  }

  @Test("refuses bytes that are not UTF-8, with the place of the first")
  func refusesBadEncoding() {
    let bad: [[UInt8]] = [
      [0xFF], [0x80], [0xC0, 0x80], [0xC3], [0xE2, 0x82], [0xED, 0xA0, 0x80],
      [0xF0, 0x80, 0x80, 0x80],
      [0xF4, 0x90, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80],
    ]
    for bytes in bad {
      let input = Array("a\né".utf8) + bytes + Array("\n".utf8)
      let error = #expect(throws: InputError.self) { try records(bytes: input) }
      #expect(error?.place == InputError.Place(line: 2, column: 2, offset: 4), "\(bytes)")
    }
  }

  @Test("gives the same records and errors with buffers of any size")
  func buffers() throws {
    let inputs = [
      "a,b\r\n\"x\"\"y\",é\r\n,\"\"\r\n\n\"\n\n\",NA\n1,2", "a,b\n1,2\n3\n", "a,b\n\"x", "a\r\n1\r",
      "\u{FEFF}a\n😀\n",
    ]
    for input in inputs {
      let whole = outcome(Array(input.utf8), bufferBytes: 1 << 16)
      for size in 1...(input.utf8.count + 1) {
        #expect(outcome(Array(input.utf8), bufferBytes: size) == whole, "buffer of \(size)")
      }
    }
  }

  @Test("tells absent fields from empty texts")
  func absent() throws {
    let mark = try #require(AbsentMark("NA"))
    let source = source(Array("a,b,c,d,e\n,\"\",NA,\"NA\",NAN\n".utf8))
    var reader = try CSVReader(source, absent: mark)
    #expect(try reader.next())
    let row = reader.row
    #expect((0..<5).map { row.isAbsent($0) } == [true, false, true, false, false])
    #expect(AbsentMark("N,A") == nil)
  }

  @Test("reads an input again after rewinding, at the end and in the middle")
  func rewinding() throws {
    var reader = try CSVReader(source(Array("\u{FEFF}a\n1\n2\n".utf8), bufferBytes: 2))
    #expect(try reader.next())
    try reader.rewind()
    while try reader.next() {}
    try reader.rewind()
    #expect(try reader.next())
    #expect(reader.row.text(0) == "1")
  }

  @Test("refuses a record that is too long, and reads one that just fits")
  func recordLimit() throws {
    let fits = "a\n\"" + String(repeating: "x", count: 97) + "\"\n"
    for bufferBytes in [1, 7, 64, 1000] {
      #expect(try limited(fits, bufferBytes)?.utf8.count == 97)
      for end in ["x\"\n", ""] {
        let error = #expect(throws: InputError.self) {
          try limited(fits.dropLast(2) + "xxxx" + end, bufferBytes)
        }
        #expect(error?.reason == "expected a record of at most 100 bytes, found a longer one")
        #expect(error?.place == InputError.Place(line: 2, column: 1, offset: 2))
      }
    }
  }

  private func limited(_ input: String, _ bufferBytes: Int) throws -> String? {
    let source = source(Array(input.utf8), bufferBytes: bufferBytes)
    var reader = try CSVReader(source, recordBytesMax: 100)
    return try reader.next() ? reader.row.text(0) : nil
  }

  @Test("counts the fields of a record that has far too many, in constant memory")
  func surplus() {
    let error = #expect(throws: InputError.self) {
      try records("a,b\n" + String(repeating: ",", count: 100_000))
    }
    #expect(error?.reason == "expected 2 fields as in the header, found 100001")
    let columns = (0...CSVReader.columnsMax).map { "c\($0)" }.joined(separator: ",")
    #expect(throws: InputError.self) { try records(columns) }
  }

  @Test("gives records or an error for every truncation and every change of one byte")
  func damage() {
    let input = Array("\u{FEFF}é,\"b\n\"\r\n\"x\"\"y\",2013-01-01\r\n,-1.5\n".utf8)
    for end in 0...input.count { _ = outcome(Array(input[..<end])) }
    var readable = 0
    for index in input.indices {
      var changed = input
      for byte in UInt8.min...UInt8.max {
        changed[index] = byte
        if case .success = outcome(changed) { readable += 1 }
      }
    }
    #expect(readable > input.count)
  }

  @Test("names the place of a record of which only the offset was kept")
  func laterErrors() throws {
    var reader = try CSVReader(source(Array("\u{FEFF}a\n1\n\"2\n2\"\n3\n".utf8), bufferBytes: 3))
    var offsets: [UInt64] = []
    while try reader.next() { offsets.append(reader.recordOffset) }
    #expect(offsets == [5, 7, 13])
    #expect(reader.error(at: 13, "no").place == InputError.Place(line: 5, column: 1, offset: 13))
    #expect(reader.error(at: 3, "no").place == InputError.Place(line: 1, column: 1, offset: 3))
  }

  @Test("keeps control characters of the input out of its messages")
  func printable() {
    let error = #expect(throws: InputError.self) { try records("\u{1B}[31m,\u{1B}[31m\n") }
    #expect(error?.description.contains("\u{1B}") == false)
    #expect(error?.description.contains("\\u001b[31m") == true)
  }

  private func source(_ bytes: [UInt8], bufferBytes: Int = 1 << 16) -> ByteSource {
    ByteSource(bytes: bytes, name: "in.csv", bufferBytes: bufferBytes)
  }

  private func records(_ input: String) throws -> [[String]] {
    try records(bytes: Array(input.utf8))
  }

  private func records(bytes: [UInt8], bufferBytes: Int = 1 << 16) throws(InputError) -> [[String]]
  {
    var reader = try CSVReader(source(bytes, bufferBytes: bufferBytes))
    var records: [[String]] = []
    while try reader.next() { records.append(reader.header.indices.map { reader.row.text($0) }) }
    return records
  }

  private func outcome(
    _ bytes: [UInt8], bufferBytes: Int = 1 << 16
  ) -> Result<[[String]], InputError> {
    do throws(InputError) {
      return .success(try records(bytes: bytes, bufferBytes: bufferBytes))
    } catch {
      return .failure(error)
    }
  }
}
