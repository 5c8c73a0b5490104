// A backup that is a directory, to which each run adds one file.
//
//     shop.backup/
//       manifest      what belongs to it: replaced atomically, after all that it names is durable
//       part-1        the first run
//       part-2        what the log got until the second run; and so on
//
// The manifest:
//
//     "CAMBMAN" 00 | version u32 (2) | format entry, as in the log | parts u32
//     per part: size u64 | offset u64 and number u64 of its end | BLAKE2b-256 of the file
//     checksum u64      XXH3 of what is before, seeded with that of "manifest"
//
// A part that no manifest names is what a crash has left; the next run removes it.

import LMDB

/// The list of the files that belong to a backup, and the database that it is of.
struct BackupManifest: Equatable {
  /// One file.
  struct Part: Equatable {
    var size: UInt64
    var end: PiecePlace
    var digest: [UInt8]
  }

  var format: FormatEntry
  var parts: [Part] = []

  static let name = "manifest"
  private static let magic = Array("CAMBMAN\0".utf8)
  private static let formatCount = 36
  private static let partCount = 24 + Digest.bytesCount

  init(format: FormatEntry) { self.format = format }

  init(_ sealed: [UInt8]) throws {
    var manifest: BackupManifest?
    try sealed.lend { bytes in
      try MetaEntry.open(bytes, name: Array(BackupManifest.name.utf8)) {
        manifest = try BackupManifest($0)
      }
    }
    guard let manifest else { throw DatabaseError.corrupt(reason: "there is no manifest") }
    self = manifest
  }

  private init(_ bytes: RawSpan) throws {
    guard try bytes.array(0, 8) == BackupManifest.magic else {
      throw DatabaseError.unsupported(path: "", reason: "the manifest is not one of Cambium's")
    }
    try BackupFile.checkVersion(try bytes.load(UInt32.self, at: 8), "")
    format = try FormatEntry(bytes.extracting(droppingFirst: 12))
    var offset = 12 + BackupManifest.formatCount
    let count = try bytes.load(UInt32.self, at: offset)
    offset += 4
    for _ in 0..<count {
      let place = PiecePlace(
        offset: try bytes.load(UInt64.self, at: offset + 8),
        number: try bytes.load(UInt64.self, at: offset + 16))
      parts.append(
        Part(
          size: try bytes.load(UInt64.self, at: offset), end: place,
          digest: try bytes.array(offset + 24, Digest.bytesCount)))
      offset += BackupManifest.partCount
    }
  }

  func stored() -> [UInt8] {
    var bytes = BackupManifest.magic
    bytes.append(littleEndian: BackupFile.version)
    bytes += format.stored()
    bytes.append(littleEndian: UInt32(parts.count))
    for part in parts {
      bytes.append(littleEndian: part.size)
      bytes.append(littleEndian: part.end.offset)
      bytes.append(littleEndian: part.end.number)
      bytes += part.digest
    }
    return MetaEntry.seal(bytes, name: Array(BackupManifest.name.utf8))
  }
}

/// The files of a backup.
struct BackupDirectory {
  let path: String

  static func part(_ number: Int) -> String { "part-\(number)" }

  /// Reads the manifest; nil where there is none.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  func manifest() throws -> BackupManifest? {
    let file = "\(path)/\(BackupManifest.name)"
    guard Files.exists(file) else { return nil }
    return try BackupManifest(try FileReader(file).read(Int(Files.size(of: file))))
  }

  /// True if the directory holds nothing but the leftovers of a run that did not come to its end.
  func isUnused() throws -> Bool {
    try Files.names(in: path).allSatisfy {
      BackupDirectory.isTemporary($0) || $0 == BackupDirectory.part(1)
    }
  }

  /// Removes what a crash has left.
  func sweep(after manifest: BackupManifest?) throws {
    let next = BackupDirectory.part((manifest?.parts.count ?? 0) + 1)
    for name in try Files.names(in: path) where BackupDirectory.isTemporary(name) || name == next {
      try Files.remove("\(path)/\(name)")
    }
  }

  private static func isTemporary(_ name: String) -> Bool {
    name == "manifest.tmp" || name.hasPrefix("part-") && name.hasSuffix(".tmp")
  }

  /// Makes a manifest the one that counts, durably. All that it names is durable.
  func publish(_ manifest: BackupManifest) throws {
    let file = "\(path)/\(BackupManifest.name)"
    let writer = try FileWriter(creating: file + ".tmp")
    try writer.append(manifest.stored())
    try writer.sync()
    try Files.replace(file, with: file + ".tmp")
    try Files.sync(path)
  }

  /// Reads the end of each part, the oldest first.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  func ends(_ manifest: BackupManifest) throws -> [PartEnd] {
    try manifest.parts.enumerated().map { index, part in
      let name = BackupDirectory.part(index + 1)
      let file = "\(path)/\(name)"
      guard Files.size(of: file) == part.size,
        let piece = try PieceReader(file, at: part.end).next(), piece.kind == .end
      else {
        throw DatabaseError.corrupt(reason: "\(name) of the backup is not what was stored")
      }
      return try piece.content.lend { try PartEnd($0) }
    }
  }
}
