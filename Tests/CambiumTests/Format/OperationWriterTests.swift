// Goal: the writer of operations, whose memory is used again, writes what a new one writes, and its
// search for the bytes that two paths share finds as many as a loop over single bytes.

import Simulation
import Testing

@testable import Cambium

@Suite("The writer of operations")
struct OperationWriterTests {
  @Test(
    "writes the same after it was cleared, or rewound", arguments: SeededGenerator.seeds([1, 2]))
  func reuse(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var used = OperationWriter()
    for _ in 0..<200 {
      used.clear()
      var fresh = OperationWriter(expecting: random.below(2) * 100)
      for _ in 0..<random.below(30) {
        let mark = used.mark
        used.write(operation(&random))
        if random.oneIn(3) {
          used.write(operation(&random))
          used.rewind(to: mark)
          let (kept, length) = (operation(&random), used.bytesCount)
          used.write(kept)
          fresh.write(kept)
          #expect(used.bytesCount > length)
        } else {
          used.rewind(to: mark)
        }
      }
      #expect(used.bytes == fresh.bytes)
      #expect(used.count == fresh.count && used.format == fresh.format)
      var reader = OperationReader(used.bytes)
      var read = 0
      while try reader.next() != nil { read += 1 }
      #expect(read == Int(used.count))
    }
  }

  private func operation(_ random: inout SeededGenerator) -> Operation {
    let keys = (0...random.below(4)).map { _ in
      Key.text(String(repeating: random.pick(["a", "b"]), count: 1 + random.below(20)))
    }
    let path = NodePath(keys: keys)
    let bytes = [UInt8](repeating: 7, count: 1 + random.below(random.oneIn(20) ? 400_000 : 40))
    switch random.below(4) {
    case 0: return .remove(path)
    case 1: return .change(path, 1, .include([5]))
    case 2: return .update(path, [.init(name: 3, value: bytes), .init(name: 4, value: nil)])
    default: return .set(path, Content(kind: .scalar, bytes: bytes))
    }
  }

  @Test("finds the bytes that two paths share", arguments: SeededGenerator.seeds([3]))
  func sharedPrefix(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20_000 {
      let one = bytes(&random)
      var other = random.oneIn(4) ? bytes(&random) : one
      if !other.isEmpty, random.oneIn(2) {
        other[random.below(other.count)] ^= 1 << random.below(8)
      }
      other.removeLast(random.below(other.count + 1))
      let naive = zip(one, other).prefix { $0 == $1 }.count
      let found = one.lend { one in other.lend { one.sharedPrefix(with: $0) } }
      #expect(found == naive, "\(one), \(other)")
    }
  }

  private func bytes(_ random: inout SeededGenerator) -> [UInt8] {
    (0..<random.below(40)).map { _ in UInt8(random.below(256)) }
  }
}
