import Cambium
import Testing

@testable import CambiumCommands

@Suite("The commands that a server offers") struct ServingsTests {
  private static let all = (Commands.all + Commands.hidden).flatMap { command in
    command.servings.map { (command, $0) }
  }

  @Test("have each name once for a method, and leave out what there is")
  func names() {
    let names = Self.all.map { "\($1.method) \($1.name ?? $0.name)" }
    #expect(Set(names).count == names.count)
    for (command, serving) in Self.all {
      let known = Set(command.operands.map(\.parameter) + command.options.map(\.name))
      let named = serving.without + serving.rootOnly + serving.fixed
      #expect(known.isSuperset(of: named), "\(command.name): \(named)")
    }
  }

  @Test("have parameters that can be told apart, and name no file of the server")
  func parameters() {
    for (command, serving) in Self.all {
      let parser = RequestParser(command: command, serving: serving, here: Served.here(.root))
      let names = parser.operands.map(\.parameter) + parser.options.map(\.name)
      #expect(Set(names).count == names.count, "\(command.name): \(names)")
      #expect(parser.options.allSatisfy { $0.value?.kind != .file && $0.value?.kind != .database })
      let files = parser.operands.filter { $0.kind == .file }
      #expect(files.allSatisfy { $0.name == serving.body })
    }
  }

  @Test("change nothing by GET")
  func reading() {
    let changing: Set = [
      "put", "patch", "update", "mv", "delete", "apply", "undo", "redo", "revert", "restore",
      "import", "erase", "declare", "migrate", "merge", "replay", "repair",
    ]
    for (command, serving) in Self.all where serving.method == .get {
      #expect(!changing.contains(command.name))
      // These change something with an operand or option that a GET must not have.
      let parser = RequestParser(command: command, serving: serving, here: Served.here(.root))
      let names = Set(parser.operands.map(\.parameter) + parser.options.map(\.name))
      if command.name == "tag" { #expect(names.isDisjoint(with: ["name", "delete"])) }
      if command.name == "consumers" { #expect(names.isDisjoint(with: ["action"])) }
      if command.name == "compact" { #expect(serving.fixed == ["dry-run"]) }
    }
  }

  @Test("read flags, numbers and conditions as the command line does")
  func reads() throws {
    let (command, serving) = try #require(CommandService.offer(.get, "log"))
    let parser = RequestParser(command: command, serving: serving, here: Served.here("a/b"))
    let call = try parser.parse(
      [("match", "actor=anna"), ("match", "op=insert"), ("limit", "5"), ("reverse", "")],
      hasBody: false)
    #expect(call.all(.matches).map(\.text) == ["actor=anna", "op=insert"])
    #expect(call[.limit]?.number == 5)
    #expect(call.has(.reverse))
    #expect(call.format == .json)
    // A path that is left out is the caller's scope.
    #expect(call[LogCommand.path]?.path == "a/b")
    let plain = try parser.parse([("path", "c"), ("reverse", "false")], hasBody: false)
    #expect(plain[LogCommand.path]?.path == "c")
    #expect(!plain.has(.reverse))
    #expect(throws: Failure.self) { try parser.parse([("reverse", "maybe")], hasBody: false) }
  }
}
