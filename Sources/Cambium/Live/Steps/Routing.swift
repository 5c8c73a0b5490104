/// The mailboxes and guards of a router, and the moment up to which it has routed.
struct Routing: ~Copyable {
  /// The number with which observing is stopped; nil while nothing is observed.
  var observation: Int?
  private(set) var routed = SequenceNumber.zero
  private let index = GuardIndex()
  /// The mailboxes by their slots; those that are free are nil.
  private var mailboxes: [LiveMailbox?] = []
  private var freeSlots: [Int32] = []
  /// The slots of mailboxes that every commit concerns.
  private var watchers: Set<Int32> = []
  private var recent = RecentCommits(after: .zero)
  /// The newest commit in which changes of collections without guards may be missing.
  private var lastPartial = SequenceNumber.zero
  /// The number of names when those of guards were looked up.
  private var nameCount = 0
  /// The names and declarations of the last declaration that was routed.
  private var declared = Catalog()
  /// The generation of the state that was routed from.
  private var generation: UInt64?
  /// The tasks to resume.
  private var woken: [LiveMailbox.Waiter] = []

  var isEmpty: Bool { index.isEmpty && freeSlots.count == mailboxes.count }

  /// Takes the tasks to resume, once the lock is released.
  mutating func takeWoken() -> [LiveMailbox.Waiter] {
    if woken.isEmpty { return [] }
    defer { woken = [] }
    return woken
  }

  // MARK: Mailboxes

  /// Begins with the commit after a moment.
  mutating func begin(after moment: SequenceNumber, _ generation: UInt64?) {
    routed = moment
    lastPartial = .zero
    recent = RecentCommits(after: moment)
    self.generation = generation
  }

  /// Ends observing, and frees everything.
  ///
  /// - Returns: The number with which it is stopped.
  mutating func end() -> Int? {
    mailboxes = []
    freeSlots = []
    recent = RecentCommits(after: routed)
    declared = Catalog()
    return observation.take()
  }

  mutating func add(_ guards: [LiveGuard], _ names: Catalog) -> LiveMailbox {
    let slot = freeSlots.popLast() ?? Int32(mailboxes.count)
    let mailbox = LiveMailbox(after: routed, slot: slot)
    if Int(slot) == mailboxes.count {
      mailboxes.append(mailbox)
    } else {
      mailboxes[Int(slot)] = mailbox
    }
    set(guards, of: slot, newest(names))
    return mailbox
  }

  private mutating func set(_ guards: [LiveGuard], of slot: Int32, _ names: Catalog) {
    note(names)
    index.set(guards, of: slot, since: routed, names)
  }

  /// The names by which guards are resolved. A query looks them up outside of the lock, and a
  /// declaration may have been routed since: by the former one, a record without a property would
  /// have another value, and since guards that stay are not resolved again, the query would miss
  /// commits until the next declaration. One that is not routed yet does no harm, since all queries
  /// lose their changes by it.
  private func newest(_ names: Catalog) -> Catalog {
    names.collections.version < declared.collections.version ? declared : names
  }

  private mutating func note(_ names: Catalog) {
    // An earlier guard's names may be in this catalog: they are looked up with the next commit.
    if !index.hasUnknownNames { nameCount = names.count }
    nameCount = min(nameCount, names.count)
  }

  /// Has every commit concern a mailbox: its query is run again after each.
  mutating func watch(_ mailbox: LiveMailbox) {
    guard has(mailbox), watchers.insert(mailbox.slot).inserted else { return }
    if mailbox.taken < routed { woken += mailbox.lose(upTo: routed) }
  }

  mutating func replace(_ guards: [LiveGuard], of mailbox: LiveMailbox, _ names: Catalog) {
    guard has(mailbox) else { return }
    watchers.remove(mailbox.slot)
    set(guards, of: mailbox.slot, newest(names))
    catchUp(mailbox)
  }

  mutating func edit(
    removing: [LiveGuard], adding: [LiveGuard], of mailbox: LiveMailbox, _ names: Catalog
  ) {
    guard has(mailbox) else { return }
    let names = newest(names)
    note(names)
    index.edit(removing: removing, adding: adding, of: mailbox.slot, since: routed, names)
    catchUp(mailbox)
  }

  /// Gives a mailbox with other guards what they let through since it has taken its changes.
  private mutating func catchUp(_ mailbox: LiveMailbox) {
    if mailbox.taken >= routed { return }
    guard let moment = mailbox.restart(), let commits = recent.after(moment),
      lastPartial <= moment || !index.hasGuard(of: mailbox.slot, since: moment)
    else { return woken += mailbox.lose(upTo: routed) }
    for commit in commits { replay(commit, to: mailbox) }
  }

  /// Gives one mailbox the changes of a commit that was routed before.
  private mutating func replay(_ commit: RoutedCommit, to mailbox: LiveMailbox) {
    for change in commit.changes where index.isConcerned(mailbox.slot, by: change) {
      let net = NetChange(change, in: change.path.parent ?? .root)
      woken += mailbox.add(net, of: commit.sequence)
    }
    switch commit.lost {
    case .everything: woken += mailbox.lose(upTo: commit.sequence)
    case .collections(let paths):
      for path in paths {
        index.find(in: path)
        if index.found.contains(mailbox.slot) { woken += mailbox.lose(upTo: commit.sequence) }
      }
    }
  }

  mutating func remove(_ mailbox: LiveMailbox) {
    guard has(mailbox) else { return }
    index.remove(mailbox.slot)
    watchers.remove(mailbox.slot)
    mailboxes[Int(mailbox.slot)] = nil
    freeSlots.append(mailbox.slot)
  }

