// The initial value of a property in a model that `M()` makes, and whether it is always the same.
//
// A constant is declared as the value that absence stands for. A computed value, such as `Date()`
// or `UUID()`, means something at the moment at which a model is made, and nothing for a record
// that was written before; so it is stored in such records once, by a migration. An initial value
// counts as computed where two models differ in it, or where it is a date within a day and a half
// of now: the start of today is the same in two models, too. A computed value that is taken for a
// constant, since it changes rarely, does no harm: what is declared first counts for all records,
// until a migration.

import FoundationEssentials

/// Finds the initial values of a model's properties.
struct InitialValues<M: Model> {
  /// The distance from now within which a date counts as computed.
  private static var nearby: TimeInterval { 36 * 3600 }

  private let models: [M]
  private let now = Date()

  /// Makes models, some time apart.
  init(_ template: M) {
    var models = [template, M()]
    // Stored dates have microseconds.
    let start = Date().microseconds
    while Date().microseconds == start {}
    models.append(M())
    self.models = models
  }

  /// The value of a property; nil where it is absent.
  func value(of property: PropertyInfo) -> Value? {
    property.isAbsent(in: models[0]) ? nil : property.value(in: models[0])
  }

  /// True if it is another one in each model.
  func isComputed(_ property: PropertyInfo) -> Bool {
    if case .date(let date)? = value(of: property) {
      if abs(date.timeIntervalSince(now)) < Self.nearby { return true }
    }
    let forms = models.map { try? property.value(in: $0).stored() }
    return forms.contains { $0 != forms[0] }
  }
}
