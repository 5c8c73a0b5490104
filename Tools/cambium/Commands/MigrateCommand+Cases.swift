// The options of `cambium migrate` for the cases of an enum of models.

extension MigrateCommand {
  static let renameCase = Option(
    "rename-case", "OLD=NEW", .text, "give a case of an enum of models another name", repeats: true)
  static let convertCase = Option(
    "convert-case", "OLD=NEW", .text,
    "make the records of a case those of another one; see below", repeats: true)
  static let dropCase = Option(
    "drop-case", "NAME", .text, "delete the records of a case", repeats: true)
  static let caseProperty = Option(
    "case-property", "NAME", .text, "the property that says which case a record is",
    fallback: "type")

  /// The changes to cases that are asked for.
  ///
  /// - Throws: ``Failure`` for a pair that is none, and for a case that is named twice.
  static func caseChanges(_ call: Call) throws -> CaseChanges {
    var changes = CaseChanges()
    changes.property = call.value(caseProperty).text
    changes.renamed = try call.all(renameCase).map {
      try pair($0.text, "--rename-case lorry=truck")
    }
    changes.converted = try call.all(convertCase).map {
      try pair($0.text, "--convert-case van=truck")
    }
    changes.dropped = call.all(dropCase).map(\.text)
    let names = changes.names + changes.renamed.map(\.new)
    if Set(names).count < names.count {
      throw Failure.usage("a case is named twice", hint: "change it in two runs")
    }
    return changes
  }
}
