// The text that people type into a search field, read so that nothing in it is wrong:
//
//     white whale          both words
//     "in a row"           words in this order; without its end, up to the end of the text
//     whal*                words that begin so
//     -white               without this word, where another one is looked for
//     whale OR shark       one or the other
//     https://a.org/b      what reads as several words, in a row
//
// Everything else parts words. Where OR, AND and NOT lack a word beside them, they are left out;
// where nothing else was typed, they are words.

extension TextQuery {
  /// Reads what somebody has typed; there is no text that it refuses.
  ///
  ///     let found = try books.search(anyText: field.text)
  ///
  /// All words are looked for, those between quotation marks in a row; `*` behind a word stands for
  /// its end, `-` before one leaves out what has it, and `OR` stands between what either may be.
  /// Anything else counts as space, a quotation mark without a second one as well as an operator
  /// without its words. A text without a word finds nothing, as does one that only leaves out.
  ///
  /// Use ``init(parsing:)`` where the search is written by a program, or by people who want to know
  /// what is wrong with it.
  ///
  /// - Parameter text: The typed text; the first 64 parts of it count.
  /// - Complexity: O(*n*) in the text's length.
  public init(anyText text: String) {
    var reader = TypedTextReader(text)
    self = reader.query()
  }
}

private struct TypedTextReader {
  private static let partsMax = 64

  private enum Part {
    case found(TextQuery)
    case excluded(TextQuery)
    /// OR, AND or NOT.
    case word(String)

    var isOperator: Bool { if case .word = self { true } else { false } }

    /// The word that looks like an operator, as a word.
    var plain: Part { if case .word(let word) = self { .found(.phrase(word)) } else { self } }
  }

  private let characters: [Character]
  private var index = 0

  init(_ text: String) { characters = Array(text) }

  mutating func query() -> TextQuery {
    let parts = parts()
    if parts.allSatisfy(\.isOperator) {
      return TypedTextReader.all(parts.map(\.plain)) ?? .any([])
    }
    var alternatives: [[Part]] = [[]]
    for part in parts {
      switch part {
      case .word("OR"): alternatives.append([])
      case .word: break
      default: alternatives[alternatives.count - 1].append(part)
      }
    }
    let found = alternatives.compactMap(TypedTextReader.all)
    return found.count == 1 ? found[0] : .any(found)
  }

  /// All parts together; nil where nothing is looked for.
  private static func all(_ parts: [Part]) -> TextQuery? {
    var (found, excluded) = ([TextQuery](), [TextQuery]())
    for part in parts {
      switch part {
      case .found(let query): found.append(query)
      case .excluded(let query): excluded.append(.not(query))
      case .word: break
      }
    }
    if found.isEmpty { return nil }
    let all = found + excluded
    return all.count == 1 ? all[0] : .all(all)
  }

  private mutating func parts() -> [Part] {
    var parts: [Part] = []
    var isExcluded = false
    while parts.count < Self.partsMax, index < characters.count {
      let next = characters[index]
      if next.isWhitespace {
        index += 1
        isExcluded = false
      } else if next == "-" {
        index += 1
        isExcluded = true
      } else if let query = next == "\"" ? phrase() : word() {
        let part = part(query, isExcluded, &parts)
        parts.append(part)
        isExcluded = false
      }
    }
    return parts
  }

  /// A part, before which NOT may stand as a word.
  private func part(_ query: TextQuery, _ isExcluded: Bool, _ parts: inout [Part]) -> Part {
    if case .word(let word) = query, ["OR", "AND", "NOT"].contains(word) {
      return isExcluded ? .excluded(.phrase(word)) : .word(word)
    }
    if case .word("NOT")? = parts.last {
      parts.removeLast()
      return .excluded(query)
    }
    return isExcluded ? .excluded(query) : .found(query)
  }

  private mutating func phrase() -> TextQuery? {
    index += 1
    let end = characters[index...].firstIndex(of: "\"") ?? characters.count
    let words = characters[index..<end]
    index = min(end + 1, characters.count)
    return query(words, isQuoted: true)
  }

  private mutating func word() -> TextQuery? {
    let end =
      characters[index...].firstIndex { $0.isWhitespace || $0 == "\"" } ?? characters.count
    var word = characters[index..<end]
    index = end
    var isPrefix = false
    while let last = word.last, !TypedTextReader.isOfWord(last) {
      isPrefix = last == "*"
      word.removeLast()
    }
    return query(word, isQuoted: false, isPrefix: isPrefix)
  }

  /// The query for some words; nil where there is none.
  private mutating func query(
    _ words: ArraySlice<Character>, isQuoted: Bool, isPrefix: Bool = false
  ) -> TextQuery? {
    guard words.contains(where: TypedTextReader.isOfWord) else { return nil }
    var isPrefix = isPrefix
    if isQuoted, index < characters.count, characters[index] == "*" {
      isPrefix = true
      index += 1
    }
    let text = String(words.drop { !TypedTextReader.isOfWord($0) })
    if isQuoted || !words.allSatisfy(TypedTextReader.isOfWord) {
      return .phrase(text, isPrefix: isPrefix)
    }
    return isPrefix ? .prefix(text) : .word(text)
  }

  /// True if a character may begin a word. A mark that has lost its letter may not: it would join
  /// what stands before it.
  private static func isOfWord(_ character: Character) -> Bool {
    guard character.isLetter || character.isNumber else { return false }
    return switch character.unicodeScalars.first?.properties.generalCategory {
    case .spacingMark?, .nonspacingMark?, .enclosingMark?: false
    default: true
    }
  }
}
