// Goal: a sum is right to the last bit, and its stored form says nothing of how its values came and
// went. Method: random histories of adding and removing, against sums in the
// decimal system, and against themselves in another order. Results are compared with the decimal
// text of the exact sum, which the standard library's own parser rounds.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("An exact sum") struct ExactSumTests {
  /// A double of any size, often one that cancels others, or lies half way between two.
  private static func double(_ random: inout SeededGenerator) -> Double {
    switch random.below(8) {
    case 0: Double(bitPattern: random.next() & ~(0x7FF << 52) | UInt64(random.below(2047)) << 52)
    case 1: Double(random.below(1000)) / 8 - 60
    case 2: Double(bitPattern: random.next() >> UInt64(random.below(64)) & ~(1 << 62))
    case 3: Double.greatestFiniteMagnitude * (random.oneIn(2) ? 1 : -1)
    case 4: Double.leastNonzeroMagnitude * Double(random.below(100))
    case 5: Double(sign: .plus, exponent: random.below(120) - 60, significand: 1)
    case 6: -Double(sign: .plus, exponent: random.below(120) - 60, significand: 1.5)
    default: Double(random.below(1 << 53))
    }
  }

  @Test("gives the double next to the exact sum", arguments: SeededGenerator.seeds(1, 2, 3))
  func value(seed: UInt64) {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    for _ in 0..<300 {
      var sum = ExactSum()
      var digits = Digits()
      for _ in 0..<random.below(12) {
        let value = ExactSumTests.double(&random)
        sum.add(value)
        digits.add(value)
      }
      let expected = Double(digits.text) ?? .nan
      #expect(sum.value == expected, "\(digits.text.prefix(60))")
    }
  }

  @Test("does not remember how it came about", arguments: SeededGenerator.seeds(1, 2, 3))
  func canonical(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    var (sum, values) = (NumberSum(), [Value]())
    for _ in 0..<2_000 {
      if values.isEmpty || random.oneIn(3) || values.count < 10 {
        let value = ExactSumTests.number(&random)
        values.append(value)
        try value.stored().lend { try sum.add($0) }
      } else {
        let value = values.remove(at: random.below(values.count))
        try value.stored().lend { try sum.remove($0) }
      }
      if random.oneIn(10) { try ExactSumTests.compare(sum, values.shuffled(using: &random)) }
    }
    for value in values { try value.stored().lend { try sum.remove($0) } }
    #expect(ExactSumTests.stored(sum) == [0])
  }

  private static func number(_ random: inout SeededGenerator) -> Value {
    switch random.below(12) {
    case 0: return .double(random.pick([.nan, .infinity, -.infinity, -0.0]))
    case 1: return .integer(random.pick([.max, .min, 0, -1, 127, 128, -128, -129]))
    case 2: return .integer(Int64(truncatingIfNeeded: random.next()))
    case 3: return .string("no number")
    case 4...6:
      let digits = Decimal(random.next() >> UInt64(random.below(64)))
      let sign: FloatingPointSign = random.oneIn(2) ? .plus : .minus
      return .decimal(Decimal(sign: sign, exponent: random.below(60) - 40, significand: digits))
    case 7: return .decimal(.nan)
    default: return .double(double(&random))
    }
  }

  private static func stored(_ sum: NumberSum) -> [UInt8] {
    var bytes: [UInt8] = []
    sum.append(to: &bytes)
    return bytes
  }

  private static func compare(_ sum: NumberSum, _ values: [Value]) throws {
    var fresh = NumberSum()
    for value in values { try value.stored().lend { try fresh.add($0) } }
    #expect(stored(sum) == stored(fresh))
    let read = try stored(sum).lend { bytes in
      var offset = 0
      let read = try NumberSum(bytes, at: &offset)
      #expect(offset == bytes.byteCount)
      return read
    }
    #expect(stored(read) == stored(sum))
    #expect(read.count == sum.count)
  }

  @Test("of special values is what it would be without those that went")
  func special() {
    var sum = ExactSum()
    sum.add(1.5)
    sum.add(.infinity)
    #expect(sum.value == .infinity)
    sum.add(-.infinity)
    #expect(sum.value.isNaN)
    sum.remove(.infinity)
    #expect(sum.value == -.infinity)
    sum.add(.nan)
    #expect(sum.value.isNaN)
    sum.remove(.nan)
    sum.remove(-.infinity)
    #expect(sum.value == 1.5)
    sum.add(.greatestFiniteMagnitude)
    sum.add(.greatestFiniteMagnitude)
    #expect(sum.value == .infinity)
    sum.remove(.greatestFiniteMagnitude)
    sum.remove(.greatestFiniteMagnitude)
    #expect(sum.value == 1.5)
  }

  @Test("has the kind of what was added")
  func kinds() throws {
    func sum(_ values: Value...) throws -> NumberSum {
      var sum = NumberSum()
      for value in values { try value.stored().lend { try sum.add($0) } }
      return sum
    }
    #expect(try sum().value == nil)
    #expect(try sum(.null, .string("1")).value == nil)
    #expect(try sum(.integer(2), .integer(3)).value == .integer(5))
    #expect(try sum(.integer(2), .integer(3)).average == .double(2.5))
    let large = try sum(.integer(.max), .integer(.max))
    #expect(large.value == .decimal(Decimal(string: "18446744073709551614") ?? 0))
    #expect(try sum(.integer(2), .double(0.5)).value == .double(2.5))
    let tenth = Decimal(string: "0.1") ?? 0
    #expect(try sum(.decimal(tenth), .integer(3)).value == .decimal(3 + tenth))
    #expect(try sum(.decimal(tenth), .decimal(tenth)).average == .decimal(tenth))
    #expect(try sum(.decimal(Decimal(100)), .integer(0)).value == .decimal(100))
    let nearly = try sum(.double(0.1), .double(0.2), .double(-0.3))
    #expect(nearly.value == .double(2.7755575615628914e-17))
  }

  @Test("of decimals is exact", arguments: SeededGenerator.seeds(1, 2))
  func decimals(seed: UInt64) {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    var (sum, expected) = (DecimalSum(), Int128(0))
    for _ in 0..<500 {
      let number = Int64(truncatingIfNeeded: random.next())
      expected += Int128(number)
      sum.add(Decimal(sign: .plus, exponent: -7, significand: Decimal(number)))
    }
    #expect(sum.value == Decimal(string: "\(expected)e-7"))
  }

  @Test("of decimals is rounded once to 38 digits, halves to the even one")
  func rounding() {
    let digits = "12345678901234567890123456789012345678"
    for (first, second, expected) in [
      (digits, "0.4", digits),
      (digits, "0.5", digits),
      (digits, "0.51", "12345678901234567890123456789012345679"),
      ("12345678901234567890123456789012345677", "0.5", digits),
      ("12345678901234567890123456789012345699", "0.6", "12345678901234567890123456789012345700"),
      ("99999999999999999999999999999999999999", "0.5", "100000000000000000000000000000000000000"),
    ] {
      var sum = DecimalSum()
      for text in [first, second] { sum.add(Decimal(string: text) ?? .nan) }
      #expect(sum.value == Decimal(string: expected), "\(first) + \(second)")
    }
  }

  @Test("refuses damaged bytes")
  func damage() {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<2_000 {
      let bytes = (0..<random.below(30)).map { _ in UInt8(random.below(256)) }
      bytes.lend { bytes in
        var offset = 0
        _ = try? NumberSum(bytes, at: &offset).value
      }
    }
  }
}

