/// The rule by which texts are compared.
public enum Collation: String, Hashable, Sendable {
  /// By the bytes of their UTF-8.
  case binary
  /// By their bytes after Unicode's case folding.
  case ignoringCase
  /// By their bytes after case folding, and without diacritics.
  case ignoringCaseAndDiacritics
}