  private func has(_ mailbox: LiveMailbox) -> Bool {
    Int(mailbox.slot) < mailboxes.count && mailboxes[Int(mailbox.slot)] === mailbox
  }

  /// Has all queries wait until ``release()``.
  func hold() { for case let mailbox? in mailboxes { mailbox.hold() } }

  /// Ends ``hold()``.
  mutating func release() {
    for case let mailbox? in mailboxes { woken += mailbox.release() }
  }

  /// Ends all waits.
  mutating func stir(isClosing: Bool) {
    for case let mailbox? in mailboxes { woken += mailbox.stir(isClosing: isClosing) }
  }

  // MARK: Commits

  /// Routes a commit of this process, the one after those that were routed.
  mutating func route(_ committed: CommittedChanges, in directory: OpenDirectory) {
    guard observation != nil, committed.sequence > routed else { return }
    do {
      try prepare(for: committed, in: directory)
      route(try whole(committed, in: directory))
    } catch {
      loseEverything(upTo: committed.sequence)
    }
  }

  /// Brings the names up to a commit.
  private mutating func prepare(
    for committed: CommittedChanges, in directory: OpenDirectory
  ) throws {
    try compareGeneration(in: directory)
    let isStale = index.hasUnknownNames && committed.names > nameCount
    guard isStale || committed.declares else { return }
    var names = directory.stateInUse.catalog
    // The thread that has committed may not have kept its catalog yet.
    if committed.declares || names.count < committed.names {
      names = try directory.currentState().catalog()
    }
    resolve(names)
  }

  private mutating func resolve(_ names: Catalog) {
    index.resolve(names)
    (nameCount, declared) = (names.count, names.withoutSlots)
  }

  /// A new generation of the state may have been made from a log that was repaired.
  private mutating func compareGeneration(in directory: OpenDirectory) throws {
    guard let newest = directory.stateInUse.generation, newest != generation else { return }
    let isFirst = generation == nil
    generation = newest
    if isFirst { return }
    resolve(try directory.currentState().catalog())
    throw DatabaseError.closed(reason: "another state is in use")
  }

  /// The commit, with the records of subtrees that came or went as a whole.
  private func whole(
    _ committed: CommittedChanges, in directory: OpenDirectory
  ) throws -> RoutedCommit {
    let sequence = committed.sequence
    if committed.declares { return RoutedCommit(sequence: sequence, lost: .everything) }
    let subtrees = committed.changes.lazy.filter(\.isSubtree).map(\.path)
      .filter { [index] in !index.collections(within: $0).isEmpty }
    let places = Array(subtrees).apart()
    if places.isEmpty {
      // The records of a subtree that came or went are not there, in case they are guarded later.
      let isPartial = committed.changes.contains(where: \.isSubtree)
      return RoutedCommit(
        sequence: sequence, changes: committed.changes, isPartial: isPartial)
    }
    let logged = try LoggedChanges(directory, index, after: sequence.previous)
    return try logged.commit(committed, subtrees: places)
  }

  /// Routes the commits up to a visible one that were not handed on.
  mutating func read(upTo sequence: SequenceNumber, in directory: OpenDirectory) {
    guard observation != nil, routed < sequence else { return }
    guard sequence.rawValue - routed.rawValue <= LoggedChanges.commitsMax else {
      return loseEverything(upTo: sequence)
    }
    do {
      let logged = try LoggedChanges(directory, index, after: routed)
      try compareGeneration(in: directory)
      if index.hasUnknownNames, try logged.names.count > nameCount { resolve(try logged.names) }
      var left = LoggedChanges.changesMax
      while routed < sequence {
        let commit = try logged.commit(routed.next)
        if case .everything = commit.lost { resolve(try logged.names) }
        left -= commit.changes.count
        if left < 0 { return loseEverything(upTo: sequence) }
        route(commit)
      }
    } catch {
      loseEverything(upTo: sequence)
    }
  }

  private mutating func loseEverything(upTo sequence: SequenceNumber) {
    route(RoutedCommit(sequence: sequence, lost: .everything))
  }

  private mutating func route(_ commit: RoutedCommit) {
    for change in commit.changes {
      guard let collection = index.find(change) else { continue }
      let net = NetChange(change, in: collection.path)
      for slot in index.found {
        if let mailbox = mailboxes[Int(slot)] { woken += mailbox.add(net, of: commit.sequence) }
      }
    }
    switch commit.lost {
    case .everything:
      for case let mailbox? in mailboxes { woken += mailbox.lose(upTo: commit.sequence) }
    case .collections(let paths): for path in paths { lose(path, upTo: commit.sequence) }
    }
    for slot in watchers {
      if let mailbox = mailboxes[Int(slot)] { woken += mailbox.lose(upTo: commit.sequence) }
    }
    if commit.isPartial { lastPartial = commit.sequence }
    recent.add(commit)
    routed = commit.sequence
  }

  private mutating func lose(_ collection: NodePath, upTo sequence: SequenceNumber) {
    index.find(in: collection)
    for slot in index.found {
      if let mailbox = mailboxes[Int(slot)] { woken += mailbox.lose(upTo: sequence) }
    }
  }

  /// Traps unless the index finds for a change what a look at every guard finds.
  func checkIndex(_ change: RecordChange) {
    let found = index.find(change) == nil ? [] : Set(index.found)
    precondition(found == index.slotsOneByOne(change), "the index of guards misses a mailbox")
  }
}

extension [NodePath] {
  /// The paths in order, without those within others.
  fileprivate func apart() -> [NodePath] {
    var apart: [NodePath] = []
    for path in sorted() {
      if let last = apart.last, path.isWithin(last) { continue }
      apart.append(path)
    }
    return apart
  }
}
