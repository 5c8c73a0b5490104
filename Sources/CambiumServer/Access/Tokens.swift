import CSodium
import Cambium
import FoundationEssentials
import Synchronization

/// The tokens that a server knows, and what the holder of each may do.
///
/// A file of them has a line for each: the token, and then in any order `read` (the default) or
/// `write`, `path=PATH` for a part of the tree, and `name=NAME`, under which changes are recorded.
/// Empty lines and those that begin with `#` are comments:
///
///     # the dashboard
///     4f1d0c3b9a7e5d2f8c6b read path=flights name=dashboard
///     91c2e7a05b8d4f6e3a1c write
///
/// Only hashes of them are kept, and compared in a time that does not depend on what is alike.
final class Tokens: Sendable {
  struct Entry: Sendable {
    let hash: [UInt8]
    let caller: Caller
  }

  private let entries: Mutex<[Entry]>

  init(_ text: String) throws(ServerError) { entries = Mutex(try Tokens.read(text)) }

  var isEmpty: Bool { entries.withLock { $0.isEmpty } }

  /// The holder of a token, or nil where it is not known.
  func caller(_ token: String) -> Caller? {
    caller(of: Tokens.hash(token))
  }

  private func caller(of hash: [UInt8]) -> Caller? {
    var found: Caller?
    for entry in entries.withLock({ $0 }) where Tokens.areEqual(entry.hash, hash) {
      found = entry.caller
    }
    return found
  }

  /// Takes the tokens of a new text. Those that are not in it any more, or may do something else
  /// now, are withdrawn, which ends their streams.
  func replace(_ text: String) throws(ServerError) {
    let read = try Tokens.read(text)
    let withdrawn = entries.withLock { entries in
      let old = entries
      entries = read.map { new in
        old.first { $0.hash == new.hash && $0.caller.mayTheSame(as: new.caller) } ?? new
      }
      let kept = entries.map(\.caller.withdrawal)
      return old.filter { old in !kept.contains { $0 === old.caller.withdrawal } }
    }
    for entry in withdrawn { entry.caller.withdrawal.withdraw(for: caller(of: entry.hash)) }
  }

  static func read(_ text: String) throws(ServerError) -> [Entry] {
    var entries: [Entry] = []
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let words = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }
      guard let token = words.first, !token.hasPrefix("#") else { continue }
      guard token.utf8.count >= tokenBytesMin else {
        throw .badFile(
          "line \(index + 1): a token has at least \(tokenBytesMin) characters; "
            + "`openssl rand -hex 20` makes one")
      }
      let caller = try caller(words.dropFirst(), line: index + 1)
      entries.append(Entry(hash: hash(String(token)), caller: caller))
    }
    return entries
  }

  private static let tokenBytesMin = 16

  private static func caller(
    _ words: ArraySlice<Substring>, line: Int
  ) throws(ServerError) -> Caller {
    var caller = Caller(scope: .root, canWrite: false)
    for word in words {
      if word == "read" || word == "write" {
        caller.canWrite = word == "write"
      } else if word.hasPrefix("path=") {
        do { caller.scope = try NodePath(word.dropFirst(5)) } catch {
          throw .badFile("line \(line): \(word.dropFirst(5)) is no path")
        }
      } else if word.hasPrefix("name=") {
        caller.name = String(word.dropFirst(5))
      } else {
        throw .badFile(
          "line \(line): “\(word)” is not understood; behind a token stand read or write, "
            + "path=PATH and name=NAME")
      }
    }
    return caller
  }

  private static func hash(_ token: String) -> [UInt8] {
    var hash = [UInt8](repeating: 0, count: 32)
    let bytes = Array(token.utf8)
    unsafe _ = crypto_generichash(&hash, hash.count, bytes, UInt64(bytes.count), nil, 0)
    return hash
  }

  private static func areEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    unsafe a.count == b.count && sodium_memcmp(a, b, a.count) == 0
  }
}

extension Caller {
  fileprivate func mayTheSame(as other: Caller) -> Bool {
    name == other.name && scope == other.scope && canWrite == other.canWrite
  }
}
