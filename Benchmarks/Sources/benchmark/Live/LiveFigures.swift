#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The figures of the live suite: one table, of which each line is printed once it is known.
final class LiveFigures {
  /// The least or most that a figure may be, or its ratio to the peer's.
  enum Bar {
    case atMost(Double)
    case ratioAtMost(Double)
    case ratioAtLeast(Double)
  }

  private var hasHeader = false
  private var notes: [String] = []

  /// Adds a line: a figure whose name says its unit, and the peer's figure in the same unit.
  func add(
    _ name: String, _ figure: Double, beside peer: (name: String, figure: Double)? = nil,
    bar: Bar? = nil
  ) {
    let ratio = peer.map { figure / $0.figure }
    line([
      name, signed(figure), peer.map { "\($0.name) \(signed($0.figure))" } ?? "–",
      peer.map { $0.figure > 0 } == true ? times(ratio) : "–", words(bar),
      verdict(figure, ratio, bar),
    ])
  }

  /// Keeps a sentence that is printed behind the table.
  func note(_ sentence: String) { notes.append(sentence) }

  /// Prints what is said behind the table.
  func finish() {
    if !notes.isEmpty { print("\n" + notes.joined(separator: "\n\n")) }
    print("")
  }

  private func line(_ cells: [String]) {
    if !hasHeader {
      var table = Table(["figure", "Cambium", "peer", "ratio", "bar", ""])
      table.add(cells)
      print(table.text)
    } else {
      print(Table.line(cells))
    }
    hasHeader = true
    fflush(nil)
  }

  private func signed(_ value: Double) -> String {
    value < 0 ? "−\(digits(-value))" : digits(value)
  }

  private func words(_ bar: Bar?) -> String {
    switch bar {
    case .atMost(let most): "≤ \(digits(most))"
    case .ratioAtMost(let most): "≤ \(times(most))"
    case .ratioAtLeast(let least): "≥ \(times(least))"
    case nil: "–"
    }
  }

  private func verdict(_ figure: Double, _ ratio: Double?, _ bar: Bar?) -> String {
    let passes: Bool? =
      switch bar {
      case .atMost(let most): figure <= most
      case .ratioAtMost(let most): ratio.map { $0 <= most }
      case .ratioAtLeast(let least): ratio.map { $0 >= least }
      case nil: nil
      }
    return passes.map { $0 ? "pass" : "**miss**" } ?? "–"
  }
}
