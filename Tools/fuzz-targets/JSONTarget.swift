import Cambium

@testable import CambiumCommands

/// The JSON reader: the size of its buffer, the form and whether it is typed, then the input.
///
/// The size of the buffer must not matter. And a value that was read must be the same after it was
/// written and read again.
enum JSONTarget {
  static let target = FuzzTarget(name: "json", seeds: seeds, run: run)

  private static func seeds() throws -> [[UInt8]] {
    let expected = "CambiumTests/Fixtures/format-1.expected.jsonl"
    let lines = try Fixtures.beginning(of: expected, lines: 4)
    let hash = String(repeating: "0a", count: 32)
    let texts = [
      #"{"a":[1,-2.5e3,true,null,"é\u00e9\ud83d\ude00\n"],"b":{"c":{}}}"#, "[[[[]]],{},\"\"]",
      #"{"$integer":"9223372036854775807"}"#, #"{"$double":"-inf"}"#,
      #"{"$double":"0xfff8000000000001"}"#, #"{"$data":"3q2+7w=="}"#,
      #"{"$date":"2013-01-01T10:00:00.25Z"}"#, #"{"$decimal":"-12.5e-9"}"#,
      #"{"$uuid":"0192f0c1-2d3e-7f40-8abc-def012345678"}"#, #"{"$reference":"a/b~1c/7"}"#,
      #"{"$blob":"\#(hash)","size":7}"#, #"{"$$":1,"$$$date":{"x":[0.1,1e-300]}}"#,
      "1\n\n[2]\n{\"a\":3}\n", "\u{FEFF} \t-0",
    ]
    return ([lines] + texts.map { Array($0.utf8) }).flatMap { [[3, 0] + $0, [99, 3] + $0] }
  }

  private static func run(_ input: inout FuzzInput) {
    let bufferBytes = 1 + Int(input.byte())
    let choice = input.byte()
    let form: JSONTokens.Form = choice & 1 == 0 ? .document : .lines
    let isTyped = choice & 2 != 0
    let bytes = Array(input.rest)
    let whole = values(bytes, form, isTyped, bufferBytes: bytes.count + 1)
    require(
      values(bytes, form, isTyped, bufferBytes: bufferBytes) == whole, "the buffer does not matter")
    for value in (try? whole.get()) ?? [] {
      requireReturn(of: value, { JSONWriter.text($0) }) {
        try JSONReader.value(of: $0, name: "again")
      }
    }
  }

  private static func values(
    _ bytes: [UInt8], _ form: JSONTokens.Form, _ isTyped: Bool, bufferBytes: Int
  ) -> Result<[Value], InputError> {
    do throws(InputError) {
      let source = ByteSource(bytes: bytes, name: "input", bufferBytes: bufferBytes)
      var reader = try JSONReader(source, form: form, isTyped: isTyped)
      var values: [Value] = []
      while let value = try reader.value() { values.append(value) }
      return .success(values)
    } catch {
      require((error.place?.offset ?? 0) <= UInt64(bytes.count), "\(error) lies in the input")
      _ = error.description
      return .failure(error)
    }
  }
}
