/// Divides a live result into sections, and keeps them as the result changes.
///
///     var sectioning = try Sectioning(first.elements, by: \.airline, order: .ascending)
///     show(sectioning.sections)
///     for await diff in changes {
///       table.apply(try sectioning.apply(diff))
///     }
///
/// The key of an element may be a property, lie behind a reference, or be computed. The elements of
/// a section are in the order of the result, and need not be neighbours there.
///
/// A value for one observer: it may be sent to another thread, and a copy goes its own way.
///
/// Invariants, checked by the tests against a division made afresh:
/// 1. `rows` has one entry for each element of the result, in its order: the number of its section.
/// 2. A section's `tokens` are those of its elements' entries in `rows`; they ascend.
/// 3. No section is empty, and each lies in its order after the one before it.
/// 4. `numbers` and `tokens` have one entry for each section.
public struct Sectioning<Element: Sendable, Key: Hashable & Sendable>: Sendable {
  /// The key of an element's section.
  public typealias KeyOfElement = @Sendable (Element) throws -> Key

  typealias Section = LiveSection<Element, Key>

  private(set) var keyOf: KeyOfElement
  private(set) var order: SectionOrder<Element, Key>
  private var sequence: SequenceNumber
  private var elements: LiveElements<Element>
  /// The numbers of the sections that the result's elements are in.
  var rows: TokenList<Int>
  var list: TokenList<Section>
  /// The numbers of the sections by their keys.
  var numbers: [Key: Int] = [:]
  /// The tokens of the sections by their numbers.
  var tokens: [Int: UInt64] = [:]
  var lastNumber = 0

  /// Divides a result into sections.
  ///
  /// - Parameters:
  ///   - elements: The whole result.
  ///   - sequence: The moment that it is of.
  ///   - key: Gives the key of an element's section. It must depend on nothing but the element.
  ///   - order: The order of the sections; that of their first elements unless given.
  /// - Throws: The errors of `key`.
  /// - Complexity: O(*n* + *s* log *s*) for *n* elements in *s* sections.
  public init(
    _ elements: LiveElements<Element>, at sequence: SequenceNumber,
    by key: @escaping KeyOfElement, order: SectionOrder<Element, Key> = .firstAppearance
  ) throws {
    (self.elements, self.sequence, keyOf, self.order) = (elements, sequence, key, order)
    var divided: [(section: Section, elements: [Element], tokens: [UInt64])] = []
    var indices: [Int] = []
    for element in elements {
      let key = try key(element)
      let index = numbers[key] ?? divided.count
      if index == divided.count {
        numbers[key] = index
        divided.append((Section(key: key, id: index), [], []))
      }
      divided[index].elements.append(element)
      indices.append(index)
    }
    rows = TokenList(indices)
    for (entry, index) in zip(rows.entries, indices) { divided[index].tokens.append(entry.token) }
    let sections = divided.map { part in
      var section = part.section
      section.elements = LiveElements(part.elements)
      section.tokens = ChunkedList(part.tokens)
      return section
    }
    list = TokenList(sections.sorted(by: order.isBefore))
    for entry in list.entries { tokens[entry.payload.id] = entry.token }
    lastNumber = sections.count
  }

  /// The sections now; O(1).
  public var sections: LiveSections<Element, Key> { LiveSections(list: list) }

  /// The section with a key; nil if no element has it.
  ///
  /// - Parameter key: The key.
  /// - Returns: The section as it is now.
  /// - Complexity: O(log *n*).
  public func section(with key: Key) -> LiveSection<Element, Key>? {
    numbers[key].map { list[index(of: $0)].payload }
  }

  /// Applies a step of the result, and gives the same step in sections.
  ///
  /// - Parameter diff: The step that follows the last one; one that starts with another number of
  ///   elements traps.
  /// - Returns: The difference between the sections before and after.
  /// - Throws: The errors of the key; the sections are then as before, and the diff can be applied
  ///   again.
  /// - Complexity: O(*m* log *n*) for *m* entries, some microseconds each; a step that changes the
  ///   order of the sections looks at all of them.
  public mutating func apply(_ diff: LiveDiff<Element>) throws -> SectionedDiff<Element, Key> {
    precondition(diff.countBefore == rows.count, "the diff is not of the following step")
    let entries = try entries(in: diff)
    (elements, sequence) = (diff.elements, diff.sequence)
    return step(entries, at: sequence)
  }

  /// Divides the same result by another key, or puts its sections into another order.
  ///
  /// Sections whose keys remain are the same sections; elements move between them.
  ///
  /// - Parameters:
  ///   - key: The new key; that of now unless given.
  ///   - order: The new order; that of now unless given.
  /// - Returns: The difference between the sections before and after, with the cause `question`.
  /// - Throws: The errors of `key`; the sections, key and order are then as before.
  /// - Complexity: O(*n* log *n*).
  public mutating func resection(
    by key: KeyOfElement? = nil, order: SectionOrder<Element, Key>? = nil
  ) throws -> SectionedDiff<Element, Key> {
    let entries = try key.map(entries(to:)) ?? []
    keyOf = key ?? keyOf
    self.order = order ?? self.order
    return step(entries, at: sequence, isReordered: true)
  }

  private func entries(to key: KeyOfElement) throws -> [SectionedEntry<Element, Key>] {
    var entries: [SectionedEntry<Element, Key>] = []
    for (position, element) in elements.enumerated() {
      let newKey = try key(element)
      guard numbers[newKey] != rows[position].payload else { continue }
      entries.append(
        SectionedEntry(
          change: SectionedChange(before: position, after: position), element: element, key: newKey,
          cause: .question))
    }
    return entries
  }

  private func entries(
    in diff: LiveDiff<Element>
  ) throws -> [SectionedEntry<Element, Key>] {
    var updates = Dictionary(uniqueKeysWithValues: diff.updates.map { ($0.after, $0) })
    var entries = diff.deletions.map {
      SectionedEntry<Element, Key>(
        change: SectionedChange(before: $0.position), element: $0.element, cause: $0.cause)
    }
    for insertion in diff.insertions {
      entries.append(
        SectionedEntry(
          change: SectionedChange(after: insertion.position), element: insertion.element,
          key: try keyOf(insertion.element), cause: insertion.cause))
    }
    for move in diff.moves {
      let update = updates.removeValue(forKey: move.to)
      entries.append(
        SectionedEntry(
          change: SectionedChange(before: move.from, after: move.to, isMoved: true),
          element: move.element,
          key: try update.map { try keyOf($0.new) }, update: update, cause: update?.cause ?? .own))
    }
    for update in updates.values {
      entries.append(
        SectionedEntry(
          change: SectionedChange(before: update.before, after: update.after), element: update.new,
          key: try keyOf(update.new), update: update, cause: update.cause))
    }
    return entries
  }
}
