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
  /// - Complexity: as walking the node's history back to its oldest value: O(log *v*) lookups for
  ///   each level of the path and version that is passed, of *v*. Any thread.
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

  mutating func walk(back moment: SequenceNumber) throws {
    var moment = moment
    while settings.contains(nil) {
      let trace = try PathTrace(path, asOf: moment.rawValue, directory)
      if trace.last <= trace.horizon { return try endAtHorizon(SequenceNumber(trace.horizon)) }
      let sequence = SequenceNumber(trace.last)
      moment = sequence.previous
      let before = try directory.snapshot(at: .sequence(moment))[path].value
      for index in values.indices where settings[index] == nil {
        if held(values[index].name, before) != values[index].value {
          settings[index] = .by(try infos.info(sequence))
        }
      }
    }
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
