#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The figures of the live suite: one table, of which each line is printed once it is known.
final class LiveFigures {
  typealias Peer = (name: String, figure: Double)

  private var hasHeader = false
  private var notes: [String] = []

  /// Adds a figure whose name says its unit, and the peer's figure in the same unit.
  func add(_ name: String, _ figure: Double, beside peer: Peer? = nil, bar: FigureBar? = nil) {
    let ratio = peer.flatMap { figure > 0 && $0.figure > 0 ? figure / $0.figure : nil }
    line([
      name, signed(figure), peer.map { "\($0.name): \(signed($0.figure))" } ?? "–", times(ratio),
      bar.map { $0.words(figure, peer?.figure ?? 0) } ?? "–",
      bar.map { $0.isReached(figure, peer?.figure ?? 0) ? "pass" : "**miss**" } ?? "–",
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
    if hasHeader {
      print(Table.line(cells))
    } else {
      var table = Table(["figure", "Cambium", "peer", "ratio", "bar", ""])
      table.add(cells)
      print(table.text)
      hasHeader = true
    }
    fflush(nil)
  }
}

/// The least or most that a figure may be, alone or in comparison with the peer's.
enum FigureBar {
  case atMost(Double)
  case moreAtMost(Double)
  case ratioAtMost(Double)
  case ratioAtLeast(Double)

  func isReached(_ figure: Double, _ peer: Double) -> Bool {
    switch self {
    case .atMost(let most): figure <= most
    case .moreAtMost(let most): figure - peer <= most
    case .ratioAtMost(let most): figure <= most * peer
    case .ratioAtLeast(let least): figure >= least * peer
    }
  }

  func words(_ figure: Double, _ peer: Double) -> String {
    switch self {
    case .atMost(let most): "≤ \(digits(most))"
    case .moreAtMost(let most): "\(signed(figure - peer)) more of ≤ \(digits(most))"
    case .ratioAtMost(let most): "≤ \(times(most))"
    case .ratioAtLeast(let least): "≥ \(times(least))"
    }
  }
}

/// Three significant digits with their sign, if it is negative.
private func signed(_ value: Double) -> String {
  value < 0 ? "−\(digits(-value))" : digits(value)
}
