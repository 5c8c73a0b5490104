// Goal: every shape of a query works as the first call of a process that was built for release,
// where the runtime makes the types that it needs for the first time. Method: each shape runs in a
// process of its own, which opens a database, writes a few records, asks that one question, and
// compares the answer with the one beside it.

import Cambium
import Testing

@Suite("The first query of a process")
struct ShapeTests {
  @Test("answers, whatever its shape", arguments: Shape.all.map(\.name))
  func first(name: String) async {
    await #expect(processExitsWith: .success) { [name] in
      await reporting {
        let shape = try #require(Shape.all.first { $0.name == name })
        try withFlights(shape.run)
      }
    }
  }

  @Test("has a name of its own")
  func names() { #expect(Set(Shape.all.map(\.name)).count == Shape.all.count) }
}

/// A way to ask, and a check of what is answered.
struct Shape: Sendable {
  let name: String
  let run: @Sendable (Database) throws -> Void

  init(_ name: String, _ run: @escaping @Sendable (Database) throws -> Void) {
    (self.name, self.run) = (name, run)
  }

  /// No macro, inside of which `try` does not make a closure one that throws.
  static func check(_ holds: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(holds, sourceLocation: sourceLocation)
  }

  static let all = whole + loading + selected + joined + grouped + text + others
}
