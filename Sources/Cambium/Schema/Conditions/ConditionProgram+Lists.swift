/// The constants of an `in`, by kind, so that most values are found by bisection.
struct ConstantList: Sendable {
  /// The integers, ascending.
  private var integers: [Int64] = []
  /// The stored texts, one after the other in byte order, and the end of each.
  private var texts: [UInt8] = []
  private var ends: [Int] = []
  /// Stored values of other kinds.
  private var others: [[UInt8]] = []

  init(_ values: [Value]) throws {
    var strings: [[UInt8]] = []
    for value in values {
      switch value {
      case .null: break
      case .integer(let number): integers.append(number)
      case .string(let text): strings.append(Array(text.utf8))
      default: others.append(try value.storedConstant())
      }
    }
    integers.sort()
    strings.sort { a, b in a.lend { a in b.lend { a.precedes($0) } } }
    for text in strings {
      texts += text
      ends.append(texts.count)
    }
  }

  /// True if a stored value equals one of the constants.
  func contains(_ value: RawSpan) throws -> Bool {
    let tag = try value.load(UInt8.self, at: 0)
    switch tag {
    case ValueTag.integer1...ValueTag.integer8:
      if holds(try OrderedBytes.integer(value, tag)) { return true }
    case ValueTag.string: return holds(text: value.extracting(droppingFirst: 1))
    default:
      for number in integers {
        if try Value.integer(number).stored().lend({ try StoredOrder.compare(value, $0) }) == 0 {
          return true
        }
      }
    }
    return try others.contains { try $0.lend { try StoredOrder.compare(value, $0) == 0 } }
  }

  private func holds(_ number: Int64) -> Bool {
    var (low, high) = (0, integers.count)
    while low < high {
      let middle = (low + high) / 2
      if integers[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low < integers.count && integers[low] == number
  }

  private func holds(text: RawSpan) -> Bool {
    texts.lend { all in
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        let order = all.extracting(range(middle)).compare(text)
        if order == 0 { return true }
        if order < 0 { low = middle + 1 } else { high = middle }
      }
      return false
    }
  }

  private func range(_ index: Int) -> Range<Int> {
    (index == 0 ? 0 : ends[index - 1])..<ends[index]
  }
}
