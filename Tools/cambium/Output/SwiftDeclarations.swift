import Cambium

/// Writes structs that could hold the records that were seen, as a start for declarations by hand.
///
/// Properties keep their names, between backquotes where Swift needs them. A property that is
/// missing or null in some record is optional; one of several types is a `Value`.
enum SwiftDeclarations {
  /// A declaration for each collection that has records, and a model for each that is declared.
  static func text(
    _ surveys: [CollectionSurvey], _ declared: [SwiftModels.Declared] = [],
    others: [SwiftModels.Declared] = []
  ) -> String {
    var lines = ["import Cambium", "import Foundation"]
    var taken: Set<String> = []
    lines += SwiftModels(declared, others: others, taken: &taken).lines
    for survey in surveys where survey.records > 0 {
      let seen = Quantity.count(survey.seen)
      let all = survey.isSampled ? "\(seen) of \(Quantity.count(survey.count))" : "all \(seen)"
      lines += ["", "/// \(Terminal.escaped(survey.path.description)), by \(all) children."]
      lines.append("struct \(structName(survey.path, &taken)) {")
      lines += survey.properties.compactMap { property in
        property.name.map { "  " + declaration($0, property, of: survey.records) }
      }
      lines.append("}")
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private static func declaration(
    _ name: String, _ property: CollectionSurvey.Property, of records: Int
  ) -> String {
    guard let identifier = identifier(name) else {
      return "// \(Terminal.escaped(name)) cannot be a name in Swift."
    }
    let present = property.present - (property.types["null"] ?? 0)
    let isOptional = present < records
    let types = Set(property.types.keys).subtracting(["null"])
    let declared = "var \(identifier): \(swiftType(types))"
    if !isOptional { return declared }
    return "\(declared)?  // in \(Quantity.count(present)) of \(Quantity.count(records))"
  }

  private static func swiftType(_ types: Set<String>) -> String {
    if types == ["integer", "double"] { return "Double" }
    guard types.count == 1, let type = types.first else { return "Value" }
    return swiftTypes[type] ?? "Value"
  }

  private static let swiftTypes = [
    "bool": "Bool", "integer": "Int", "double": "Double", "string": "String", "data": "Data",
    "date": "Date", "uuid": "UUID", "decimal": "Decimal", "array": "[Value]", "map": "Record",
    "reference": "NodePath", "blob": "Blob",
  ]

  /// The name as Swift takes it; nil where there is no way to write it.
  static func identifier(_ name: String) -> String? {
    if isPlain(name) && !keywords.contains(name) { return name }
    let isRaw = name.unicodeScalars.allSatisfy { scalar in
      scalar != "`" && scalar != "\\" && !scalar.properties.isPatternWhitespace || scalar == " "
    }
    // A name of operator characters alone is an operator, and $ is the compiler's own.
    let hasLetter = name.contains { $0.isLetter || $0.isNumber || $0 == "_" }
    let isFit = isRaw && hasLetter && name.first != "$" && Terminal.escaped(name) == name
    return isFit ? "`\(name)`" : nil
  }

  static func isPlain(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, first == "_" || first.properties.isXIDStart
    else { return false }
    return name != "_" && name.unicodeScalars.allSatisfy(\.properties.isXIDContinue)
  }

  private static let keywords: Set = [
    "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import",
    "init", "inout", "internal", "let", "open", "operator", "precedencegroup", "private",
    "protocol", "public", "rethrows", "static", "struct", "subscript", "typealias", "var",
    "break", "case", "catch", "continue", "default", "defer", "do", "else", "fallthrough", "for",
    "guard", "if", "in", "repeat", "return", "switch", "throw", "where", "while", "as", "Any",
    "false", "is", "nil", "self", "Self", "super", "throws", "true", "try",
  ]

  static func capitalized(_ word: String) -> String {
    word.prefix(1).uppercased() + word.dropFirst()
  }

  /// The node's key with capitals, made of what a name can have: `order-items` is `OrderItems`.
  static func structName(_ path: NodePath, _ taken: inout Set<String>) -> String {
    let words = (path.last?.description ?? "Root").split { !($0.isLetter || $0.isNumber) }
    var name = words.map { capitalized(String($0)) }.joined()
    if !isPlain(name) { name = "Collection" + name }
    if !isPlain(name) { name = "Collection" }
    var unique = name
    var number = 1
    while !taken.insert(unique).inserted {
      number += 1
      unique = name + String(number)
    }
    return unique
  }
}
