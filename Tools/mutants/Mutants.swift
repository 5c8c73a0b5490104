// Makes mutants of the sources, and keeps the ledger of a mutation run; Tools/mutate calls it.
//
//     mutants list                                     counts what could be drawn
//     mutants draw LEDGER SEED COUNT FOLDER            draws mutants, and writes FOLDER/drawn,
//                                                      FOLDER/spare with some more, and
//                                                      FOLDER/Sources with all of them
//     mutants note LEDGER FOLDER NUMBER VERDICT TEXT   writes a line of the ledger
//     mutants score LEDGER SEED COUNT PERCENT          prints the score; fails below the bar
//
// A line of `drawn` has a mutant's number, the columns of its identity, and its verdict and detail
// if the ledger has them. The number is a mutant's place in the order that the seed gives to all:
// it stays the same when another mutant is refused by the compiler.

import Foundation
import SwiftOperators
import SwiftParser
import SwiftSyntax

@main struct Mutants {
  /// The folders of Sources that are changed.
  private static let folders = [
    "LMDB", "Cambium/Log", "Cambium/State", "Cambium/Engine", "Cambium/Maintenance",
  ]

  static func main() {
    do { try run(Array(CommandLine.arguments.dropFirst())) } catch {
      let text = (error as? Failure)?.text ?? "\(error)"
      FileHandle.standardError.write(Data("mutants: \(text)\n".utf8))
      exit(2)
    }
  }

  private static func run(_ words: [String]) throws {
    switch (words.first, words.count) {
    case ("list", 1): list(try Source.all(in: folders))
    case ("draw", 5):
      try draw(Draw(try Ledger(path: words[1]), words[2], words[3], folders), into: words[4])
    case ("note", 6): try note(words[1], words[2], words[3], words[4], words[5])
    case ("score", 5):
      let draw = try Draw(try Ledger(path: words[1]), words[2], words[3], folders)
      let score = Score(draw.drawn.map(\.mutant.identity), draw.ledger.lines)
      print(score.table, terminator: "")
      guard let percent = Int(words[4]) else { throw Failure(text: "a percentage is needed") }
      exit(score.reaches(percent) ? 0 : 1)
    default: throw Failure(text: "see the head of Tools/mutants/Mutants.swift")
    }
  }

  private static func list(_ sources: [Source]) {
    var counts: [String: Int] = [:]
    for identity in sources.flatMap(\.mutants).map(\.identity) {
      counts["\(identity.folder)\t\(identity.kind)", default: 0] += 1
    }
    for (name, count) in counts.sorted(by: { $0.key < $1.key }) { print("\(name)\t\(count)") }
  }

  private static func draw(_ draw: Draw, into folder: String) throws {
    for source in draw.sources {
      let mutants = (draw.drawn + draw.spare).filter { $0.mutant.identity.file == source.file }
      if mutants.isEmpty { continue }
      try write(Rendering(source.text).text(mutants), to: "\(folder)/Sources/\(source.file)")
    }
    for module in ["LMDB", "Cambium"] {
      try write(Rendering.theSwitch, to: "\(folder)/Sources/\(module)/Mutant.swift")
    }
    try write(draw.lines(draw.drawn), to: "\(folder)/drawn")
    try write(draw.lines(draw.spare), to: "\(folder)/spare")
  }

  private static func write(_ text: String, to path: String) throws {
    let folder = URL(filePath: path).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try text.write(toFile: path, atomically: true, encoding: .utf8)
  }

  private static func note(
    _ ledgerPath: String, _ folder: String, _ number: String, _ verdict: String, _ detail: String
  ) throws {
    var ledger = try Ledger(path: ledgerPath)
    let drawn = try ["drawn", "spare"].map {
      try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8)
    }.joined()
    guard let line = drawn.split(separator: "\n").first(where: { $0.hasPrefix(number + "\t") }),
      let verdict = Ledger.Verdict(rawValue: verdict),
      let identity = Mutant.Identity(
        Array(line.split(separator: "\t", omittingEmptySubsequences: false).dropFirst()))
    else { throw Failure(text: "there is no mutant \(number), or no verdict \(verdict)") }
    try ledger.note(identity, Ledger.Line(verdict: verdict, detail: detail))
  }
}

/// A source file and what can be changed in it.
struct Source {
  /// The path below Sources.
  let file: String
  let text: String
  let mutants: [Mutant]

  static func all(in folders: [String]) throws -> [Source] {
    try folders.flatMap { folder in
      let names = try FileManager.default.subpathsOfDirectory(atPath: "Sources/\(folder)")
      return try names.filter { $0.hasSuffix(".swift") }.sorted().map { name in
        let file = "\(folder)/\(name)"
        let text = try String(contentsOfFile: "Sources/\(file)", encoding: .utf8)
        let tree = OperatorTable.standardOperators.foldAll(Parser.parse(source: text)) { _ in }
        return Source(file: file, text: text, mutants: Collector(file: file, tree: tree).mutants)
      }
    }
  }
}

/// The mutants that a seed gives.
struct Draw {
  let sources: [Source]
  let ledger: Ledger
  /// The mutants, numbered by their place among all, without those that the compiler refused.
  let drawn: [(number: Int, mutant: Mutant)]
  /// More of them, which are tried with the compiler beside those, in case that it refuses some.
  let spare: [(number: Int, mutant: Mutant)]

  init(_ ledger: Ledger, _ seed: String, _ count: String, _ folders: [String]) throws {
    guard let seed = UInt64(seed), let count = Int(count) else {
      throw Failure(text: "the seed and the count are numbers")
    }
    self.ledger = ledger
    sources = try Source.all(in: folders)
    let all = sources.flatMap(\.mutants).map { ($0.identity.rank(seed: seed), $0) }
    let ranked = all.sorted { $0.0 < $1.0 }.enumerated().map { ($0.offset + 1, $0.element.1) }
    let valid = ranked.filter { ledger.lines[$0.1.identity]?.verdict != .refused }
    let tried = valid.prefix { $0.0 <= count + count / 8 }.dropFirst(count)
    (drawn, spare) = (Array(valid.prefix(count)), Array(tried))
  }

  /// The lines of a table of mutants.
  func lines(_ mutants: [(number: Int, mutant: Mutant)]) -> String {
    mutants.map { number, mutant in
      let line = ledger.lines[mutant.identity]
      let columns = ["\(number)"] + mutant.identity.columns
      return (columns + [line?.verdict.rawValue ?? "", line?.detail ?? ""])
        .joined(separator: "\t") + "\n"
    }.joined()
  }
}
