import FoundationEssentials
import Synchronization

@testable import Cambium

/// A time of day that stands still until a test moves it on.
final class TestClock: Sendable {
  private let time = Mutex(Date(timeIntervalSince1970: 1_700_000_000))

  var now: Date { time.withLock { $0 } }

  func advance(_ duration: Duration) { time.withLock { $0 += duration.seconds } }

  /// Lets time pass, and a transaction be written, by whose time a database judges leases.
  func pass(_ duration: Duration, in database: Database) throws {
    advance(duration)
    try database.commit { tx in try tx.set("time", to: .date(now)) }
  }

  /// Makes a database go by this clock, and look for nothing in the background.
  func configure(_ options: inout Database.Options) {
    options.clock = { self.now }
    options.compactionLook.every = .seconds(86_400)
    options.scrubPause = nil
  }
}

extension Duration {
  static func days(_ count: Int) -> Duration { .seconds(86_400 * count) }
}

extension Database {
  /// The ends of all leases.
  var leases: [[UInt8]: Int64] {
    get throws { try directory.log.read { try BlobLeases($0).all() } }
  }

  /// True for each blob that is stored whole.
  func holds(_ blobs: Blob...) throws -> [Bool] {
    try directory.log.read { log in try blobs.map { try log.hasBlob($0) } }
  }
}

/// Bytes that follow from a number, and that hardly compress.
func noise(_ number: Int, count: Int) -> Data {
  var state = UInt64(number) &* 0x9E37_79B9_7F4A_7C15 | 1
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count + 8)
  while bytes.count < count {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: state >> shift &* 31 ^ state >> 33))
    }
  }
  return Data(bytes.prefix(count))
}
