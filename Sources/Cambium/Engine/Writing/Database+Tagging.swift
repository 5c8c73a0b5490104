// Named moments.

extension Database {
  /// The named moments, by sequence number and then by name. Reading them throws
  /// ``DatabaseError/corrupt(reason:)`` if an entry is damaged, ``DatabaseError/closed(reason:)``
  /// after `close`.
  public var tags: [CommitTag] {
    get throws {
      if directory.feed.isClosed { throw DatabaseError.closed(reason: "the database is closed") }
      return try translating { try directory.log.read { try $0.tags() } }
    }
  }

  /// Names a moment, which can then be read as ``Moment/tag(_:)``.
  ///
  ///     try database.tag("release-1")
  ///     let then = try database.snapshot(at: .tag("release-1"))
  ///
  /// The name is stored in the log, durable when the call returns. It is not a transaction: the
  /// ``head`` stays, and observers are not notified.
  ///
  /// - Parameters:
  ///   - name: At most 400 bytes, without spaces, control characters and `..`, and with neither a
  ///     dot at its ends nor a `-` in front.
  ///   - moment: The moment to name; now by default.
  /// - Returns: The tag.
  /// - Throws: ``DatabaseError/badKey(_:reason:)`` for an invalid name,
  ///   ``DatabaseError/exists(_:reason:)`` if it names another moment already,
  ///   ``DatabaseError/noSuchMoment(reason:)``; as `write` does. Nothing is stored then.
  /// - Complexity: one durable flush; it waits for its turn as a synchronous `write` does.
  @discardableResult
  public func tag(_ name: String, at moment: Moment = .now) throws -> CommitTag {
    try CommitTag.check(name)
    return try writer.exclusively {
      try translating {
        let tag = CommitTag(name: name, sequence: try snapshot(at: moment).sequence)
        if let other = try directory.log.readNewest({ try $0.tag(name) }) {
          if other == tag.sequence { return tag }
          throw DatabaseError.exists(
            NodePath(keys: [.text(name)]), reason: "the tag is of transaction \(other)")
        }
        try directory.log.setTag(name, to: tag.sequence)
        return tag
      }
    }
  }

  /// Removes the name of a moment; the moment itself stays.
  ///
  /// - Parameter name: The tag's name.
  /// - Returns: True if there was one.
  /// - Throws: As `write` does. Nothing is changed then.
  /// - Complexity: one durable flush.
  @discardableResult
  public func removeTag(_ name: String) throws -> Bool {
    try writer.exclusively {
      try translating {
        guard try directory.log.readNewest({ try $0.tag(name) }) != nil else { return false }
        try directory.log.setTag(name, to: nil)
        return true
      }
    }
  }
}

extension Database.Transaction {
  /// Names a moment with this transaction, which gets no record for that.
  ///
  /// - Parameters:
  ///   - name: As in ``Database/tag(_:at:)``.
  ///   - moment: The moment to name.
  /// - Returns: The tag.
  /// - Throws: As ``Database/tag(_:at:)``.
  package func tag(_ name: String, at moment: Moment) throws -> CommitTag {
    try CommitTag.check(name)
    try running.use()
    return try translating {
      let sequence = try running.directory.snapshot(at: moment).sequence
      if let other = try sequenceOfTag(name), other != sequence {
        throw DatabaseError.exists(
          NodePath(keys: [.text(name)]), reason: "the tag is of transaction \(other)")
      }
      running.draft.additions.tags[name] = .some(sequence)
      return CommitTag(name: name, sequence: sequence)
    }
  }

  /// Removes the name of a moment with this transaction.
  ///
  /// - Parameter name: The tag's name.
  /// - Returns: True if there was one.
  /// - Throws: As ``Database/removeTag(_:)``.
  package func removeTag(_ name: String) throws -> Bool {
    try running.use()
    return try translating {
      if try sequenceOfTag(name) == nil { return false }
      running.draft.additions.tags[name] = .some(nil)
      return true
    }
  }

  private func sequenceOfTag(_ name: String) throws -> SequenceNumber? {
    if let added = running.draft.additions.tags[name] { return added }
    return try running.directory.log.readNewest { try $0.tag(name) }
  }
}

extension Log {
  /// Stores or removes a tag; the writer's turn and lock must be held.
  fileprivate func setTag(_ name: String, to sequence: SequenceNumber?) throws {
    try damage.checkNone()
    try amend { try $0.setTag(name, to: sequence) }
  }
}
