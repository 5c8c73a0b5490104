import Cambium

/// The steps of migrations in words.
///
///     departureDelay was delay           departureDelay renamed from delay
///     number was number: String          number converted from string
///     number was number: Value           number converted
///     truck: type was 'lorry'            case truck renamed from lorry
///
/// A migration that an app has named itself keeps that name, and so does a step with several
/// sources.
enum StepText {
  /// - Parameters:
  ///   - step: The step's name, by which apps know it.
  ///   - type: The type that it converts to, where that is known.
  /// - Returns: The words.
  static func words(_ step: String, to type: PropertyType? = nil) -> String {
    let parts = step.split(separator: ": ", maxSplits: 1).map(String.init)
    if parts.count == 2, let former = formerCase(parts[1]) {
      return "case \(parts[0]) renamed from \(former)"
    }
    let names = (parts.first ?? "").split(separator: " ", omittingEmptySubsequences: false)
    let former = parts.dropFirst().first
    // Types have capitals.
    let isKnown = former.map { $0.contains { $0.isUppercase } } ?? (names.last != "computed")
    guard names.count == 3, names[1] == "was", isKnown, !step.contains(",") else { return step }
    let renamed = names[0] == names[2] ? [] : ["renamed from \(names[2])"]
    let converted = former.map { [conversion(from: $0, to: type)] } ?? []
    return "\(names[0]) \((renamed + converted).joined(separator: " and "))"
  }

  /// The name in a step such as `type was 'lorry'`; nil for any other.
  private static func formerCase(_ step: String) -> String? {
    let parts = step.split(separator: " was '", maxSplits: 1)
    guard parts.count == 2, parts[1].hasSuffix("'"), !step.contains(",") else { return nil }
    return String(parts[1].dropLast())
  }

  private static func conversion(from former: String, to type: PropertyType?) -> String {
    let types = ValueConversion.types.filter { $0.value != .any }
    let name = types.first { $0.value.swiftName == former }?.key ?? former
    let target = ValueConversion.types.first { $0.value == type }?.key
    return "converted" + (former == "Value" ? "" : " from \(name)")
      + (target.map { " to \($0)" } ?? "")
  }
}
