import Simulation

/// The content that a disk holds for sure, and the content that it may or may not hold yet, call
/// after call.
///
/// A written block may reach the disk at any time, in any order, until its file is synced; a name
/// until its directory is, or, with a journal, until anything is synced. The model: blocks of
/// 4 KiB, which may be torn at 512 bytes; a write through an `O_DSYNC` descriptor is durable when
/// it returns.
///
/// A sync that fails leaves what Linux leaves: some blocks have been written, and the others count
/// as clean. They stay in memory, and no later sync writes them, unless their block is written to
/// again.
struct Disk {
  /// When a directory's entries become durable.
  enum NameOrder: String, CaseIterable, Codable, Sendable {
    /// With the sync of anything, in the order in which they were made, as of ext4.
    case journal
    /// Only with the sync of their own directory, as POSIX says.
    case strict
  }

  /// Bytes that were written and not synced, within one block.
  struct Fragment {
    let id: Int
    let offset: Int
    let bytes: ArraySlice<UInt8>
    /// True if the system has given up writing it.
    fileprivate(set) var isDropped = false

    var block: Int { offset / Disk.blockSize }
  }

  /// A file's content.
  struct File {
    /// The content that is on the disk.
    var bytes: [UInt8] = []
    /// Changes whenever `bytes` does.
    var version = 0
    /// The fragments that may be on the disk, in the order of writing.
    var pending: [Fragment] = []
  }

  /// The file or directory that a name stands for.
  struct Entry: Hashable {
    let number: Int
    let isDirectory: Bool
  }

  /// The entries of every directory, by the directory's number; the root's is 0.
  typealias Names = [Int: [String: Entry]]

  /// One change of a directory; of two, where a name moves from one to another: that happens as a
  /// whole, and is durable with the directory that it moves to.
  struct NameChange {
    let directory: Int
    fileprivate let name: String
    /// The entry that the name stands for from now on; nil for none.
    fileprivate let entry: Entry?
    /// The name that `entry` had before, and the directory of that.
    fileprivate let former: (directory: Int, name: String)?

    /// True if another change is of the name that this one has moved away.
    fileprivate func takesAway(_ other: NameChange) -> Bool {
      former.map { $0.directory == other.directory && $0.name == other.name } ?? false
    }

    func apply(to names: inout Names) {
      if let former { names[former.directory]?[former.name] = nil }
      names[directory, default: [:]][name] = entry
      if let entry, entry.isDirectory, names[entry.number] == nil { names[entry.number] = [:] }
    }
  }

  let order: NameOrder
  private(set) var files: [Int: File] = [:]
  /// The names as the running system sees them.
  private(set) var liveNames: Names = [0: [:]]
  /// The names that are on the disk.
  private(set) var names: Names = [0: [:]]
  private(set) var pendingNames: [NameChange] = []
  /// Changes whenever `names` does.
  private(set) var namesVersion = 0
  private var byInode: [UInt64: Int] = [:]
  private var lastNumber = 0
  private var lastFragment = 0
  /// Decides which blocks a sync that fails has written.
  private var random: SeededGenerator

  static let blockSize = 4096
  static let sectorSize = 512

  init(_ order: NameOrder, seed: UInt64 = 0) {
    self.order = order
    random = SeededGenerator(seed: seed, 41)
  }

  /// The disk that a loss of power has left in a state.
  init(_ order: NameOrder, seed: UInt64, after state: DiskState, of disk: Disk) {
    self.init(order, seed: seed)
    names = disk.names(in: state)
    liveNames = names
    lastNumber = disk.lastNumber
    for (number, old) in disk.files {
      let (patches, size) = old.content(state.choices[number])
      var file = File()
      file.bytes = Array(old.bytes.prefix(size))
      file.bytes += [UInt8](repeating: 0, count: size - file.bytes.count)
      for (offset, bytes) in patches {
        file.bytes.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
      }
      files[number] = file
    }
  }

  // MARK: Calls

  /// Takes in a call. A write through an `O_DSYNC` descriptor is not durable before `settle`.
  mutating func run(_ call: Recording.Call) {
    if call.hasFailed && call.kind != .write { return }
    switch call.kind {
    case .open: open(call)
    case .write: write(call)
    case .truncate: truncate(call)
    case .sync: sync(call)
    case .rename: rename(call)
    case .link: if let entry = entry(at: call.path) { change(call.target, entry) }
    case .unlink, .removeDirectory: change(call.path, nil)
    case .makeDirectory: change(call.path, Entry(number: takeNumber(), isDirectory: true))
    case .mark, .allocate: break
    }
  }

  /// Makes durable what a call has made durable when it returns.
  mutating func settle(_ call: Recording.Call) {
    guard call.kind == .write, call.isSynced, let number = byInode[call.inode] else { return }
    let range = call.offset..<(call.offset + call.bytes.count)
    if call.isDropped { return drop(number) { range.contains($0.offset) } }
    settle(number) { range.contains($0.offset) && range.upperBound >= $0.offset + $0.bytes.count }
  }

  private mutating func takeNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  private mutating func open(_ call: Recording.Call) {
    if call.isDirectory { return }
    guard call.isNew else {
      if byInode[call.inode] == nil { byInode[call.inode] = entry(at: call.path)?.number }
      return
    }
    let entry = Entry(number: takeNumber(), isDirectory: false)
    byInode[call.inode] = entry.number
    files[entry.number] = File()
    change(call.path, entry)
  }

