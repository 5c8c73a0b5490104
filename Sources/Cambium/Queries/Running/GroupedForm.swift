// The form in which groups, and least and greatest values, show what is equal in several forms.

extension PropertyType {
  /// The form in which groups show a value that is ordered as this type.
  ///
  /// Values that are equal may be stored in several forms, as 1 and 1.0. All of them are shown in
  /// one: so no result depends on the way by which the records are found, nor on their history.
  ///
  /// - Returns: A double where doubles are declared, if there is one; a text where keys are texts;
  ///   else the form that views store.
  func shownForm(of value: Value) -> Value {
    let form = value.inOneForm(self)
    switch (self, form) {
    case (.double, .integer(let number)):
      return Double(exactly: number).map { .double($0) } ?? form
    case (.string, .integer(let number)): return .string(Key.integer(number).description)
    case (.string, .uuid(let uuid)): return .string(Key.uuid(uuid).description)
    default: return form
    }
  }
}

extension [Value] {
  /// The values, each in the form in which groups show it.
  func inShownForms(_ types: [PropertyType?]) -> [Value] {
    zip(self, types).map { value, type in type?.shownForm(of: value) ?? value }
  }
}
