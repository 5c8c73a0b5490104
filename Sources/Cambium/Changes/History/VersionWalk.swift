/// Walks the versions that show at a path, from the one of a moment on, as long as nothing on the
/// way there comes or goes: what each shows, without making a snapshot of each moment.
struct VersionWalk {
  /// The value that a version shows at the path.
  struct Shown {
    /// The value; nil for none, and where it is not known.
    let value: Value?
    /// False for a property that is absent or null, whose value may be a default that was declared.
    let isKnown: Bool
    /// The property's stored value; nil for a node itself.
    fileprivate let stored: [UInt8]?
  }

  /// A change from one version to the next.
  struct Change {
    let sequence: SequenceNumber
    let old: Shown
    let new: Shown
  }

  private let trace: PathTrace
  private let property: NameID?
  private var versions: VersionChain
  private var shown: Shown
  /// The number of bytes of content that were passed.
  private(set) var bytesCount = 0

  /// Begins at a moment; nil where nothing shows at the path.
  init?(_ trace: PathTrace, asOf moment: UInt64) throws {
    guard let holder = trace.holder else { return nil }
    self.trace = trace
    property = holder.property
    versions = try trace.versions(of: holder, asOf: moment)
    shown = try VersionWalk.shown(versions.current, property, trace)
  }

  /// The next older change after a transaction; nil where there is none.
  mutating func older(after bound: UInt64) throws -> Change? {
    let property = property
    while try versions.older(where: { property.map($0.mayHold) ?? true }) {
      guard let replaced = versions.current.replaced, replaced > bound else { return nil }
      if let (old, new) = try step() {
        return Change(sequence: SequenceNumber(replaced), old: new, new: old)
      }
    }
    return nil
  }

  /// The next newer change before a transaction; nil where there is none.
  mutating func newer(before bound: UInt64) throws -> Change? {
    while let replaced = versions.current.replaced, replaced < bound, try versions.newer() {
      if let (old, new) = try step() {
        return Change(sequence: SequenceNumber(replaced), old: old, new: new)
      }
    }
    return nil
  }

  /// Looks at the version that the walk has come to.
  ///
  /// - Returns: The value before and the one that it shows; nil if it is a property, and the same.
  private mutating func step() throws -> (before: Shown, now: Shown)? {
    let before = shown
    bytesCount += versions.current.content.count
    shown = try VersionWalk.shown(versions.current, property, trace)
    return property != nil && before.stored == shown.stored ? nil : (before, shown)
  }

  private static func shown(
    _ version: VersionChain.Version, _ property: NameID?, _ trace: PathTrace
  ) throws -> Shown {
    guard let property else {
      let value = try version.content.lend {
        try Value($0, version.kind, trace.snapshot.names)
      }
      return Shown(value: value, isKnown: true, stored: nil)
    }
    let stored = try version.value(of: property)
    guard let stored, stored != [ValueTag.null] else {
      return Shown(value: nil, isKnown: false, stored: stored)
    }
    return Shown(value: try stored.lend { try Value($0) }, isKnown: true, stored: stored)
  }
}
