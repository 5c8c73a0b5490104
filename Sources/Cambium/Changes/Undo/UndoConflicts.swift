/// The conflicts that an undo has met, and the decision about them.
struct UndoConflicts {
  private let resolution: ConflictResolution
  /// At most ``listedMax``, in the order in which they were met.
  private(set) var listed: [UndoConflict] = []
  /// The places of all: by the node, its properties, or nil for the node itself.
  private var places: [NodePath: Set<String?>] = [:]
  /// True if something was in the way that cannot be overwritten.
  var isObstructed = false

  private static let listedMax = 100

  init(_ resolution: ConflictResolution) { self.resolution = resolution }

  /// True if the undo must not be stored.
  var isRefused: Bool {
    switch resolution {
    case .refuse: !listed.isEmpty
    case .skipConflicts: false
    case .overwrite: isObstructed
    }
  }

  /// True if the undo continues as if there were no conflict.
  var areOverridden: Bool { resolution != .skipConflicts }

  /// Notes that there is a conflict at a place.
  ///
  /// - Returns: True if it is the first one there, and is to be listed.
  mutating func isNew(_ path: NodePath, _ property: String?) -> Bool {
    places[path, default: []].insert(property).inserted && listed.count < UndoConflicts.listedMax
  }

  mutating func add(_ conflict: UndoConflict) { listed.append(conflict) }

  /// True if a conflict was noted at a place and the value there was left.
  func isLeft(_ path: NodePath, _ property: String? = nil) -> Bool {
    !areOverridden && places[path]?.contains(property) ?? false
  }
}
