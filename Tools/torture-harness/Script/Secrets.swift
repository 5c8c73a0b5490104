import LMDB
import Simulation

/// The texts that are written where an erasure takes everything out, and nowhere else. Each begins
/// with letters by which it is recognized; there are others after each erasure.
struct Secrets: Sendable {
  private let starts: [[UInt8]]
  private let erasures: [UInt64]

  private static let letters = 14

  init(seed: UInt64, erasures: [UInt64]) {
    var random = SeededGenerator(seed: seed, 43)
    starts = (0...erasures.count).map { _ in
      (0..<Secrets.letters).map { _ in UInt8(97 + random.below(26)) }
    }
    self.erasures = erasures
  }

  /// The secret that a transaction writes.
  func text(_ number: UInt64) -> String {
    let era = erasures.count { $0 < number }
    return String(decoding: starts[era], as: UTF8.self) + "\(number)"
  }

  /// Demands that the files of a database have no secret that was erased up to a moment: not in any
  /// page, in use or free, not compressed, and not with all bits turned, as indexes store what is
  /// sorted downwards.
  func demandErased(upTo head: UInt64, from path: String) throws {
    let gone = starts.prefix(erasures.count { $0 <= head })
    if gone.isEmpty { return }
    let patterns = gone.map { $0 } + gone.map { $0.map { ~$0 } }
    for file in try Secrets.files(in: path) {
      let bytes = System.read("\(path)/\(file)")
      for pattern in patterns {
        try demand(!Secrets.has(pattern, bytes[...]), "an erased value is left in \(file)")
      }
      for frame in Secrets.frames(bytes) {
        let content = System.decompressed(bytes[frame...])
        for pattern in patterns {
          try demand(
            !Secrets.has(pattern, content[...]),
            "an erased value is left in \(file), compressed, at byte \(frame)")
        }
      }
    }
  }

  /// The files in a database's directory, and in the directories there.
  private static func files(in path: String) throws -> [String] {
    try Files.names(in: path).flatMap { name in
      let inside = Files.names(in: "\(path)/\(name)", startingWith: "")
      return inside.isEmpty ? [name] : inside.map { "\(name)/\($0)" }
    }
  }

  private static func has(_ pattern: [UInt8], _ bytes: ArraySlice<UInt8>) -> Bool {
    System.place(of: pattern, in: bytes) != nil
  }

  /// The places at which a frame of zstd may begin.
  private static func frames(_ bytes: [UInt8]) -> [Int] {
    var frames: [Int] = []
    var start = 0
    while let place = System.place(of: [0x28, 0xB5, 0x2F, 0xFD], in: bytes[start...]) {
      frames.append(place)
      start = place + 4
    }
    return frames
  }
}
