/// One way in which a disk may look after a loss of power.
struct DiskState: Hashable {
  /// The choice of a file's pending fragments that have reached the disk.
  struct Choice: Hashable {
    var fragments: [Bool]
    /// A fragment of which only some sectors have.
    var torn: Int?
    var sectors: UInt8 = 0
    /// True if the file has its new size, although nothing of its content is there.
    var hasNewSize = false
  }

  /// A description of how it came about, for people.
  var reason: String
  /// True for each pending name that has reached the disk.
  var names: [Bool]
  /// The state of each file, by its number; a file without pending fragments is left out.
  var choices: [Int: Choice]

  /// Two states are the same if they look the same.
  static func == (a: DiskState, b: DiskState) -> Bool {
    a.names == b.names && a.choices == b.choices
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(names)
    hasher.combine(choices)
  }
}

extension Disk {
  /// Numbers that distinguish this moment's durable content from another's.
  var durableIdentity: [Int] {
    [namesVersion] + files.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value.version] }
      + files.values.flatMap { $0.pending.map(\.id) }.sorted()
  }

  /// Writes a state into an empty directory.
  func write(_ state: DiskState, to path: String) throws {
    try write(0, names(in: state), state, to: path)
  }

  /// The names that are there in a state.
  func names(in state: DiskState) -> Names {
    var names = self.names
    for (change, isThere) in zip(pendingNames, state.names) where isThere {
      change.apply(to: &names)
    }
    return names
  }

  /// The state that an orderly unmount leaves: all but what the system has given up.
  var whole: DiskState {
    DiskState(
      reason: "whole", names: pendingNames.map { _ in true },
      choices: files.mapValues { .init(fragments: $0.pending.map { !$0.isDropped }) })
  }

  private func write(
    _ directory: Int, _ names: Names, _ state: DiskState, to path: String
  ) throws {
    try System.makeDirectory(path)
    for (name, entry) in names[directory] ?? [:] {
      if entry.isDirectory {
        try write(entry.number, names, state, to: "\(path)/\(name)")
      } else if let file = files[entry.number] {
        let (patches, size) = file.content(state.choices[entry.number])
        try System.makeFile("\(path)/\(name)", file.bytes[...], patches, size: size)
      }
    }
  }
}

extension Disk.File {
  /// The size when all that is pending is there.
  var sizeToBe: Int { pending.map { $0.offset + $0.bytes.count }.max() ?? bytes.count }

  /// The bytes that a choice adds to the durable content, and the file's size with them.
  func content(
    _ choice: DiskState.Choice?
  ) -> (patches: [(Int, ArraySlice<UInt8>)], size: Int) {
    let patches = choice.map(self.patches) ?? []
    let end = patches.map { $0.0 + $0.1.count }.max() ?? 0
    var size = max(bytes.count, end)
    if choice?.hasNewSize == true { size = max(size, sizeToBe) }
    return (patches, size)
  }

  /// A choice of fragments with those that the system has given up: one of these is there exactly
  /// if its block was written to again, and that is there.
  func withDropped(_ chosen: [Bool]) -> [Bool] {
    var result = chosen
    var written: Set<Int> = []
    for index in pending.indices.reversed() where index < chosen.count {
      let block = pending[index].block
      if pending[index].isDropped { result[index] = written.contains(block) }
      if result[index] { written.insert(block) }
    }
    return result
  }

  /// The bytes that a choice adds to the durable content, each part with its offset.
  fileprivate func patches(_ choice: DiskState.Choice) -> [(Int, ArraySlice<UInt8>)] {
    var patches: [(Int, ArraySlice<UInt8>)] = []
    let isThere = withDropped(choice.fragments)
    for (index, fragment) in pending.enumerated() {
      if choice.torn == index && !fragment.isDropped {
        patches += sectors(fragment, choice.sectors)
      } else if index < isThere.count, isThere[index] {
        patches.append((fragment.offset, fragment.bytes))
      }
    }
    return patches
  }

  /// Some 512-byte sectors of a fragment.
  private func sectors(
    _ fragment: Disk.Fragment, _ mask: UInt8
  ) -> [(Int, ArraySlice<UInt8>)] {
    var sectors: [(Int, ArraySlice<UInt8>)] = []
    var (offset, rest, index) = (fragment.offset, fragment.bytes, 0)
    while !rest.isEmpty {
      let piece = rest.prefix(Disk.sectorSize - offset % Disk.sectorSize)
      if mask >> UInt8(index) & 1 == 1 { sectors.append((offset, piece)) }
      (offset, rest, index) = (offset + piece.count, rest.dropFirst(piece.count), index + 1)
    }
    return sectors
  }
}
