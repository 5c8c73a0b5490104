// Values that are equal may have several forms: 1 and 1.0. A group shows the form that its first
// row has. Nearly always all rows have the same, so only a count and a bound are kept of each form,
// and not its rows.

/// The forms that a group's values have in its rows.
struct GroupForms: Sendable {
  private struct Form: Sendable {
    let values: [Value]
    var count: Int
    /// The least identity of the rows with this form, or, once that row has left, a bound below
    /// which there is none.
    var first: [UInt8]
    var isFirstThere: Bool
  }

  private var forms: [Form] = []

  /// Adds a row.
  mutating func add(_ values: [Value], of row: [UInt8]) {
    guard let index = forms.firstIndex(where: { $0.values == values }) else {
      return forms.append(Form(values: values, count: 1, first: row, isFirstThere: true))
    }
    forms[index].count += 1
    if forms[index].first.precedes(row) { return }
    forms[index].first = row
    forms[index].isFirstThere = true
  }

  /// Removes a row that was added.
  mutating func remove(_ values: [Value], of row: [UInt8]) {
    guard let index = forms.firstIndex(where: { $0.values == values }) else {
      return assertionFailure("no row of the group has this form")
    }
    forms[index].count -= 1
    if forms[index].count == 0 {
      forms.remove(at: index)
    } else if forms[index].first == row {
      forms[index].isFirstThere = false
    }
  }

  /// The form that the first row has; nil if that cannot be told, since there are several and the
  /// first row of one has left.
  var shown: [Value]? {
    if forms.count == 1 { return forms[0].values }
    let least = forms.min { a, b in
      a.first == b.first ? a.isFirstThere && !b.isFirstThere : a.first.precedes(b.first)
    }
    guard let least else { return [] }
    return least.isFirstThere ? least.values : nil
  }
}
