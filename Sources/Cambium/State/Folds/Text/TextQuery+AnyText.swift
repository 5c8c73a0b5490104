// The text that people type into a search field, read so that no input is an error:
//
//     white whale          both words
//     "in a row"           words in this order; without a closing mark, up to the end of the text
//     whal*                words with this beginning
//     -white               without this word, if another one is searched for
//     whale OR shark       one or the other
//     https://a.org/b      a text of several words, in a row
//
// Everything else separates words. If OR, AND and NOT lack a word beside them, they are left out;
// if nothing else was typed, they are words.

extension TextQuery {
  /// Reads a text that a person has typed; no text is refused.
  ///
  ///     let found = try books.search(anyText: field.text)
  ///
  /// All words are required; words between quotation marks must be in a row. `*` after a word
  /// matches any ending, `-` before a word excludes the texts that have it, and `OR` separates
  /// alternatives. Anything else counts as space, including a quotation mark without a second one
  /// and an operator without its words. A text without a word finds nothing, nor does one that only
  /// excludes.
  ///
  /// Use ``init(parsing:)`` for queries that a program writes, or if people want to see the errors
  /// in theirs.
  ///
  /// - Parameter text: The typed text; its first 64 parts count.
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

    /// The word that looks like an operator, as a plain word.
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

  /// All parts together; nil if nothing is searched for.
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

  /// A part, before which NOT may be a plain word.
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

  /// The query for some words; nil if there are none.
  private mutating func query(
    _ words: ArraySlice<Character>, isQuoted: Bool, isPrefix: Bool = false
  ) -> TextQuery? {
    guard words.contains(where: TypedTextReader.isOfWord) else { return nil }
    var isPrefix = isPrefix
    if isQuoted, index < characters.count, characters[index] == "*" {
      isPrefix = true
      index += 1
    }
    let end = words.lastIndex(where: TypedTextReader.isOfWord).map { $0 + 1 } ?? words.endIndex
    let text = String(words[..<end].drop { !TypedTextReader.isOfWord($0) })
    if isQuoted || !words.allSatisfy(TypedTextReader.isOfWord) {
      return .phrase(text, isPrefix: isPrefix)
    }
    return isPrefix ? .prefix(text) : .word(text)
  }

  /// True if a character may begin a word. A combining mark without its letter may not: it would
  /// join the preceding text.
  private static func isOfWord(_ character: Character) -> Bool {
    guard character.isLetter || character.isNumber else { return false }
    return switch character.unicodeScalars.first?.properties.generalCategory {
    case .spacingMark?, .nonspacingMark?, .enclosingMark?: false
    default: true
    }
  }
}
