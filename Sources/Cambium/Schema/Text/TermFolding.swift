// The folding that makes two spellings one term: it ignores case, the encoding of an accent as a
// separate scalar, and optionally the accents themselves. Unicode's case folding and normalization
// are utf8proc's; plain ASCII is done here.

import CUTF8Proc

/// Folds words.
enum TermFolding {
  private static let composed =
    UTF8PROC_STABLE.rawValue | UTF8PROC_COMPOSE.rawValue | UTF8PROC_IGNORE.rawValue

  /// Adds a word's folded form, composed (NFC); invisible scalars are left out.
  static func append(_ word: RawSpan, to term: inout [UInt8]) {
    term += Folding.mapped(word, composed | UTF8PROC_CASEFOLD.rawValue) ?? word.array()
  }

  /// A folded term without its accents: marks above and below letters, and the points of scripts
  /// that are usually written without them. Vowel signs, which are letters, stay.
  static func withoutDiacritics(_ term: [UInt8]) -> [UInt8] {
    let options = UTF8PROC_STABLE.rawValue | UTF8PROC_DECOMPOSE.rawValue
    let decomposed = term.lend { Folding.mapped($0, options) } ?? term
    var plain = ""
    for scalar in String(decoding: decomposed, as: UTF8.self).unicodeScalars {
      if !isAccent(scalar) { plain.unicodeScalars.append(scalar) }
    }
    let bytes = Array(plain.utf8)
    return bytes.lend { Folding.mapped($0, composed) } ?? bytes
  }

  private static func isAccent(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.canonicalCombiningClass.rawValue {
    case 10...36, 200...240: true
    default: false
    }
  }
}
