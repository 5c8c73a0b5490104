import Cambium
import Simulation

/// The result of a live query in sections, with a list view that shows them.
struct FollowedSections<Element: Equatable & Sendable> {
  private var sectioning: Sectioning<Element, String>
  private var view: StrictListView<Element, String>
  private let section: @Sendable (Element) -> String

  init(
    _ elements: LiveElements<Element>, _ sequence: SequenceNumber,
    _ section: @escaping @Sendable (Element) -> String
  ) throws {
    let orders: [SectionOrder<Element, String>] = [
      .firstAppearance, .ascending, .sorted { $0.count > $1.count },
    ]
    self.section = section
    sectioning = try Sectioning(
      elements, at: sequence, by: section, order: orders[elements.count % orders.count])
    view = StrictListView(sectioning.sections)
  }

  mutating func apply(_ diff: LiveDiff<Element>) throws {
    try view.apply(sectioning.apply(diff))
    for part in sectioning.sections {
      let isOwn = part.elements.allSatisfy { section($0) == part.key }
      try demand(isOwn, "the section \(part.key) has others: \(part.elements)")
    }
    let count = sectioning.sections.reduce(0) { $0 + $1.elements.count }
    try demand(count == diff.elements.count, "\(count) elements are in sections")
  }
}
