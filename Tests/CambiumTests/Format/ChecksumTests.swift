import Simulation
import Testing

@testable import Cambium

// Vectors of xxHash's and BLAKE2's own tests, and further ones from other implementations.
@Suite("Checksums and digests")
struct ChecksumTests {
  /// 0, 1, … 255, and again.
  private static func counting(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0) }
  }

  private static func checksum(_ bytes: [UInt8], seed: UInt64 = 0) -> UInt64 {
    bytes.lend { Checksum.of($0, seed: seed) }
  }

  @Test(
    "are XXH3, at each length at which it works differently",
    arguments: [
      (0, 0x2D06_8005_38D3_94C2), (1, 0xC44B_DFF4_074E_ECDB), (3, 0x5F42_99FC_161C_9CBB),
      (4, 0x60DA_B036_A582_11F2), (8, 0x3A1C_2D7C_85AF_88F8), (9, 0xE961_2598_145B_B9DC),
      (16, 0x8355_E3A6_F617_70DB), (17, 0x9EF3_41A9_9DE3_7328), (128, 0x85C6_174C_7FF4_C46B),
      (129, 0xEC76_42B4_31BA_3E5A), (240, 0x375A_384D_957F_E865), (241, 0x02E8_CD95_421C_6D02),
      (256, 0x9408_A443_3B95_2D71), (256_000, 0x7764_74C3_9D20_F9AA),
    ] as [(Int, UInt64)])
  func checksums(_ count: Int, _ sum: UInt64) {
    #expect(Self.checksum(Self.counting(count)) == sum)
  }

  @Test("depend on the seed")
  func seeds() {
    #expect(Self.checksum([], seed: 0x9E37_79B1_85EB_CA8D) == 0xA8A6_B918_B2F0_364A)
    #expect(Self.checksum(Self.counting(256), seed: 1) == 0x524D_D680_2085_15EB)
    #expect(Self.checksum(Array("abc".utf8)) == 0x78AF_5F94_892F_3950)
  }

  @Test(
    "are BLAKE2b with 256 bits",
    arguments: [
      ([], "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"),
      (Array("abc".utf8), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"),
      (counting(256), "39a7eb9fedc19aabc83425c6755dd90e6f9d0c804964a1f4aaeea3b9fb599835"),
      (counting(256_000), "5d074c3f889bcba3b3a253496ee73cba18832b6d3c67d2b739dc202c78ed2581"),
    ] as [([UInt8], String)])
  func digests(_ bytes: [UInt8], _ hex: String) {
    #expect(bytes.lend { Digest.of($0) }.hex == hex)
  }

  @Test("are the same however the bytes come", arguments: FormatSeeds.first(3))
  func pieces(seed: UInt64) {
    var random = FormatRandom(seed: seed)
    let bytes = Self.counting(random.below(5_000))
    let digest = Digest()
    var offset = 0
    while offset < bytes.count {
      let count = min(random.below(300), bytes.count - offset)
      digest.update(Array(bytes[offset..<(offset + count)]))
      offset += count
    }
    digest.update([UInt8]())
    #expect(digest.finish() == bytes.lend { Digest.of($0) }, "seed \(seed)")
  }

  @Test("differ wherever one bit does")
  func sensitivity() {
    let bytes = Self.counting(300)
    let (sum, digest) = (Self.checksum(bytes), bytes.lend { Digest.of($0) })
    for index in bytes.indices {
      let changed = bytes.changing(index, by: 1 << UInt8(index % 8))
      #expect(Self.checksum(changed) != sum)
      #expect(changed.lend { Digest.of($0) } != digest)
    }
  }

  @Test("and salts are random")
  func randomness() {
    let salts = Set((0..<1_000).map { _ in Randomness.bytes(16) })
    #expect(salts.count == 1_000 && salts.allSatisfy { $0.count == 16 })
    #expect(Randomness.bytes(0).isEmpty)
  }
}