  private mutating func write(_ call: Recording.Call) {
    guard let number = byInode[call.inode] else { return }
    var (offset, rest) = (call.offset, call.bytes)
    while !rest.isEmpty {
      let piece = rest.prefix(Disk.blockSize - offset % Disk.blockSize)
      lastFragment += 1
      files[number]?.pending.append(Fragment(id: lastFragment, offset: offset, bytes: piece))
      offset += piece.count
      rest = rest.dropFirst(piece.count)
    }
  }

  private mutating func truncate(_ call: Recording.Call) {
    guard let number = byInode[call.inode], var file = files[number] else { return }
    settle(number) { !$0.isDropped }
    file = files[number] ?? file
    let missing = max(0, call.size - file.bytes.count)
    file.bytes = Array(file.bytes.prefix(call.size)) + [UInt8](repeating: 0, count: missing)
    file.version += 1
    files[number] = file
  }

  private mutating func sync(_ call: Recording.Call) {
    if call.isDirectory {
      if call.isDropped { return }
      guard let directory = entry(at: call.path) else { return }
      let isJournal = order == .journal
      settleNames { isJournal || $0.directory == directory.number }
    } else if let number = byInode[call.inode] {
      if call.isDropped { return drop(number) { _ in true } }
      settle(number) { !$0.isDropped }
      if order == .journal { settleNames { _ in true } }
    }
  }

  private mutating func settle(_ number: Int, _ isDurable: (Fragment) -> Bool) {
    guard var file = files[number] else { return }
    let chosen = file.withDropped(file.pending.map(isDurable))
    for (fragment, isChosen) in zip(file.pending, chosen) where isChosen {
      let end = fragment.offset + fragment.bytes.count
      if file.bytes.count < end {
        file.bytes += [UInt8](repeating: 0, count: end - file.bytes.count)
      }
      file.bytes.replaceSubrange(fragment.offset..<end, with: fragment.bytes)
      file.version += 1
    }
    file.pending = zip(file.pending, chosen).filter { !$0.1 }.map(\.0)
    files[number] = file
  }

  /// Lets a sync fail: some fragments are durable, and the others are given up.
  private mutating func drop(_ number: Int, _ isSynced: (Fragment) -> Bool) {
    let synced = (files[number]?.pending ?? []).filter { isSynced($0) && !$0.isDropped }
    let lost = Disk.some(of: synced.map(\.id), &random)
    settle(number) { isSynced($0) && !$0.isDropped && !lost.contains($0.id) }
    giveUp(number, lost)
  }

  /// Gives up some fragments, as a system does that could not write them in the background.
  mutating func dropSome(_ random: inout SeededGenerator) {
    for number in files.keys.sorted() {
      giveUp(number, Disk.some(of: (files[number]?.pending ?? []).map(\.id), &random))
    }
  }

  private mutating func giveUp(_ number: Int, _ lost: Set<Int>) {
    guard var file = files[number] else { return }
    for index in file.pending.indices where lost.contains(file.pending[index].id) {
      file.pending[index].isDropped = true
    }
    files[number] = file
  }

  /// One of several, those from one on, about half, or all. Few show more often: of a file that
  /// lacks half of its pages, somebody notices.
  private static func some(of ids: [Int], _ random: inout SeededGenerator) -> Set<Int> {
    if ids.isEmpty { return [] }
    switch random.below(5) {
    case 0, 1: return [random.pick(ids)]
    case 2: return Set(ids[random.below(ids.count)...])
    case 3: return Set(ids.filter { _ in random.oneIn(2) })
    default: return Set(ids)
    }
  }

  // MARK: Names

  private mutating func rename(_ call: Recording.Call) {
    guard let entry = entry(at: call.path) else { return }
    change(call.target, entry, former: place(of: call.path))
  }

  private func place(of path: String) -> (directory: Int, name: String)? {
    let keys = Disk.keys(path)
    guard let name = keys.last, let directory = directory(keys.dropLast()) else { return nil }
    return (directory, name)
  }

  private mutating func change(
    _ path: String, _ entry: Entry?, former: (directory: Int, name: String)? = nil
  ) {
    guard let (directory, name) = place(of: path) else { return }
    let change = NameChange(directory: directory, name: name, entry: entry, former: former)
    change.apply(to: &liveNames)
    pendingNames.append(change)
  }

  private mutating func settleNames(_ isDurable: (NameChange) -> Bool) {
    var left: [NameChange] = []
    for change in pendingNames {
      guard isDurable(change) else {
        left.append(change)
        continue
      }
      change.apply(to: &names)
      // A name that has durably moved away cannot come back by what was done to it before.
      left.removeAll { change.takesAway($0) }
      namesVersion += 1
    }
    pendingNames = left
  }

  private static func keys(_ path: String) -> [String] {
    path.split(separator: "/").map(String.init)
  }

  private func directory(_ keys: some Sequence<String>) -> Int? {
    var number = 0
    for key in keys {
      guard let entry = liveNames[number]?[key], entry.isDirectory else { return nil }
      number = entry.number
    }
    return number
  }

  private func entry(at path: String) -> Entry? {
    let keys = Disk.keys(path)
    guard let name = keys.last else { return Entry(number: 0, isDirectory: true) }
    return directory(keys.dropLast()).flatMap { liveNames[$0]?[name] }
  }
}
