import CStemmer

/// Reduces a word to its stem, in one language: Snowball's algorithms.
///
/// It keeps its last result, so it is for one thread at a time; ``TextAnalyzer`` sees to that.
@safe struct Stemmer: ~Copyable, @unchecked Sendable {
  // It is Sendable because the library keeps everything in the object, which has one owner.
  private let handle: OpaquePointer

  /// Makes one.
  ///
  /// - Parameter language: An ISO 639 code, or Snowball's name of an algorithm.
  /// - Throws: ``DatabaseError/misuse(reason:)`` for an unknown one.
  init(_ language: String) throws {
    guard let handle = unsafe sb_stemmer_new(language, "UTF_8") else {
      throw DatabaseError.misuse(
        reason: "there are no stemming rules for the language '\(language)'; use one of "
          + Stemmer.languages.joined(separator: ", "))
    }
    unsafe self.handle = unsafe handle
  }

  deinit { unsafe sb_stemmer_delete(handle) }

  /// The names of the algorithms.
  static var languages: [String] {
    var names: [String] = []
    var next = unsafe sb_stemmer_list()
    while let name = unsafe next?.pointee {
      unsafe names.append(String(cString: name))
      unsafe next = unsafe next?.advanced(by: 1)
    }
    return names
  }

  /// Reduces a folded word in UTF-8 to its stem.
  func stem(_ word: inout ByteBuffer) {
    let stem = unsafe word.lend { bytes in
      unsafe bytes.withUnsafeBytes { bytes in
        let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return unsafe sb_stemmer_stem(handle, start, Int32(bytes.count))
      }
    }
    guard let stem = unsafe stem else { return }
    let count = Int(unsafe sb_stemmer_length(handle))
    word.clear()
    unsafe word.append(UnsafeRawBufferPointer(start: stem, count: count).bytes)
  }
}
