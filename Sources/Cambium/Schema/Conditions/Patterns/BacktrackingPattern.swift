// Regular expressions that backtrack, for queries: PCRE2's, with limits on the cost of one text.
// An expression that reaches a limit is refused with an error; it neither runs on nor counts as one
// that does not match.
//
// Texts are compared scalar by scalar, with Unicode's classes; `.` does not match the end of a
// line, and `$` matches only at the end of the text.

import CPCRE2

/// A regular expression with all of PCRE2's features.
///
/// A compiled expression is not changed by matching; the data for matching is made for each text.
@safe final class BacktrackingPattern: @unchecked Sendable {
  // It is Sendable because PCRE2 reads compiled code and match contexts, and writes to neither.
  private let code: OpaquePointer
  private let limits: OpaquePointer

  /// The most recursive calls of a text's match: at 15 to 40 ns each, they take 40 ms at most.
  private static let callsMax: UInt32 = 1_000_000
  /// The maximum nesting depth, and the memory that it may take, in KiB.
  private static let depthMax: UInt32 = 100_000
  private static let heapMax: UInt32 = 20_000

  /// Compiles a pattern.
  ///
  /// - Parameters:
  ///   - pattern: The pattern.
  ///   - ignoresCase: True to ignore case.
  /// - Throws: ``PatternError``.
  init(_ pattern: String, ignoresCase: Bool) throws(PatternError) {
    let pattern = Array(try PatternTranslation.translated(pattern).utf8)
    guard let context = unsafe pcre2_compile_context_create_8(nil),
      let limits = unsafe pcre2_match_context_create_8(nil)
    else { throw PatternError(reason: "there is no memory for it") }
    defer { unsafe pcre2_compile_context_free_8(context) }
    unsafe pcre2_set_newline_8(context, UInt32(PCRE2_NEWLINE_ANY))
    unsafe pcre2_set_match_limit_8(limits, Self.callsMax)
    unsafe pcre2_set_depth_limit_8(limits, Self.depthMax)
    unsafe pcre2_set_heap_limit_8(limits, Self.heapMax)
    let options =
      UInt32(PCRE2_UTF) | UInt32(PCRE2_UCP) | UInt32(PCRE2_DOLLAR_ENDONLY)
      | UInt32(PCRE2_NEVER_BACKSLASH_C) | UInt32(PCRE2_MATCH_INVALID_UTF)
      | (ignoresCase ? UInt32(PCRE2_CASELESS) : 0)
    var (problem, place) = (Int32(0), 0)
    let code = unsafe pcre2_compile_8(
      pattern, pattern.count, options, &problem, &place, context)
    guard let code = unsafe code else {
      unsafe pcre2_match_context_free_8(limits)
      throw PatternError(reason: "\(BacktrackingPattern.message(problem)), at byte \(place + 1)")
    }
    unsafe (self.code, self.limits) = unsafe (code, limits)
  }

  deinit {
    unsafe pcre2_code_free_8(code)
    unsafe pcre2_match_context_free_8(limits)
  }

  /// True if a part of a text in UTF-8 matches.
  ///
  /// - Throws: ``QueryError`` if a limit is reached.
  func matches(_ text: RawSpan) throws -> Bool {
    guard let match = unsafe pcre2_match_data_create_8(1, nil) else {
      throw QueryError("there is no memory for a regular expression")
    }
    defer { unsafe pcre2_match_data_free_8(match) }
    let result = unsafe text.withUnsafeBytes { bytes in
      let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
      return unsafe pcre2_match_8(code, start, bytes.count, 0, 0, match, limits)
    }
    if result >= 0 { return true }
    if result == PCRE2_ERROR_NOMATCH { return false }
    if result == PCRE2_ERROR_NOMEMORY {
      throw QueryError("there is no memory for a regular expression")
    }
    throw QueryError(
      "the regular expression takes too long on a text of \(text.byteCount) bytes "
        + "(\(BacktrackingPattern.message(result))); write it without repetitions inside of "
        + "repetitions, lookaround and backreferences, and it takes linear time")
  }

  private static func message(_ code: Int32) -> String {
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = unsafe pcre2_get_error_message_8(code, &buffer, buffer.count)
    return String(decoding: buffer.prefix(max(0, Int(count))), as: UTF8.self)
  }
}

/// Translates the expressions that queries have always accepted to PCRE2's syntax. Constructs that
/// PCRE2 would read differently, without an error, are translated or refused.
enum PatternTranslation {
  static func translated(_ pattern: String) throws(PatternError) -> String {
    var result = String.UnicodeScalarView()
    let scalars = Array(pattern.unicodeScalars)
    var (index, isInClass) = (0, false)
    while index < scalars.count {
      let rest = scalars[index...]
      if rest.starts(with: "\\Q".unicodeScalars) {
        let end = quotedEnd(scalars, index + 2)
        result.append(contentsOf: scalars[index..<end])
        index = end
      } else if scalars[index] == "\\" {
        index = try escape(scalars, index, &result)
      } else if !isInClass, rest.starts(with: "{,".unicodeScalars),
        index + 2 < scalars.count, ("0"..."9").contains(scalars[index + 2])
      {
        result.append(contentsOf: "{0,".unicodeScalars)
        index += 2
      } else {
        try checkClass(rest, &isInClass)
        result.append(scalars[index])
        index += 1
      }
    }
    return String(result)
  }

  private static func checkClass(
    _ rest: ArraySlice<Unicode.Scalar>, _ isInClass: inout Bool
  ) throws(PatternError) {
    if !isInClass {
      isInClass = rest.first == "["
    } else if rest.first == "]" {
      isInClass = false
    } else if rest.first == "[", !rest.starts(with: "[:".unicodeScalars) {
      throw PatternError(reason: "classes inside of classes are not taken; escape a bracket")
    } else if ["&&", "--", "~~"].contains(where: { rest.starts(with: $0.unicodeScalars) }) {
      throw PatternError(reason: "classes cannot be put together by “&&”, “--” or “~~”")
    }
  }

  private static func quotedEnd(_ scalars: [Unicode.Scalar], _ start: Int) -> Int {
    var index = start
    while index + 1 < scalars.count, scalars[index] != "\\" || scalars[index + 1] != "E" {
      index += 1
    }
    return min(index + 2, scalars.count)
  }

  /// `\u{61}`, `\u0061` and `\U00000061` become `\x{61}`; other escapes stay.
  private static func escape(
    _ scalars: [Unicode.Scalar], _ start: Int, _ result: inout String.UnicodeScalarView
  ) throws(PatternError) -> Int {
    let name = start + 1 < scalars.count ? scalars[start + 1] : nil
    guard let name, name == "u" || name == "U" else {
      let end = min(start + 2, scalars.count)
      result.append(contentsOf: scalars[start..<end])
      return end
    }
    var end = start + 2
    let isBraced = end < scalars.count && scalars[end] == "{"
    if isBraced { end += 1 }
    let first = end
    let most = isBraced ? 8 : name == "u" ? 4 : 8
    while end < scalars.count, end - first < most, Character(scalars[end]).isHexDigit { end += 1 }
    let digits = String(String.UnicodeScalarView(scalars[first..<end]))
    let isClosed = isBraced ? end < scalars.count && scalars[end] == "}" : end - first == most
    guard isClosed, !digits.isEmpty else {
      throw PatternError(reason: "“\\\(name)” needs hexadecimal digits, at scalar \(start + 1)")
    }
    result.append(contentsOf: "\\x{\(digits)}".unicodeScalars)
    return isBraced ? end + 1 : end
  }
}
