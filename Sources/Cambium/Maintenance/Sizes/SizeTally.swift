// Adds bytes up by what they are about. Groups are divided only by the requested criteria, so the
// memory is that of the groups, whatever is read.

/// The place of bytes that are being added up: a table of an environment.
struct SizePlace {
  /// The column of the sum.
  enum Part: Int, CaseIterable, Sendable { case log, archive, tree, history, other }

  let environment: String?
  let table: String?
  let part: Part
  /// The bytes that were added for its content; the rest of its pages is space.
  fileprivate(set) var content: UInt64 = 0
}

/// The attributes by which bytes are added up.
struct SizeLabel: Hashable, Refinable {
  var use: Sizes.Use
  var collection: NodePath?
  var property: NameID?
  /// A place on the ``AgeScale``.
  var age: Int?
  fileprivate var table: String?
  fileprivate var environment: String?

  init(_ use: Sizes.Use, _ collection: NodePath? = nil, age: Int? = nil) {
    self.use = use
    self.collection = collection
    self.age = age
  }

  /// The same for other bytes.
  func with(_ use: Sizes.Use) -> SizeLabel {
    changed { $0.use = use }
  }

  /// The same for a property.
  func of(_ property: NameID) -> SizeLabel {
    changed { $0.property = property }
  }
}

/// The places of an environment's tables, by their names.
struct SizePlaces {
  fileprivate(set) var all: [String: Int] = [:]

  /// The place of a table that was listed.
  subscript(table: String) -> Int { all[table] ?? 0 }
}

/// The bytes of a group, in columns.
struct SizeSums: Equatable, Sendable {
  private var columns = [UInt64](repeating: 0, count: SizePlace.Part.allCases.count)

  var all: UInt64 { columns.reduce(0, +) }

  subscript(part: SizePlace.Part) -> UInt64 {
    get { columns[part.rawValue] }
    set { columns[part.rawValue] = newValue }
  }

  fileprivate static func += (sums: inout SizeSums, more: SizeSums) {
    for part in SizePlace.Part.allCases { sums[part] += more[part] }
  }
}

/// Adds bytes up in groups.
struct SizeTally {
  /// A larger tally is folded to ``groupsMax`` groups while it is made.
  private static let groupsKept = 4096

  let criteria: [Sizes.Criterion]
  private let asked: Set<Sizes.Criterion>
  private let groupsMax: Int
  private(set) var places: [SizePlace] = []
  private var indices: [SizeLabel: Int] = [:]
  private var sums: [(label: SizeLabel, sums: SizeSums)] = []

  init(by criteria: [Sizes.Criterion], groupsMax: Int) {
    self.criteria = criteria
    asked = Set(criteria)
    self.groupsMax = groupsMax
  }

  /// True if more must be read than the number of pages of each table.
  var needsContent: Bool {
    asked.contains { $0 == .collection || $0 == .property || $0 == .age }
  }

  var tellsProperties: Bool { asked.contains(.property) }

  /// Sets the place to which bytes are added from now on.
  mutating func place(_ environment: String?, _ table: String?, _ part: SizePlace.Part) -> Int {
    places.append(SizePlace(environment: environment, table: table, part: part))
    return places.count - 1
  }

  /// Where the bytes of some tables of an environment are added.
  mutating func places(
    _ environment: String, _ parts: KeyValuePairs<String, SizePlace.Part>
  ) -> SizePlaces {
    var places = SizePlaces()
    for (table, part) in parts {
      places.all[table] = place(environment, "\(environment)/\(table)", part)
    }
    return places
  }

  /// Adds what is stored in a table.
  mutating func add(_ bytes: Int, _ label: SizeLabel, at place: Int) {
    if bytes <= 0 { return }
    places[place].content += UInt64(bytes)
    add(UInt64(bytes), label, places[place])
  }

  /// Adds what the pages of a table have besides its content.
  mutating func addSpace(of pageBytes: UInt64, at place: Int) {
    let place = places[place]
    add(pageBytes - min(pageBytes, place.content), SizeLabel(.space), place)
  }

  /// Adds what is in no table.
  mutating func add(_ bytes: UInt64, _ use: Sizes.Use, in environment: String?) {
    let place = SizePlace(environment: environment, table: nil, part: .other)
    add(bytes, SizeLabel(use), place)
  }

