import Simulation

/// Makes up the states in which a loss of power may leave a disk at one moment: nothing, all, each
/// prefix, each fragment alone, all but each, random subsets, torn fragments, and only the size.
struct DiskStates {
  private let disk: Disk
  private var random: SeededGenerator

  init(_ disk: Disk, _ random: SeededGenerator) {
    self.disk = disk
    self.random = random
  }

  /// States of this moment, each once, at most `quota` of them; a sample where there are more.
  mutating func all(quota: Int) -> [DiskState] {
    var states: Set<DiskState> = []
    var list: [DiskState] = []
    func add(_ state: DiskState) { if states.insert(state).inserted { list.append(state) } }
    let busy = disk.files.filter { !$0.value.pending.isEmpty }.keys.sorted()
    for names in nameChoices() {
      for isThere in [false, true] {
        let choices = busy.map { ($0, whole($0, isThere)) }
        add(state(isThere ? "all" : "none", names, choices))
      }
    }
    for focus in busy {
      for (reason, choice) in focused(focus, quota: quota) {
        var choices = busy.map { $0 == focus ? ($0, choice) : ($0, someChoice($0)) }
        if reason == "size" { choices.removeAll { $0.0 != focus } }
        add(state("file \(focus) \(reason)", random.pick(nameChoices()), choices))
      }
    }
    return list.sample(quota, &random)
  }

  private func state(
    _ reason: String, _ names: [Bool], _ choices: [(Int, DiskState.Choice)]
  ) -> DiskState {
    DiskState(
      reason: reason, names: names, choices: Dictionary(uniqueKeysWithValues: choices))
  }

  // MARK: Names

  /// The choices of pending names that may be there: none, all, and some. Within a directory, and
  /// with a journal altogether, none is there without those before it.
  private mutating func nameChoices() -> [[Bool]] {
    let pending = disk.pendingNames
    if pending.isEmpty { return [[]] }
    var choices = [pending.map { _ in false }, pending.map { _ in true }]
    for _ in 0..<3 {
      var limits: [Int: Int] = [:]
      for change in pending where limits[limitKey(change)] == nil {
        limits[limitKey(change)] = random.below(pending.count + 1)
      }
      choices.append(pending.enumerated().map { $0.offset < limits[limitKey($0.element)] ?? 0 })
    }
    return choices
  }

  private func limitKey(_ change: Disk.NameChange) -> Int {
    disk.order == .journal ? 0 : change.directory
  }

  // MARK: Fragments

  private func count(_ file: Int) -> Int { disk.files[file]?.pending.count ?? 0 }

  private func whole(_ file: Int, _ isThere: Bool) -> DiskState.Choice {
    DiskState.Choice(fragments: Array(repeating: isThere, count: count(file)))
  }

  /// Any choice, for a file that is not looked at closely.
  private mutating func someChoice(_ file: Int) -> DiskState.Choice {
    switch random.below(3) {
    case 0: whole(file, false)
    case 1: whole(file, true)
    default: DiskState.Choice(fragments: (0..<count(file)).map { _ in random.oneIn(2) })
    }
  }

  /// The choices for a file that is looked at closely; of very many fragments, those of a sample.
  private mutating func focused(_ file: Int, quota: Int) -> [(String, DiskState.Choice)] {
    let count = count(file)
    var choices: [(String, DiskState.Choice)] = []
    let indices = Array(0..<count).sample(quota, &random)
    for index in indices {
      let prefix = (0..<count).map { $0 <= index }
      choices.append(("prefix \(index + 1)/\(count)", .init(fragments: prefix)))
      let only = (0..<count).map { $0 == index }
      choices.append(("only \(index + 1)/\(count)", .init(fragments: only)))
      choices.append(("without \(index + 1)/\(count)", .init(fragments: only.map { !$0 })))
      choices += torn(file, index)
    }
    for number in 0..<(count > 1 ? 12 : 0) {
      let subset = (0..<count).map { _ in random.oneIn(2) }
      choices.append(("subset \(number)", .init(fragments: subset)))
    }
    choices.append(("size", .init(fragments: indices.map { _ in false }, hasNewSize: true)))
    return choices
  }

  /// A fragment that is there in part: up to a sector, or some sectors.
  private mutating func torn(_ file: Int, _ index: Int) -> [(String, DiskState.Choice)] {
    guard let fragment = disk.files[file]?.pending[index] else { return [] }
    let first = fragment.offset / Disk.sectorSize
    let sectors = (fragment.offset + fragment.bytes.count - 1) / Disk.sectorSize - first + 1
    if sectors < 2 { return [] }
    let upTo = UInt8(1 << (1 + random.below(sectors - 1)) - 1)
    let some = UInt8(random.below(1 << sectors))
    return [upTo, some].map { mask in
      var choice = whole(file, true)
      choice.torn = index
      choice.sectors = mask
      return ("torn \(index + 1)/\(count(file)) sectors \(String(mask, radix: 2))", choice)
    }
  }
}
