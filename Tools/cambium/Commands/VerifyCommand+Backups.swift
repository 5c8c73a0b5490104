// `cambium verify BACKUP`: whether a backup is what was stored, and which moments it holds.

import Cambium
import FoundationEssentials

extension VerifyCommand {
  static func verifyBackup(_ call: Call) throws {
    if call.has(replay) || call.has(pages) {
      throw Failure.usage("--replay and --pages are for databases, not for backups")
    }
    let start = ContinuousClock.now
    let path = call.database
    let backup = try ProgressBar.showing(call, unit: "bytes") {
      try Database.checkBackup(path, progress: $0)
    }
    let time = ContinuousClock.now - start
    try call.output.report(json(backup)) { try write(backup, time, path, call.output) }
    if backup.isSound { return }
    throw Failure.corrupt(
      "the backup is damaged",
      hint: backup.moments.isEmpty
        ? "nothing can be restored from it"
        : "`cambium restore \(Shell.quoted(path)) NEWDB --at \(backup.newest)` restores what is "
          + "before the damage")
  }

  private static func write(
    _ backup: Backup, _ time: Duration, _ path: String, _ output: Output
  ) throws {
    let words = backup.isSound ? "is a sound backup" : "is a damaged backup"
    try output.verdict(Terminal.escaped(path), words, isSound: backup.isSound)
    let names = backup.tags.map { Terminal.escaped($0.name) }
    let entries: Entries = [
      "holds": moments(backup), "newest": backup.time.map { Zone.system.exactText($0) },
      "tags": names.isEmpty ? nil : names.joined(separator: ", "),
      "database": backup.origin.uuidString.lowercased(),
      "size": "\(Quantity.bytes(backup.bytes)) in \(Quantity.count(backup.parts, "part"))",
      "time": Quantity.seconds(time),
    ]
    try output.table(entries, indent: 2)
    for damage in backup.damage {
      try output.line(StyledLine("  ✗ \(Terminal.escaped(damage))", .deleted).text(output.style))
    }
  }

  private static func moments(_ backup: Backup) -> String {
    if backup.moments.isEmpty { return "nothing that can be restored" }
    return backup.moments.map { range in
      range.lowerBound == range.upperBound
        ? "tx \(range.upperBound)" : "tx \(range.lowerBound) to \(range.upperBound)"
    }.joined(separator: ", and ")
  }

  private static func json(_ backup: Backup) -> JSONLine {
    [
      "sound": backup.isSound, "origin": backup.origin, "parts": backup.parts,
      "bytes": backup.bytes,
      "moments": backup.moments.map { ["from": $0.lowerBound, "to": $0.upperBound] as JSONLine },
      "tags": backup.tags.map { ["name": $0.name, "sequence": $0.sequence] as JSONLine },
      "damage": backup.damage.map { ["description": $0] as JSONLine },
    ]
  }
}
