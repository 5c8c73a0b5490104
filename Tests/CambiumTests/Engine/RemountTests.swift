// A file system that loses what was not on the disk, and is mounted again within one start of the
// system.
//
// Goal: a state of which pages are missing is not used. Method: ext4 in a file, on a loop device. A
// child writes, and then shuts the file system down without its journal, as a loss of power would;
// the parent mounts it again, where the kernel gives the mount its old number. Every acknowledged
// transaction must be there.

import Foundation
import LMDB
import Testing

@testable import Cambium

@Suite(
  "A file system that is mounted again", .timeLimit(.minutes(3)),
  .enabled(if: LoopDisk.isAvailable, "it takes a loop device, mkfs.ext4 and the right to mount"))
struct RemountTests {
  private let place: Place
  private let disk: LoopDisk

  init() throws {
    place = try Place()
    disk = try LoopDisk(in: place.beside("loop"))
  }

  @Test("keeps every acknowledged transaction, since a torn state is not used", arguments: 1...5)
  func tornState(round: Int) async throws {
    try disk.mount()
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [
        disk = disk.mountPoint as String, round = round as Int,
        acknowledged = place.beside("acknowledged") as String,
      ] in
      let file = try WakeFile(path: acknowledged)
      let database = try Database(at: "\(disk)/test.cambium")
      for number in 1...(400 + 37 * round) {
        try database.commit { tx in
          try tx.set(
            NodePath(keys: ["n", .integer(Int64(number % 211))]), to: ["x": .integer(Int64(number))]
          )
        }
        file.write(UInt64(number))
        // Some pages of the state get to the disk, and later ones do not.
        if number % (90 + 7 * round) == 0 { sync() }
      }
      LoopDisk.shutDown(disk)
      kill(getpid(), SIGKILL)
    }
    try disk.unmount()
    try disk.mount()
    defer { try? disk.unmount() }
    let acknowledged = try #require(try WakeFile(path: place.beside("acknowledged")).read())
    let heard = Heard()
    var options = Database.Options()
    options.diagnostics = heard.add
    let database = try Database(at: "\(disk.mountPoint)/test.cambium", options: options)
    #expect(try database.head.rawValue >= acknowledged)
    #expect(heard.rebuilds.count == 1)
    for number in (acknowledged - 210)...acknowledged {
      let key = NodePath(keys: ["n", .integer(Int64(number % 211))])
      #expect(try database.read { try $0[key]["x"] } == .integer(Int64(number)))
    }
    try expectSound(database)
    try await database.close()
  }

  @Test("has another identity, which a second mount of it has as well")
  func identity() throws {
    var identities: Set<String> = []
    for _ in 0..<3 {
      try disk.mount()
      identities.insert(Platform.mountIdentity(of: disk.mountPoint))
      try disk.unmount()
    }
    // Where the kernel has no unique ids, the same one is given again, and it does not say unique.
    let areUnique = identities.allSatisfy { $0.hasPrefix(Platform.uniqueMount) }
    #expect(identities.count == 3 || !areUnique)
  }
}

/// A file system of ext4 in a file.
struct LoopDisk {
  let mountPoint: String
  private let image: String

  static let isAvailable: Bool = {
    guard geteuid() == 0, let place = try? Place(),
      let disk = try? LoopDisk(in: place.beside("loop"))
    else { return false }
    return (try? disk.mount()) != nil && (try? disk.unmount()) != nil
  }()

  init(in directory: String) throws {
    try Files.createDirectory(directory)
    mountPoint = "\(directory)/mount"
    image = "\(directory)/image"
    try Files.createDirectory(mountPoint)
    try Data().write(to: URL(filePath: image))
    #expect(unsafe truncate(image, 64 << 20) == 0)
    try LoopDisk.run("mkfs.ext4", "-q", "-F", image)
  }

  func mount() throws { try LoopDisk.run("mount", "-o", "loop", image, mountPoint) }

  /// The system still closes the files of a process for a while after it was killed.
  func unmount() throws {
    for _ in 0..<100 {
      if (try? LoopDisk.status("umount", mountPoint)) == 0 { return }
      usleep(50_000)
    }
    try LoopDisk.run("umount", mountPoint)
  }

  /// Ends all use of the file system at once: nothing more is written, not even its journal.
  static func shutDown(_ mountPoint: String) {
    let descriptor = unsafe open(mountPoint, O_RDONLY | O_DIRECTORY)
    var withoutLog: UInt32 = 2
    // EXT4_IOC_SHUTDOWN
    #expect(unsafe ioctl(descriptor, 0x8004_587D, &withoutLog) == 0)
  }

  private static func run(_ arguments: String...) throws {
    try #require(try status(arguments) == 0, "\(arguments) failed")
  }

  private static func status(_ arguments: String...) throws -> Int32 { try status(arguments) }

  private static func status(_ arguments: [String]) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }
}