/// A sum of doubles in the decimal system, nine digits at a time, in units of 10^-1080, without any
/// of what is tested.
private struct Digits {
  private static let base: UInt64 = 1_000_000_000
  private static let fraction = 120
  private static let zero = [UInt64](repeating: 0, count: 160)
  private var positive = Digits.zero
  private var negative = Digits.zero

  mutating func add(_ value: Double) {
    var digits = Digits.zero
    let significand = value.significandBitPattern
    digits[Digits.fraction] = significand
    if value.exponentBitPattern > 0 { digits[Digits.fraction] |= 1 << 52 }
    Digits.carry(&digits)
    var exponent = Int(max(value.exponentBitPattern, 1)) - 1075
    while exponent != 0 {
      let step = min(abs(exponent), 29)
      exponent > 0 ? Digits.double(&digits, step) : Digits.halve(&digits, step)
      exponent -= exponent > 0 ? step : -step
    }
    value.sign == .minus ? Digits.add(digits, to: &negative) : Digits.add(digits, to: &positive)
  }

  private static func carry(_ digits: inout [UInt64]) {
    var carry: UInt64 = 0
    for index in digits.indices {
      let number = digits[index] + carry
      (carry, digits[index]) = number.quotientAndRemainder(dividingBy: base)
    }
  }

  private static func double(_ digits: inout [UInt64], _ times: Int) {
    for index in digits.indices { digits[index] <<= UInt64(times) }
    carry(&digits)
  }

  private static func halve(_ digits: inout [UInt64], _ times: Int) {
    var rest: UInt64 = 0
    for index in digits.indices.reversed() {
      let number = rest * base + digits[index]
      digits[index] = number >> UInt64(times)
      rest = number & (1 << UInt64(times) - 1)
    }
  }

  private static func add(_ digits: [UInt64], to sum: inout [UInt64]) {
    for index in sum.indices { sum[index] += digits[index] }
    carry(&sum)
  }

  /// The difference, as the text of a number.
  var text: String {
    let isNegative = positive.reversed().lexicographicallyPrecedes(negative.reversed())
    let (large, small) = isNegative ? (negative, positive) : (positive, negative)
    var (borrow, text) = (UInt64(0), "e-\(Digits.fraction * 9)")
    for index in large.indices {
      let number = Digits.base + large[index] - small[index] - borrow
      borrow = number < Digits.base ? 1 : 0
      let digits = String(number % Digits.base)
      text = String(repeating: "0", count: 9 - digits.count) + digits + text
    }
    return (isNegative ? "-" : "") + text
  }
}
