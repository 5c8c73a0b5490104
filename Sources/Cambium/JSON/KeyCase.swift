// Names in the form that others expect. A name is divided into words where its capitals and its
// underscores say so:
//
//     departureDelay  departure Delay      iOSVersion  i OS Version      a1b2  a1b2
//     HTTPStatus      HTTP Status          place_of    place of
//
// The way back is no second rule: names are looked up among those that the type writes.

/// The case in which the names of properties are written.
public enum KeyCase: String, CaseIterable, Hashable, Sendable {
  /// As they are declared.
  case asDeclared
  /// `departureDelay`
  case camel
  /// `DepartureDelay`
  case pascal
  /// `departure_delay`
  case snake
  /// `departure-delay`
  case kebab

  /// A name in this form.
  package func written(_ name: String) -> String {
    if self == .asDeclared { return name }
    let words = KeyCase.words(of: name)
    guard let first = words.first else { return name }
    switch self {
    case .asDeclared: return name
    case .camel: return first.lowercased() + words.dropFirst().map(KeyCase.capitalized).joined()
    case .pascal: return words.map(KeyCase.capitalized).joined()
    case .snake: return words.map { $0.lowercased() }.joined(separator: "_")
    case .kebab: return words.map { $0.lowercased() }.joined(separator: "-")
    }
  }

  private static func capitalized(_ word: Substring) -> String {
    word.prefix(1).uppercased() + word.dropFirst()
  }

  /// Divides a name. A capital begins a word, unless another comes before it and no small letter
  /// after it.
  private static func words(of name: String) -> [Substring] {
    var words: [Substring] = []
    for part in name.split(whereSeparator: { $0 == "_" || $0 == "-" }) {
      var start = part.startIndex
      var index = start
      while index < part.endIndex {
        let next = part.index(after: index)
        if index > start, part[index].isUppercase {
          let isAfterCapital = part[part.index(before: index)].isUppercase
          let isBeforeSmall = next < part.endIndex && part[next].isLowercase
          if !isAfterCapital || isBeforeSmall {
            words.append(part[start..<index])
            start = index
          }
        }
        index = next
      }
      words.append(part[start...])
    }
    return words
  }
}
