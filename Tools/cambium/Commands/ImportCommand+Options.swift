// The options of an import: which of them go together, and what they say.

import Cambium
import Foundation

extension ImportCommand {
  /// Refuses an option that would be ignored, before anything is done.
  static func checkOptions(_ call: Call, isGit: Bool) throws {
    if isGit {
      try refuse(
        [
          key, onDuplicate, format, delimiter, text, null, children, records, model, keyCase, dates,
          ignoreUnknown, .reason,
        ], call, "files, not for --git")
      // The variable of the surroundings is for all commands, and not a wish about this one.
      if call[.actor]?.text != Surroundings.current().fallback(of: .actor) {
        try refuse([.actor], call, "files, not for --git")
      }
    } else {
      try refuse([contents, skipInvalid], call, "--git")
    }
  }

  static func checkOptions(_ call: Call, _ form: String) throws {
    if call.has(model) {
      try refuse([text, children, records], call, "imports without --model")
    } else {
      try refuse([keyCase, dates, ignoreUnknown], call, "imports with --model")
    }
    if form == "csv" || form == "tsv" {
      try refuse([children, records], call, "JSON")
    } else {
      try refuse([delimiter, text, null], call, "CSV")
    }
    if call.has(onDuplicate) && !call.has(key) && !call.has(model) {
      throw Failure.usage(
        "--on-duplicate is for rows with keys", hint: "add --key, or leave it out")
    }
  }

  /// The treatment of rows of one key.
  static func treatment(_ call: Call) -> DuplicateKeys.Treatment {
    call[onDuplicate].flatMap { DuplicateKeys.Treatment(rawValue: $0.text) } ?? .refused
  }

  /// The byte between the fields of a table.
  static func separator(_ call: Call, _ form: String) throws -> UInt8 {
    guard let text = call[delimiter]?.text else {
      return form == "tsv" ? ASCII.tab : ASCII.comma
    }
    if text == "tab" || text == "\\t" { return ASCII.tab }
    let bytes = Array(text.utf8)
    if bytes.count == 1, bytes[0] < 0x80, bytes[0] != ASCII.quote, bytes[0] != ASCII.lineFeed,
      bytes[0] != ASCII.carriageReturn, !Character(Unicode.Scalar(bytes[0])).isLetter,
      !ASCII.isDigit(bytes[0])
    {
      return bytes[0]
    }
    throw Failure.usage(
      "--delimiter cannot be \(JSONText.quoted(text))",
      hint: "it is one sign of ASCII, such as ; or |, or the word tab")
  }

  static func refuse(_ options: [Option], _ call: Call, _ use: String) throws {
    for option in options where call.has(option) {
      throw Failure.usage("--\(option.name) is for \(use)", hint: "leave it out")
    }
  }

  /// `csv`, `jsonl` or `json`, from the option or the file's name.
  static func inputForm(_ call: Call, _ name: String) throws -> String {
    if let form = call[format]?.text { return form }
    for form in ["csv", "tsv", "jsonl", "json"] where name.lowercased().hasSuffix("." + form) {
      return form
    }
    if (try? FileManager.default.contentsOfDirectory(atPath: name)) != nil {
      throw Failure.usage(
        "\(name) is a folder; what is imported is a file",
        hint: "name the database first, and then the FILE")
    }
    throw Failure.usage(
      "\(name == "-" ? "standard input" : name) does not say what it holds",
      hint: "add --format csv, tsv, jsonl or json")
  }

  /// The mark that `--null` gives for an absent field.
  static func absentMark(_ text: String?) throws -> AbsentMark {
    guard let text else { return .none }
    if let mark = AbsentMark(text) { return mark }
    throw Failure.usage(
      "--null cannot be \(JSONText.quoted(text))",
      hint: "choose a text without commas, quotes and line ends, such as NA")
  }

  /// Two imports with the same words are the same one: the second continues the first.
  static func identity(
    _ call: Call, _ name: String, _ form: String, _ size: UInt64
  ) -> [String] {
    let path = name == "-" ? "-" : URL(filePath: name).standardizedFileURL.path
    func given(_ options: Option...) -> [String] { options.map { call[$0]?.text ?? "" } }
    return [path, String(size), form, call.value(into).text]
      + given(key, batch, null, delimiter, onDuplicate)
      + call.all(text).map(\.text) + [
        call.has(records) ? "records" : "", call.has(children) ? "children" : "whole",
      ]
      + (call.has(model) ? ["model"] + given(keyCase, dates) : [])
  }
}
