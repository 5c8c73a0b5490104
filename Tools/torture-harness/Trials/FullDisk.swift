import Cambium
import FoundationEssentials
import Simulation

/// Fills a small disk: the write fails with a clear error, reading continues, and after space was
/// freed writing does as well. Needs the right to mount. `quota` is the number of disks.
struct FullDisk {
  private let setting: Setting
  private let script: Script

  init(_ setting: Setting) {
    self.setting = setting
    script = Script(seed: setting.seed, .large, count: 60)
  }

  func run(_ cases: Cases) throws {
    for index in 0..<setting.quota {
      var random = SeededGenerator(seed: setting.seed, 23 + UInt64(index))
      let pages = 150 + random.below(400)
      if cases.isOver { return }
      cases.next("\(pages) pages") { try check(pages: pages) }
    }
  }

  private func check(pages: Int) throws {
    let place = "\(setting.directory)/small"
    System.unmount(place)
    System.remove(place)
    try System.makeDirectory(place)
    try System.mountMemory(place, bytes: pages * 4096)
    defer { System.unmount(place) }
    let ballast = [UInt8](repeating: 1, count: 64 * 4096)
    try System.makeFile("\(place)/ballast", ballast[...], [], size: ballast.count)
    let path = "\(place)/test.cambium"
    let (database, written) = try fill(path)
    System.remove("\(place)/ballast")
    guard let database else {
      try demand(!System.exists(path), "a database that could not be created is there")
      return
    }
    let head = try writeOn(database, path, after: written)
    // Verifying takes room for a second state, so the rest happens elsewhere.
    let copy = "\(setting.directory)/copy"
    System.remove(copy)
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    var marks = Marks()
    let lines = Array(repeating: "S", count: Int(head)) + ["C", "A \(head)", ""]
    marks.read(Array(lines.joined(separator: "\n").utf8))
    try Checker(script: script).check(copy, marks)
  }

  /// Writes until the disk is full.
  private func fill(_ path: String) throws -> (Database?, UInt64) {
    var head: UInt64 = 0
    var opened: Database?
    do {
      let database = try Database(at: path, options: .roomy)
      opened = database
      while head < UInt64(script.count - 2) { head = try script.writeNext(database) }
    } catch let error as DatabaseError {
      guard case .full = error else { throw Violation("P6: a full disk gives \(error)") }
    }
    if let opened {
      // Where the log had room and the state had not, what was committed shows with the next write
      // that has room for both.
      var (seen, isPresent) = (UInt64.zero, true)
      do { seen = try opened.head.rawValue } catch DatabaseError.stateBehind(
        let applied, let stored, _)
      {
        try demand(stored.rawValue >= head, "P6: \(stored) is said to be stored of \(head)")
        (seen, isPresent) = (applied.rawValue, false)
      }
      try demand(seen <= head, "P6: \(seen) is seen of \(head) on a full disk")
      try Checker(script: script).compare(opened, at: seen, isPresent: isPresent)
    }
    return (opened, head)
  }

  /// Writes once there is room; where the handle refuses, after opening again.
  private func writeOn(_ database: Database, _ path: String, after head: UInt64) throws -> UInt64 {
    do {
      let number = try script.writeNext(database)
      try demand(number == head + 1, "P6: \(number) was written after \(head)")
      try database.close()
      return number
    } catch DatabaseError.closed {
      try database.close()
    }
    let again = try Database(at: path, options: .roomy)
    let number = try script.writeNext(again)
    try demand(number == head + 1, "P6: \(number) was written after \(head), opened again")
    try again.close()
    return number
  }
}
