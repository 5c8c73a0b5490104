/// A table that is derived from records, as data: it follows each change of them, and can be built
/// from the existing ones. The state's folds implement that.
enum Fold: Sendable {
  /// The ordered entries of a collection's index.
  case index(IndexPlan)
  /// Aggregates by group.
  case groups(GroupsPlan, ViewPlan)
  /// Records in order, by group.
  case top(TopPlan, ViewPlan)
  /// The words of texts.
  case text(TextPlan, ViewPlan)
  /// Copies, in an index, of properties of the records that its records refer to.
  case preview(Previewer)

  init(_ view: ViewPlan) {
    switch view.content {
    case .groups(let plan): self = .groups(plan, view)
    case .top(let plan): self = .top(plan, view)
    case .text(let plan): self = .text(plan, view)
    }
  }

  /// The number that its entries' keys begin with.
  var number: UInt32 {
    switch self {
    case .index(let index): index.number
    case .groups(_, let view), .top(_, let view), .text(_, let view): view.number
    case .preview(let previewer): previewer.index.number
    }
  }

  /// True if its entries are in the table of indexes, false for that of views.
  var isIndex: Bool {
    switch self {
    case .index, .preview: true
    case .groups, .top, .text: false
    }
  }
}
