/// A row of a result that came, went, moved or changed in a step, on its way through the sections.
///
/// It knows places only. The elements are apart, in ``SectionedEntry``, so that all searching and
/// sorting is done in code that the compiler specializes: it cannot for an app's own types.
struct SectionedChange: Sendable {
  /// A section by its number, and a place in it.
  struct Place {
    let id: Int
    let position: SectionedPosition
  }

  /// Its position in the result before, unless it came.
  var before: Int?
  /// Its position in the result after, unless it went.
  var after: Int?
  /// True if it has another place among the untouched rows of the result.
  var isMoved = false

  /// Its place before; found before anything is changed.
  var oldPlace: Place?
  /// The number of its section after.
  var newID: Int?
  /// Its place after; found when all is changed.
  var newPlace: Place?
  /// The index of its entry.
  var index = 0

  /// True if it has to be taken out of its section, for good or to be put elsewhere.
  var leavesSection: Bool { after == nil || isMoved || newID != oldPlace?.id }
}

/// The element of a changed row, and all that is told about it.
struct SectionedEntry<Element: Sendable, Key: Hashable & Sendable> {
  var change: SectionedChange
  /// The element after, or before if it went.
  var element: Element
  /// The key of its section after, unless that stays.
  var key: Key?
  var update: LiveDiff<Element>.Update?
  var cause: LiveDiff<Element>.Cause
}
