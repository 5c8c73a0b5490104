/// The form of records outside the database, as dictionaries and JSON: the names, the nulls, the
/// properties that are shown, and the treatment of values that JSON does not have.
///
///     let mobile = InterchangeProfile.standard.keys(.snake).except("crew")
///     let text = try flight.json(mobile)             // {"departure_delay":12,"id":"0190…",…}
///     let same = try Flight(json: text, mobile)
///
/// A model that is written with a profile is read with it as the same model, as far as the profile
/// shows it. Values of the type ``Value`` that are of none of JSON's own kinds are kept only by
/// ``exact``: no declaration says there what a text stands for.
public struct InterchangeProfile: Sendable, Refinable {
  /// The treatment of nil.
  public enum Nulls: String, Hashable, Sendable {
    /// It is left out, unless what is left out would be read as something else.
    case omitted
    /// It is written as null.
    case explicit
  }

  /// The form of a reference to another model.
  public enum References: Hashable, Sendable {
    /// The other's id is written.
    case ids
    /// The other is written in its place, and what that refers to, so many references deep. Behind
    /// them, and where a record comes a second time, its id is written, so that cycles end. Only a
    /// reader of models can embed: a model by itself writes ids. When it is read again, only the
    /// other's id counts.
    case embedded(depth: Int)
  }

  /// The form of a moment.
  public enum Dates: String, CaseIterable, Hashable, Sendable {
    /// `2013-01-01T10:00:00.25Z`
    case iso8601
    /// Seconds since 1970.
    case seconds
    /// Milliseconds since 1970.
    case milliseconds
  }

  /// The form of numbers that many readers would round: whole numbers beyond 2⁵³, and decimals.
  public enum LargeNumbers: String, Hashable, Sendable {
    /// As a text with its digits.
    case text
    /// As a number with its digits.
    case number
  }

  /// The treatment of names that the type does not have.
  public enum UnknownNames: String, Hashable, Sendable {
    /// They are an error.
    case refused
    /// They are ignored.
    case ignored
  }

  /// The naming of the members of a nested value.
  public enum Nesting: String, Hashable, Sendable {
    /// As members of an object of their own: `"place": {"latitude": 40.6}`.
    case objects
    /// By a dotted name: `"place.latitude": 40.6`.
    case dottedNames
  }

  /// The form of values that JSON does not have.
  public enum Kinds: String, Hashable, Sendable {
    /// Texts and numbers stand for them, and the type says for what: a date, a UUID, base64.
    case plain
    /// They keep their kind; in JSON each is an object: `{"$date": "2013-01-01T10:00:00Z"}`.
    case kept
  }

  /// The case of names; as declared by default.
  public var keyCase = KeyCase.asDeclared
  /// The treatment of nil; it is left out by default.
  public var nulls = Nulls.omitted
  /// The form of references; ids by default.
  public var references = References.ids
  /// The form of nested values; objects by default.
  public var nesting = Nesting.objects
  /// The form of moments; ISO 8601 by default.
  public var dates = Dates.iso8601
  /// The form in which large numbers are written, text by default; both forms are read.
  public var largeNumbers = LargeNumbers.text
  /// The form of values that JSON does not have; texts and numbers by default.
  public var kinds = Kinds.plain
  /// The treatment of names that the type does not have, or that are not shown.
  public var unknownNames = UnknownNames.refused
  /// True to read a text as the number or truth value that it says, and a number as text; whole
  /// numbers and others are never taken for each other where something would be lost.
  public var isLenient = false
  /// The properties that are shown; nil for all.
  private(set) var shown: [[String]]?
  /// The properties that are not.
  private(set) var hidden: [[String]] = []
  private var conversions = InterchangeConversions()

  /// Names as declared, ids for references, nil left out, ISO 8601, base64.
  public static let standard = InterchangeProfile()

  /// As ``standard``, but every value keeps its kind, so that all of them come back as they were.
  public static let exact = InterchangeProfile { $0.kinds = .kept }

  /// Makes a profile that differs from the standard one.
  ///
  ///     let compact = InterchangeProfile { $0.keyCase = .snake; $0.dates = .seconds }
  public init(_ change: (inout InterchangeProfile) -> Void = { _ in }) { change(&self) }

  /// The profile with names in another form.
  public func keys(_ keyCase: KeyCase) -> InterchangeProfile { changed { $0.keyCase = keyCase } }

  /// The profile with references written as what they refer to.
  public func embedding(depth: Int) -> InterchangeProfile {
    changed { $0.references = .embedded(depth: depth) }
  }

  // MARK: Masks

  /// Only some properties are shown, by their declared names, and the id.
  ///
  /// - Parameter paths: Names, dotted for what lies in nested values and behind references:
  ///   `number`, `place.latitude`, `origin.name`. Of what is named all is shown.
  /// - Returns: The narrower profile; a second call shows more.
  public func only(_ paths: String...) -> InterchangeProfile { only(paths: paths) }

  /// As ``only(_:)``.
  public func only(paths: [String]) -> InterchangeProfile {
    changed { $0.shown = ($0.shown ?? []) + paths.map(InterchangeProfile.parts) }
  }

  /// Some properties are not shown; the id too can be named.
  ///
  /// - Parameter paths: As ``only(_:)``.
  /// - Returns: The narrower profile.
  public func except(_ paths: String...) -> InterchangeProfile { except(paths: paths) }

  /// As ``except(_:)``.
  public func except(paths: [String]) -> InterchangeProfile {
    changed { $0.hidden += paths.map(InterchangeProfile.parts) }
  }

  /// The names of a dotted path.
  static func parts(_ path: String) -> [String] {
    path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  }

  /// The profile with a form of its own for what lies at a path.
  func converting(_ conversion: InterchangeConversion) -> InterchangeProfile {
    changed { $0.conversions.ofProperties.append(conversion) }
  }

  /// The form that what lies at a path has of its own; the last that was given.
  func conversion(at path: [String]) -> InterchangeConversion? {
    conversions.ofProperties.last { $0.path == path }
  }

  /// The profile with a form of its own for the values of a type.
  func converting(
    _ type: ObjectIdentifier, _ conversion: InterchangeConversion
  ) -> InterchangeProfile {
    changed { $0.conversions.ofTypes[type] = conversion }
  }

  /// The form that the values of a type have of their own.
  func conversion(of type: ObjectIdentifier) -> InterchangeConversion? {
    conversions.ofTypes.isEmpty ? nil : conversions.ofTypes[type]
  }

  /// True if a property is shown: it is named, lies in a named one, or has a named one in it.
  func shows(_ path: [String], isID: Bool = false) -> Bool {
    if hidden.contains(where: { path.starts(with: $0) }) { return false }
    guard let shown, !isID else { return true }
    return shown.contains { path.starts(with: $0) || $0.starts(with: path) }
  }
}

/// The forms that properties and types have of their own in a profile.
private struct InterchangeConversions: Sendable {
  var ofProperties: [InterchangeConversion] = []
  var ofTypes: [ObjectIdentifier: InterchangeConversion] = [:]
}

/// A form that one property has in a profile, or all values of a type.
struct InterchangeConversion: Sendable {
  /// The property; empty for a type.
  var path: [String] = []
  /// Converts a stored value, which is not null, to its form outside.
  let out: @Sendable (Value) throws -> Value
  /// Converts a form outside, which is not null, to the stored value that it stands for.
  let back: @Sendable (Value) throws -> Value
}