  /// Adds a node's stored content, property by property where that matters.
  ///
  /// - Returns: The bytes that are left: those of the record's form, not of a property.
  mutating func addContent(
    _ content: RawSpan, _ kind: ContentKind, _ label: SizeLabel, at place: Int
  ) throws -> Int {
    guard tellsProperties else { return content.byteCount }
    switch kind {
    case .none: return content.byteCount
    case .scalar:
      add(content.byteCount, label.with(.values), at: place)
      return 0
    case .record:
      let table = try RecordTable(content)
      var left = content.byteCount
      for index in 0..<table.count {
        let bytes = try table.value(content, index).count + table.entryBytes
        add(bytes, label.of(try table.name(content, index)), at: place)
        left -= bytes
      }
      return left
    }
  }

  private mutating func add(_ bytes: UInt64, _ label: SizeLabel, _ place: SizePlace) {
    if bytes == 0 { return }
    let label = reduced(label, place)
    if indices[label] == nil, sums.count >= 4 * max(groupsMax, SizeTally.groupsKept) {
      fold(to: groupsMax)
    }
    sums[index(of: label)].sums[place.part] += bytes
  }

  private mutating func index(of label: SizeLabel) -> Int {
    if let index = indices[label] { return index }
    indices[label] = sums.count
    sums.append((label, SizeSums()))
    return sums.count - 1
  }

  /// Leaves out what was not asked for; of what is known by all that was, the use is, too.
  private func reduced(_ label: SizeLabel, _ place: SizePlace) -> SizeLabel {
    var reduced = SizeLabel(label.use)
    var isKnown = true
    for criterion in criteria {
      switch criterion {
      case .collection: reduced.collection = label.collection
      case .property: reduced.property = label.property
      case .age: reduced.age = label.age
      case .table: reduced.table = place.table
      case .environment: reduced.environment = place.environment
      }
      isKnown = isKnown && reduced.has(criterion)
    }
    if isKnown { reduced.use = .content }
    return reduced
  }
}

extension SizeTally {
  /// Shares bytes out as another tally has them, at one place.
  mutating func share(_ bytes: Int, as other: SizeTally, at place: Int) {
    let total = other.sums.reduce(0) { $0 + $1.sums.all }
    if total == 0 { return add(bytes, SizeLabel(.transactions), at: place) }
    places[place].content += UInt64(bytes)
    var (before, given): (UInt64, UInt64) = (0, 0)
    for (label, sums) in other.sums {
      before += sums.all
      let (high, low) = before.multipliedFullWidth(by: UInt64(bytes))
      let upTo = total.dividingFullWidth((high, low)).quotient
      add(upTo - given, label, places[place])
      given = upTo
    }
  }

  /// Puts the smallest groups of those that a path or a property names together.
  private mutating func fold(to count: Int) {
    let named = sums.filter(\.label.isFoldable).sorted { $0.sums.all > $1.sums.all }
    guard named.count > count else { return }
    let all = sums
    let folded = Set(named[count...].map(\.label))
    indices = [:]
    sums = []
    for (label, sums) in all {
      let index = index(of: folded.contains(label) ? label.folded : label)
      self.sums[index].sums += sums
    }
  }

  /// The groups, with the names of properties and ages put in.
  mutating func groups(_ catalog: Catalog) -> [Sizes.Group] {
    fold(to: groupsMax)
    return sums.sorted(by: isBefore).map { label, sums in
      Sizes.Group(names: criteria.map { label.name($0, catalog) }, use: label.use, sums: sums)
    }
  }

  private func isBefore(
    _ a: (label: SizeLabel, sums: SizeSums), _ b: (label: SizeLabel, sums: SizeSums)
  ) -> Bool {
    let isKnown = (a.label.use == .content, b.label.use == .content)
    if isKnown.0 != isKnown.1 { return isKnown.0 }
    if criteria == [.age], let first = a.label.age, let second = b.label.age {
      return first < second
    }
    return a.sums.all > b.sums.all
  }
}

extension SizeLabel {
  fileprivate func has(_ criterion: Sizes.Criterion) -> Bool {
    switch criterion {
    case .collection: collection != nil
    case .property: property != nil
    case .age: age != nil
    case .table: table != nil
    case .environment: environment != nil
    }
  }

  fileprivate func name(_ criterion: Sizes.Criterion, _ catalog: Catalog) -> String? {
    switch criterion {
    case .collection: collection?.description
    case .property: property.map { (try? catalog.name(of: $0)) ?? "#\($0)" }
    case .age: age.map { AgeScale.names[$0] }
    case .table: table
    case .environment: environment
    }
  }

  /// There may be any number of such groups.
  fileprivate var isFoldable: Bool { collection != nil || property != nil }

  fileprivate var folded: SizeLabel {
    with(.others).changed { ($0.collection, $0.property) = (nil, nil) }
  }
}
