import CLMDBRaw

/// Appended history without links between versions: the present version holds a directory of
/// the older ones, like the right edge of a B-tree.
///
///     header, flags = levels | count u8 per level | links of level 0, 1, … | record      tree
///     node's key | header, flags = levels spilled | full levels of links | record        history
///
/// Level 0 has links to the newest versions, oldest first. When it is full, the version being
/// superseded takes it along into the history, and a link to that entry goes to level 1, and so
/// on. So
/// an update reads no history, and a search reads at most one entry per level.
extension HistoryStore {
  static let linkBytes = 10

  /// Writes the entry of the version in `old`, and composes the value of its successor in `value`,
  /// except
  /// for the changed property. Returns the size of what comes before the record.
  func supersedeInDirectory(_ old: UnsafeRawBufferPointer, in history: RawCursor) throws -> Int {
    let fanOut = layout.fanOut
    let levels = unsafe Int(old[1])
    let directory = unsafe DirectoryView(old)
    var spilled = 0
    while spilled < levels, directory.count(spilled) == fanOut { spilled += 1 }
    let record = unsafe UnsafeRawBufferPointer(rebasing: old[(old.count - Self.recordBytes)...])

    unsafe try writeDirectoryEntry(old, directory, spilled, record, in: history)
    let newLevels = max(levels, spilled + 1)
    unsafe VersionHeader(modified: sequence).write(to: value, linked: false)
    unsafe value[1] = UInt8(newLevels)
    var size = VersionHeader.plainBytes + newLevels
    for level in 0..<newLevels {
      var count = level < spilled || level >= levels ? 0 : directory.count(level)
      if count > 0 {
        let links = unsafe directory.links(level)
        unsafe UnsafeMutableRawBufferPointer(rebasing: value[size...]).copyMemory(from: links)
        size += links.count
      }
      if level == spilled {
        unsafe value.storeBytes(of: sequence, toByteOffset: size, as: UInt64.self)
        unsafe value.storeBytes(of: historyCount, toByteOffset: size + 6, as: UInt32.self)
        size += Self.linkBytes
        count += 1
      }
      unsafe value[VersionHeader.plainBytes + level] = UInt8(count)
    }
    unsafe UnsafeMutableRawBufferPointer(rebasing: value[size...]).copyMemory(from: record)
    historyCount += 1
    return size
  }

  private func writeDirectoryEntry(
    _ old: UnsafeRawBufferPointer, _ directory: DirectoryView, _ spilled: Int,
    _ record: UnsafeRawBufferPointer, in history: RawCursor
  ) throws {
    unsafe value.copyMemory(
      from: UnsafeRawBufferPointer(rebasing: old[..<VersionHeader.plainBytes]))
    unsafe value[1] = UInt8(spilled)
    var size = VersionHeader.plainBytes
    for level in 0..<spilled {
      let links = unsafe directory.links(level)
      unsafe UnsafeMutableRawBufferPointer(rebasing: value[size...]).copyMemory(from: links)
      size += links.count
    }
    unsafe UnsafeMutableRawBufferPointer(rebasing: value[size...]).copyMemory(from: record)
    writeEntryKey(.init(supersededAt: sequence, index: historyCount))
    let entry = unsafe UnsafeRawBufferPointer(
      rebasing: node[..<(Self.keyBytes + size + Self.recordBytes)])
    unsafe try history.put(MDB_val(entryKey, 12), entry, flags: MDB_APPEND)
  }

  /// The newest version that was there at the moment; nil if there was none yet.
  func versionInDirectory(
    _ present: UnsafeRawBufferPointer, asOf moment: UInt64, in history: RawCursor
  ) throws -> UnsafeRawBufferPointer? {
    let directory = unsafe DirectoryView(present)
    var level = unsafe Int(present[1])
    var found: VersionHeader.Link?
    while found == nil && level > 0 {
      level -= 1
      unsafe found = firstLink(after: moment, in: directory.links(level))
    }
    var version: UnsafeRawBufferPointer?
    while let link = found {
      guard let entry = unsafe try entry(at: link, in: history) else { throw broken(link) }
      unsafe version = entry
      found = nil
      while found == nil && level > 0 {
        level -= 1
        let bytes = layout.fanOut * Self.linkBytes
        let start = VersionHeader.plainBytes + level * bytes
        unsafe found = firstLink(
          after: moment, in: UnsafeRawBufferPointer(rebasing: entry[start..<(start + bytes)]))
      }
    }
    guard let version = unsafe version else { return nil }
    return unsafe VersionHeader(version).modified <= moment ? version : nil
  }

  /// The oldest link to a version that was superseded after the moment.
  @inline(__always)
  private func firstLink(
    after moment: UInt64, in links: UnsafeRawBufferPointer
  ) -> VersionHeader.Link? {
    var offset = 0
    while offset < links.count {
      let link = unsafe VersionHeader.link(links, at: offset)
      if link.supersededAt > moment { return link }
      offset += Self.linkBytes
    }
    return nil
  }
}

/// The directory in a node's present value.
@safe struct DirectoryView {
  private let bytes: UnsafeRawBufferPointer

  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) { unsafe self.bytes = bytes }

  @inline(__always)
  func count(_ level: Int) -> Int { unsafe Int(bytes[VersionHeader.plainBytes + level]) }

  @inline(__always)
  func links(_ level: Int) -> UnsafeRawBufferPointer {
    var start = unsafe VersionHeader.plainBytes + Int(bytes[1])
    for lower in 0..<level { start += count(lower) * HistoryStore.linkBytes }
    let end = start + count(level) * HistoryStore.linkBytes
    return unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<end])
  }
}
