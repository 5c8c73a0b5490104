import Simulation
import Testing

@testable import Cambium

// The goal: tokens ascend, whatever is inserted where, and few of them change. The method: places
// that use up the room between two neighbours as fast as possible, and random ones.
@Suite("A list with tokens")
struct TokenListTests {
  enum Place: CaseIterable {
    case random
    case start
    case end
    case middle
    case second
    case afterTheLast

    func position(_ count: Int, _ last: Int, _ random: inout SeededGenerator) -> Int {
      switch self {
      case .random: random.below(count + 1)
      case .start: 0
      case .end: count
      case .middle: count / 2
      case .second: min(1, count)
      case .afterTheLast: min(last + 1, count - 1)
      }
    }
  }

  // Finds tokens that collide or do not ascend, a spread that leaves an entry out, and one that
  // spreads too little: it would have to be done again after each insertion.
  @Test("keeps tokens ascending, and changes few of them", arguments: Place.allCases)
  func insertions(place: Place) {
    var random = SeededGenerator(seed: 1)
    var list = TokenList(0..<20)
    var tokens = Dictionary(
      uniqueKeysWithValues: list.entries.map { ($0.payload, $0.token) })
    var order = Array(0..<20)
    var (changes, last) = (0, 10)
    for element in 20..<20_000 {
      last = place.position(list.count, last, &random)
      let (token, spread) = list.insert(element, at: last)
      for change in spread {
        #expect(tokens[change.payload] == change.old)
        tokens[change.payload] = change.new
      }
      tokens[element] = token
      order.insert(element, at: last)
      changes += spread.count
    }
    #expect(list.entries.map(\.payload) == order)
    #expect(list.entries.allSatisfy { tokens[$0.payload] == $0.token })
    let ascend = zip(list.entries, list.entries.dropFirst()).allSatisfy { $0.token < $1.token }
    #expect(ascend)
    #expect(changes < 20 * list.count, "\(changes) tokens have changed")
    for position in stride(from: 0, to: list.count, by: 97) {
      #expect(list.position(of: list[position].token) == position)
    }
  }
}
