// The layout of each file of a backup.
//
//      0  "CAMBACK" 00 | format version u32 (2; 1 in what earlier versions wrote)
//     12  pieces: a start, any number of others, an end
//
// A piece:
//
//      0  checksum u64   XXH3 of what follows, seeded with the piece's number in the file, from 0
//      8  kind u8
//      9  form u8        0: the content as it is, 1: compressed with zstd
//     10  size u64       of the content
//     18  count u64      of the bytes that follow
//     26  bytes
//
// A file without an end was cut short. The pieces themselves show if the file is in its place.

import LMDB

/// The kind of content that a piece holds; see BackupContent.swift.
enum PieceKind: UInt8 {
  case start = 1
  case baseline = 2
  case baselineFile = 3
  case records = 4
  case chunks = 5
  case end = 6
}

/// A file of a backup, and its digest.
enum BackupFile {
  static let magic = Array("CAMBACK\0".utf8)
  /// The format of backups. 2 has marks of baselines that say which fold made them.
  static let version: UInt32 = 2
  static let versions: ClosedRange<UInt32> = 1...2
  static let headerCount = 12
  static let pieceHeaderCount = 26
  /// A piece ends after so many bytes, if there are so many.
  static let pieceBytes = 1 << 20
  /// No piece's content is longer: less than the least, and then the longest record there can be.
  static let pieceBytesMax: UInt64 = 257 << 20

  static func header() -> [UInt8] {
    var bytes = magic
    bytes.append(littleEndian: version)
    return bytes
  }

  /// Refuses a format that this version does not know.
  ///
  /// - Throws: ``DatabaseError/unsupported(path:reason:)``.
  static func checkVersion(_ version: UInt32, _ path: String) throws {
    if versions.contains(version) { return }
    throw DatabaseError.unsupported(
      path: path,
      reason: "the backup is of format \(version), and this version of Cambium knows formats up to "
        + "\(BackupFile.version); restore it with the version that wrote it")
  }

  static func seed(_ number: UInt64) -> UInt64 {
    return [UInt8](littleEndian: number).lend { Checksum.of($0) }
  }
}

/// Writes the pieces of one file, wherever they go.
final class PieceWriter {
  private let write: ([UInt8]) throws -> Void
  private let digest: StreamDigest?
  private var number: UInt64 = 0
  /// The number of bytes written.
  private(set) var size: UInt64 = 0
  /// Where the newest piece begins, and its number.
  private(set) var newest = PiecePlace()

  /// Writes the header.
  ///
  /// - Parameters:
  ///   - digest: Gets all that is written, if anybody wants its digest.
  ///   - write: Takes the next bytes.
  /// - Throws: Any error that `write` throws.
  init(to digest: StreamDigest? = nil, _ write: @escaping ([UInt8]) throws -> Void) throws {
    self.digest = digest
    self.write = write
    try append(BackupFile.header())
  }

  func add(_ kind: PieceKind, _ content: [UInt8]) throws {
    // Chunks are compressed already, each on its own.
    let isWorthIt = kind != .chunks && content.count > 64
    let compressed = isWorthIt ? content.lend { Zstandard.compressed($0) } : nil
    let isShorter = compressed.map { $0.count < content.count } ?? false
    let bytes = isShorter ? compressed ?? [] : content
    var piece = [UInt8](repeating: 0, count: 8)
    piece.reserveCapacity(BackupFile.pieceHeaderCount + bytes.count)
    piece.append(kind.rawValue)
    piece.append(isShorter ? 1 : 0)
    piece.append(littleEndian: UInt64(content.count))
    piece.append(littleEndian: UInt64(bytes.count))
    piece += bytes
    let seed = BackupFile.seed(number)
    piece.store(piece.lend { Checksum.of($0.extracting(droppingFirst: 8), seed: seed) }, at: 0)
    newest = PiecePlace(offset: size, number: number)
    number += 1
    try append(piece)
  }

  private func append(_ bytes: [UInt8]) throws {
    digest?.update(bytes)
    size += UInt64(bytes.count)
    try write(bytes)
  }
}

/// The place of a piece in its file.
struct PiecePlace: Equatable {
  var offset: UInt64 = 0
  var number: UInt64 = 0
}

/// Reads the pieces of one file, and checks them.
final class PieceReader {
  private let file: FileReader
  private let content = Digest()
  private var number: UInt64
  /// The number of bytes read.
  private(set) var size: UInt64 = 0

  /// Begins with the first piece.
  ///
  /// - Throws: ``DatabaseError/unsupported(path:reason:)`` where it is no file of a backup.
  init(_ path: String) throws {
    file = try FileReader(path)
    number = 0
    let header = try read(BackupFile.headerCount)
    guard header.starts(with: BackupFile.magic), header.count == BackupFile.headerCount else {
      throw DatabaseError.unsupported(path: path, reason: "it is not a backup of Cambium's")
    }
    try BackupFile.checkVersion(try header.lend { try $0.load(UInt32.self, at: 8) }, path)
  }

  /// Begins with a piece whose place is known.
  init(_ path: String, at place: PiecePlace) throws {
    file = try FileReader(path, from: place.offset)
    number = place.number
  }

  /// The next piece, or nil at the end of the file.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  func next() throws -> (kind: PieceKind, content: [UInt8])? {
    let header = try read(BackupFile.pieceHeaderCount)
    if header.isEmpty { return nil }
    guard header.count == BackupFile.pieceHeaderCount else { throw PieceReader.short }
    let (size, count) = try header.lend {
      (try $0.load(UInt64.self, at: 10), try $0.load(UInt64.self, at: 18))
    }
    guard size <= BackupFile.pieceBytesMax, count <= BackupFile.pieceBytesMax else {
      throw damage()
    }
    let bytes = try read(Int(count))
    guard bytes.count == Int(count) else { throw PieceReader.short }
    let piece = header + bytes
    defer { number += 1 }
    return try piece.lend { try content(of: $0, size: Int(size)) }
  }

  /// BLAKE2b-256 of all that was read, after reading what is left.
  func digest() throws -> [UInt8] {
    while try !read(BackupFile.pieceBytes).isEmpty {}
    return content.current()
  }

  private func content(of piece: RawSpan, size: Int) throws -> (PieceKind, [UInt8]) {
    let seed = BackupFile.seed(number)
    guard
      try piece.load(UInt64.self, at: 0)
        == Checksum.of(piece.extracting(droppingFirst: 8), seed: seed),
      let kind = PieceKind(rawValue: try piece.load(UInt8.self, at: 8))
    else { throw damage() }
    let bytes = piece.extracting(droppingFirst: BackupFile.pieceHeaderCount)
    let isCompressed = try piece.load(UInt8.self, at: 9) == 1
    let content =
      try isCompressed ? Zstandard.decompressed(bytes, countMax: size) : bytes.array()
    guard content.count == size else { throw damage() }
    return (kind, content)
  }

  private func read(_ count: Int) throws -> [UInt8] {
    let bytes = try file.read(count)
    content.update(bytes)
    size += UInt64(bytes.count)
    return bytes
  }

  private func damage() -> DatabaseError {
    .corrupt(reason: "piece \(number) is not what was stored")
  }

  private static let short = DatabaseError.corrupt(reason: "it was cut short")
}
