/// The transaction that last set a property, or a node's single value.
public struct Blame: Hashable, Sendable {
  /// The transaction that last set a value, as far as it is known.
  public enum Setting: Hashable, Sendable {
    /// By this transaction.
    case by(TransactionInfo)
    /// By this transaction or one before it, which compaction has removed.
    case atOrBefore(SequenceNumber)
  }

  /// The property's name; nil for the single value of a node.
  public let property: String?
  /// The value that the property or node holds.
  public let value: Value
  /// The transaction that gave it that value: before, it held another, or was not there.
  public let set: Setting
}

extension Database {
  /// Finds the transaction that set each property of a record, or a single value.
  ///
  ///     for line in try database.blame("users/ada") {
  ///       if case .by(let transaction) = line.set {
  ///         print(line.property ?? "", line.value, transaction.metadata["who"] ?? "?")
  ///       }
  ///     }
  ///
  /// A transaction that wrote a value again as it was has not set it. One that put the node at the
  /// path, by a move or by restoring it, has set all of it.
  ///
  /// - Parameters:
  ///   - path: The node, or a property of it.
  ///   - moment: When it held the values; now by default.
  /// - Returns: A line for each property, in the order of their names; one for a single value; none
  ///   where there is no value.
  /// - Throws: As ``snapshot(at:)``.
  /// - Complexity: O(log *v*) lookups for each level of the path and for each property, of *v*
  ///   versions; as much again for each time that the node, or one above it, came to its place and
  ///   held the same before. Any thread.
  public func blame(_ path: NodePath, at moment: Moment = .now) throws -> [Blame] {
    let snapshot = try snapshot(at: moment)
    return try translating {
      var blaming = try Blaming(directory, snapshot[path])
      try blaming.walk(back: snapshot.sequence)
      return blaming.lines
    }
  }
}

/// Walks a node's versions back, until each value was different or not there.
private struct Blaming {
  private let directory: OpenDirectory
  private let path: NodePath
  private let isRecord: Bool
  private let values: [(name: String?, value: Value)]
  private var settings: [Blame.Setting?]
  private var infos: TransactionInfos

  init(_ directory: OpenDirectory, _ node: Node) throws {
    self.directory = directory
    path = node.path
    infos = TransactionInfos(directory)
    let isProperty = try node.modified == nil
    switch try node.value {
    case nil: (isRecord, values) = (false, [])
    case .map(let record)? where !isProperty:
      (isRecord, values) = (true, record.members.map { ($0.name, $0.value) })
    case let value?:
      (isRecord, values) = (false, [(isProperty ? node.key?.description : nil, value)])
    }
    settings = Array(repeating: nil, count: values.count)
  }

  var lines: [Blame] {
    zip(values, settings).compactMap { value, setting in
      setting.map { Blame(property: value.name, value: value.value, set: $0) }
    }
  }

  /// Looks back from a moment to the one at which the node was put in its place, and beyond where
  /// it held the same before.
  mutating func walk(back moment: SequenceNumber) throws {
    var moment = moment
    while settings.contains(nil) {
      let trace = try PathTrace(path, asOf: moment.rawValue, directory)
      if let holder = trace.holder { try walk(through: holder, trace, moment) }
      if !settings.contains(nil) { return }
      if trace.placed <= trace.horizon { return try endAtHorizon(SequenceNumber(trace.horizon)) }
      let sequence = SequenceNumber(trace.placed)
      moment = sequence.previous
      let before = try directory.snapshot(at: .sequence(moment))[path].value
      for index in settings.indices where settings[index] == nil {
        try settle(index, sequence, held(values[index].name, before))
      }
    }
  }

  /// Looks back through a node's versions, from a moment to the one at which it was placed.
  private mutating func walk(
    through holder: PathTrace.Holder, _ trace: PathTrace, _ moment: SequenceNumber
  ) throws {
    let names = try values.map { value in
      isRecord ? try value.name.flatMap { try trace.snapshot.nameID($0) } : holder.property
    }
    var versions = try trace.versions(of: holder, asOf: moment.rawValue)
    let present = try names.map { try $0.flatMap { try versions.current.value(of: $0) } }
    while settings.contains(nil) {
      let isThere = try versions.older { changed in
        settings.indices.contains {
          settings[$0] == nil && (names[$0].map(changed.mayHold) ?? (changed != .none))
        }
      }
      guard isThere, let replaced = versions.current.replaced, replaced > trace.placed else {
        return
      }
      let (version, sequence) = (versions.current, SequenceNumber(replaced))
      for index in settings.indices where settings[index] == nil {
        let stored = try names[index].flatMap { try version.value(of: $0) }
        if stored != nil && stored == present[index] { continue }
        try settle(index, sequence, held(index, names[index], stored, before: sequence))
      }
    }
  }

  /// The value that stood for one of the present ones before a transaction, by the stored property
  /// of the version that this transaction replaced.
  private func held(
    _ index: Int, _ property: NameID?, _ stored: [UInt8]?, before sequence: SequenceNumber
  ) throws -> Value? {
    if let stored, isRecord || stored != [ValueTag.null] {
      return try stored.lend { try Value($0) }
    }
    if isRecord && property != nil { return nil }
    // A node of another kind, or a property that is absent or null: that may have a default.
    let value = try directory.snapshot(at: .sequence(sequence.previous))[path].value
    return held(values[index].name, value)
  }

  /// Notes a transaction as the one that set a value, if that was another before.
  private mutating func settle(
    _ index: Int, _ sequence: SequenceNumber, _ before: Value?
  ) throws {
    if before != values[index].value { settings[index] = .by(try infos.info(sequence)) }
  }

  /// Marks the remaining values as set at or before the horizon.
  private mutating func endAtHorizon(_ horizon: SequenceNumber) throws {
    guard horizon > .zero else {
      throw DatabaseError.corrupt(reason: "no transaction has set what is at \(path)")
    }
    for index in settings.indices where settings[index] == nil {
      settings[index] = .atOrBefore(horizon)
    }
  }

  /// The value of a property in what the node held, or that value itself where it is no record.
  private func held(_ name: String?, _ value: Value?) -> Value? {
    guard isRecord, let name else { return value }
    if case .map(let record)? = value { return record[name] }
    return nil
  }
}
