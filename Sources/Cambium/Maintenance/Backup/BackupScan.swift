// Reading a backup from its start to its end, checking all of it without LMDB.
//
//     part: start, then chunks and records in any order, end
//     a baseline, with its file in pieces, may come before records
//
// Each piece has its checksum, and the digest of each part is in the manifest. BackupChain.swift
// says how the pieces go together.

import FoundationEssentials
import LMDB

/// Walks over the pieces of a backup, once.
final class BackupScan {
  /// A file, and what the manifest says of it.
  private struct File {
    let path: String
    let name: String
    let part: BackupManifest.Part?
  }

  private let files: [File]
  private let progress: ProgressReporter
  private let bytes: UInt64
  private var bytesRead: UInt64 = 0
  /// Checks how the pieces go together.
  let chain: BackupChain

  /// The contents that were found until now.
  var contents: Backup { chain.contents }

  /// Opens a backup.
  ///
  /// - Throws: ``DatabaseError/unsupported(path:reason:)``, ``DatabaseError/noDatabase(path:)``,
  ///   ``DatabaseError/corrupt(reason:)`` where the manifest is damaged.
  init(_ path: String, wantedTime: Int64? = nil, _ progress: ProgressHandler?) throws {
    guard Files.exists(path) else { throw DatabaseError.noDatabase(path: path) }
    self.progress = ProgressReporter(progress)
    let format: FormatEntry
    if Files.isDirectory(path) {
      guard let manifest = try BackupDirectory(path: path).manifest() else {
        throw DatabaseError.unsupported(path: path, reason: "it has no manifest of a backup")
      }
      format = manifest.format
      files = manifest.parts.enumerated().map { index, part in
        let name = BackupDirectory.part(index + 1)
        return File(path: "\(path)/\(name)", name: name, part: part)
      }
    } else {
      format = try BackupScan.format(of: path)
      files = [File(path: path, name: path, part: nil)]
    }
    bytes = files.reduce(0) { $0 + Files.size(of: $1.path) }
    chain = BackupChain(format, wantedTime: wantedTime)
    chain.contents.parts = files.count
    chain.contents.bytes = bytes
  }

  /// Reads the database's format entry from a file's own start.
  private static func format(of path: String) throws -> FormatEntry {
    let reader = try PieceReader(path)
    guard let piece = try reader.next(), piece.kind == .start else {
      throw DatabaseError.corrupt(reason: "\(path) has no start")
    }
    return try piece.content.lend { try PartStart($0) }.format
  }

  // MARK: Walking

  /// Reads all, and notes what is wrong instead of throwing it. After damage only the digests of
  /// further files are compared.
  /// Blobs are not demanded where all that is there is to be restored: earlier versions let values
  /// refer to some that were never stored.
  func check(demandsBlobs: Bool = false) throws {
    if demandsBlobs { chain.references = BackupReferences() }
    var rest = files.enumerated().makeIterator()
    while let (index, file) = rest.next() {
      do {
        if contents.isSound {
          _ = try scan(file, index) { _ in true }
        } else {
          try compare(file)
        }
      } catch DatabaseError.corrupt(let reason) {
        chain.contents.damage.append(reason)
      }
    }
    if contents.isSound { chain.contents.damage = chain.references?.missing ?? [] }
  }

  /// Reads, and shows each step, until `visit` says that it has enough.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)``, and what `visit` throws.
  func run(_ visit: (BackupChain.Step) throws -> Bool) throws {
    for (index, file) in files.enumerated() {
      if try !scan(file, index, visit) { return }
    }
  }

  private func scan(
    _ file: File, _ index: Int, _ visit: (BackupChain.Step) throws -> Bool
  ) throws -> Bool {
    try naming(file) {
      let reader = try PieceReader(file.path)
      guard let start = try reader.next(), start.kind == .start else {
        throw DatabaseError.corrupt(reason: "it has no start")
      }
      try chain.begin(try start.content.lend { try PartStart($0) }, index)
      while let piece = try reader.next() {
        try progress.tell("check", bytesRead + reader.size, bytes)
        if piece.kind == .end {
          try chain.finish(try piece.content.lend { try PartEnd($0) })
          let size = reader.size
          try compare(try reader.digest(), reader.size, file)
          guard reader.size == size else {
            throw DatabaseError.corrupt(reason: "there is something after its end")
          }
          bytesRead += size
          return true
        }
        if try !visit(chain.step(piece.kind, piece.content)) { return false }
      }
      throw DatabaseError.corrupt(reason: "it was cut short")
    }
  }

  /// Reads a file for its digest alone.
  private func compare(_ file: File) throws {
    try naming(file) {
      try progress.tell("check", bytesRead, bytes)
      let reader = try PieceReader(file.path)
      let digest = try reader.digest()
      try compare(digest, reader.size, file)
      bytesRead += reader.size
    }
  }

  private func compare(_ digest: [UInt8], _ size: UInt64, _ file: File) throws {
    guard file.part.map({ $0.digest == digest && $0.size == size }) ?? (size == bytes) else {
      throw DatabaseError.corrupt(reason: "it is not what was stored")
    }
  }

  /// Names the file in what is wrong with it.
  private func naming<R>(_ file: File, _ body: () throws -> R) throws -> R {
    do { return try body() } catch DatabaseError.corrupt(let reason) {
      throw DatabaseError.corrupt(reason: "\(file.name): \(reason)")
    } catch DatabaseError.unsupported(_, let reason) {
      throw DatabaseError.corrupt(reason: "\(file.name): \(reason)")
    } catch let error as StorageError where error.kind == .missing {
      throw DatabaseError.corrupt(reason: "\(file.name) is missing")
    }
  }
}
