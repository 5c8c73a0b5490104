import Cambium
import FoundationEssentials

/// A command line that was understood: the command, and every operand and option read.
struct Invocation: Sendable {
  let command: Command
  /// The directory of the database; empty for a command that takes none.
  let database: String
  /// The arguments that were given or fallen back to, by an operand's name or by an option's with
  /// two dashes.
  private let arguments: [String: [Argument]]

  init(command: Command, database: String, arguments: [String: [Argument]]) {
    self.command = command
    self.database = database
    self.arguments = arguments
  }

  /// An option's value, or its fallback, or nil.
  subscript(option: Option) -> Argument? { all(option).last }

  /// An operand, or nil where it may be left out and was.
  subscript(operand: Operand) -> Argument? { all(operand).first }

  /// The value of an option that always has one: it is required, or falls back.
  func value(_ option: Option) -> Argument {
    guard let value = self[option] else { preconditionFailure("--\(option.name) is optional") }
    return value
  }

  /// An operand that cannot be left out.
  func value(_ operand: Operand) -> Argument {
    guard let value = self[operand] else { preconditionFailure("\(operand.name) is optional") }
    return value
  }

  /// Every value of an option that repeats.
  func all(_ option: Option) -> [Argument] {
    precondition(
      command.allOptions.contains { $0.name == option.name },
      "\(command.name) declares no option --\(option.name)")
    return arguments["--" + option.name] ?? []
  }

  /// Every value of an operand that repeats.
  func all(_ operand: Operand) -> [Argument] {
    precondition(
      command.operands.contains { $0.name == operand.name },
      "\(command.name) declares no operand \(operand.name)")
    return arguments[operand.name] ?? []
  }

  /// True if an option was given, or falls back to a value.
  func has(_ option: Option) -> Bool { !all(option).isEmpty }
}

/// The values of the shared options; for a command that does not declare one, its fallback.
extension Invocation {
  var format: OutputFormat { OutputFormat(rawValue: word("output", else: "short")) ?? .short }
  var color: String { word(Option.color.name, else: "auto") }
  var progress: String { isQuiet ? "never" : word(Option.progress.name, else: "auto") }
  var isQuiet: Bool { arguments["--" + Option.quiet.name] != nil }
  /// The time to wait for another writer.
  var patience: Duration { arguments["--" + Option.wait.name]?.last?.duration ?? .seconds(5) }
  var isPaged: Bool {
    command.options.contains { $0.name == Option.noPager.name }
      && arguments["--" + Option.noPager.name] == nil && [.short, .table].contains(format)
  }

  var databaseOptions: Database.Options {
    var options = Database.Options()
    options.busyTimeout = patience
    return options
  }

  private func word(_ name: String, else fallback: String) -> String {
    arguments["--" + name]?.last?.text ?? fallback
  }
}

/// An operand or an option's value, as its ``Kind`` says. Asking for another kind than the declared
/// one is a mistake in the command and traps.
struct Argument: Equatable, Sendable {
  /// The value that was read from the text.
  enum Reading: Equatable, Sendable {
    case text
    case number(Int)
    case path(NodePath)
    case moment(PointInTime)
    case range(MomentRange)
    /// Nil for the `+` between groups.
    case match(Match?)
    case duration(Duration)
  }

  /// As it was given.
  let text: String
  let reading: Reading

  var number: Int { if case .number(let number) = reading { number } else { mismatch("number") } }
  var path: NodePath { if case .path(let path) = reading { path } else { mismatch("path") } }
  var moment: PointInTime {
    if case .moment(let moment) = reading { moment } else { mismatch("moment") }
  }
  var range: MomentRange {
    if case .range(let range) = reading { range } else { mismatch("range") }
  }

  /// A condition, or nil for the `+` between groups of them.
  var match: Match? { if case .match(let match) = reading { match } else { mismatch("match") } }

  var duration: Duration {
    if case .duration(let duration) = reading { duration } else { mismatch("span") }
  }

  private func mismatch(_ kind: String) -> Never {
    preconditionFailure("“\(text)” was not declared as a \(kind)")
  }
}

/// The place and time at which a command line is read, on which its meaning depends.
struct Surroundings: Sendable {
  var environment: [String: String]
  var now: Date
  var zone: Zone
  var holdsDatabase: @Sendable (String) -> Bool

