import Testing

@testable import CambiumCommands

@Suite("The keys of a terminal") struct KeyDecoderTests {
  @Test(
    "are read out of its bytes, in whatever pieces they come",
    arguments: [
      ("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D", [.up, .down, .right, .left]),
      ("\u{1B}OA\u{1B}OB\u{1B}OH\u{1B}OF", [.up, .down, .home, .end]),
      (
        "\u{1B}[H\u{1B}[F\u{1B}[1~\u{1B}[4~\u{1B}[7~\u{1B}[8~",
        [.home, .end, .home, .end, .home, .end]
      ),
      ("\u{1B}[5~\u{1B}[6~\u{1B}[5;3~", [.pageUp, .pageDown, .pageUp]),
      ("\u{1B}[1;5A\u{1B}[1;2B", [.up, .down]),
      (
        "q é漢\u{3}",
        [.character("q"), .character(" "), .character("é"), .character("漢"), .character("\u{3}")]
      ),
      ("\u{1B}[15~\u{1B}[Zq\u{1B}[<0;1;2M", [.character("q")]),
      ("\u{1B}\u{1B}[A", [.escape, .up]), ("\u{1B}x", [.escape, .character("x")]),
    ] as [(String, [PressedKey])])
  func reading(_ text: String, _ expected: [PressedKey]) {
    let bytes = Array(text.utf8)
    var decoder = KeyDecoder()
    #expect(decoder.keys(bytes) == expected)
    for cut in bytes.indices {
      var decoder = KeyDecoder()
      #expect(decoder.keys(Array(bytes[..<cut])) + decoder.keys(Array(bytes[cut...])) == expected)
    }
    #expect(bytes.flatMap { decoder.keys([$0]) } == expected)
  }

  @Test("are escape alone once time has passed, and nothing of what stays incomplete")
  func time() {
    var decoder = KeyDecoder()
    #expect(decoder.keys([0x1B]) == [])
    #expect(decoder.flush() == [.escape])
    #expect(decoder.flush() == [])
    #expect(decoder.keys(Array("\u{1B}[1;".utf8)) == [])
    #expect(decoder.flush() == [])
    #expect(decoder.keys(Array("q".utf8)) == [.character("q")])
  }

  @Test("are none where bytes are no characters")
  func rubbish() {
    var decoder = KeyDecoder()
    #expect(
      decoder.keys([0xFF, 0x80, 0xC3, 0x41, 0xE6, 0x41]) == [.character("A"), .character("A")])
    let endless = [0x1B, 0x5B] + Array(repeating: UInt8(ascii: "1"), count: 40)
    #expect(decoder.keys(endless) == [] && decoder.keys(Array("q".utf8)) == [.character("q")])
  }
}