  /// The surroundings of this process, or of the request that the task answers.
  static func current() -> Surroundings {
    if let served = Served.current { return served.here }
    return Surroundings(
      environment: ProcessInfo.processInfo.environment, now: Date(), zone: .system,
      holdsDatabase: { FileManager.default.fileExists(atPath: $0 + "/log/data.mdb") })
  }

  /// The value of an option that is not given.
  func fallback(of option: Option) -> String? {
    if option.name == Option.actor.name, let name = environment["CAMBIUM_ACTOR"], !name.isEmpty {
      return name
    }
    return option.fallback
  }

  /// The database where none is named.
  var defaultDatabase: String? {
    if let named = environment["CAMBIUM_DB"], !named.isEmpty { return named }
    return holdsDatabase(".") ? "." : nil
  }

  /// The node that a path without a leading slash starts at.
  var base: NodePath { environment["CAMBIUM_NODE"].flatMap { try? NodePath($0) } ?? .root }

  /// The path that a text means; it may end with a slash, as completed ones do.
  static func path(_ text: String, from base: NodePath) throws -> NodePath {
    let body = text.hasSuffix("/") && !text.hasSuffix("//") ? text.dropLast() : text[...]
    return text.hasPrefix("/") ? try NodePath(body) : base.appending(try NodePath(body))
  }

  /// True if a word can only mean a database.
  func looksLikeDatabase(_ word: String) -> Bool {
    let name = word.hasSuffix("/") ? word.dropLast() : word[...]
    return name.hasSuffix(".cambium") || holdsDatabase(word)
  }
}

extension Kind {
  /// Reads a text; `label` says in a message which: `--depth` or `PATH`.
  func read(_ text: String, _ label: String, _ here: Surroundings) throws(Failure) -> Argument {
    do {
      return Argument(text: text, reading: try reading(text, here))
    } catch let failure as Failure {
      throw failure
    } catch let error as GrammarError {
      throw Failure(unreadable: error, label)
    } catch let error as DatabaseError {
      let failure = Failure(error, database: nil)
      // A path that is too long is written as it should be, and refused as a value would be.
      if case .badKey(let key, _) = error, key.utf8.count > Key.textBytesMax {
        throw Failure(
          .refused, failure.code,
          "\(label) is too long: “\(key.prefix(20))…” has "
            + "\(key.utf8.count) bytes, and a key has at most \(Key.textBytesMax)")
      }
      throw Failure.usage("\(label): \(failure.message ?? "")", hint: failure.hint)
    } catch {
      throw Failure.usage("\(label): \(error)")
    }
  }

  /// Refuses a name that no file can have.
  private static func checkLength(ofFile path: String) throws(Failure) {
    let name = path.utf8.split(separator: UInt8(ascii: "/")).max { $0.count < $1.count }
    for (word, count, most) in [
      ("a name in it", name?.count ?? 0, 255), ("it", path.utf8.count, 4095),
    ] where count > most {
      throw Failure(
        .refused, "path_too_long",
        "the path \(path.prefix(40))… is too long: \(word) has \(count) bytes; \(most) is the limit"
      )
    }
  }

  private func reading(_ text: String, _ here: Surroundings) throws -> Argument.Reading {
    switch self {
    case .file, .database:
      try Kind.checkLength(ofFile: text)
      return .text
    case .text, .subject: return .text
    case .path: return .path(try Surroundings.path(text, from: here.base))
    case .moment: return .moment(try PointInTime(text, now: here.now, zone: here.zone))
    case .range: return .range(try MomentRange(text, now: here.now, zone: here.zone))
    case .span: return .duration(try TimeSpan.duration(text))
    case .match: return .match(text == "+" ? nil : try Match(text))
    case .pattern:
      if (try? TextPattern(text, ignoresCase: false)) != nil { return .text }
      throw GrammarError(text: text, offset: 0, reason: "it is no regular expression")
    case .choice(let names):
      if names.contains(text) { return .text }
      let list = names.joined(separator: ", ")
      throw GrammarError(text: text, offset: 0, reason: "it is one of \(list)")
    case .number(let range):
      if let number = Int(text), range.contains(number) { return .number(number) }
      let upper = range.upperBound == .max ? "up" : "to \(range.upperBound)"
      throw GrammarError(
        text: text, offset: 0, reason: "it is a whole number from \(range.lowerBound) \(upper)")
    }
  }
}

extension Failure {
  fileprivate init(unreadable error: GrammarError, _ label: String) {
    self.init(.usage, "usage", "\(label) cannot be “\(error.text)”: \(error.reason)")
    excerpt = Excerpt(text: error.text, offset: error.offset)
  }
}
