import FoundationEssentials

@testable import Cambium

/// A decoder under attack: what inputs it starts from, and what must hold for any input.
///
/// Every target asks for more than that nothing traps: what is decoded is encoded and decoded
/// again and must be the same; what is refused is refused with the decoder's own kind of error.
/// Time and memory are bounded by libFuzzer's own limits.
struct FuzzTarget: Sendable {
  let name: String
  /// Inputs that reach far into the decoder.
  let seeds: @Sendable () throws -> [[UInt8]]
  /// Takes an input; what does not hold ends the process.
  let run: @Sendable (inout FuzzInput) -> Void

  static let all = [
    RecordTarget.target, VersionTarget.target, PathTarget.target, EntryTarget.target,
    CSVTarget.target, JSONTarget.target, MomentTarget.target, PageTarget.target,
    QueryTarget.target, DeclarationTarget.target, OutsideTarget.target,
  ]

  func writeSeeds(into folder: String) throws {
    for (number, seed) in try seeds().enumerated() {
      try Data(seed).write(to: URL(filePath: "\(folder)/seed-\(number)"))
    }
  }
}

/// Ends the process unless something holds.
func require(_ holds: Bool, _ what: @autoclosure () -> String) {
  if !holds { fatalError("fuzz: does not hold: \(what())") }
}

/// Reads stored bytes, which may be refused as damaged or as of a newer format, not otherwise.
///
/// - Returns: nil where they were refused.
@discardableResult
func unlessRefused<R>(_ what: String, _ body: () throws -> R) -> R? {
  do {
    return try body()
  } catch DatabaseError.corrupt {
    return nil
  } catch DatabaseError.unsupported {
    return nil
  } catch {
    fatalError("fuzz: \(what): refused with \(error)")
  }
}

/// Does what must succeed.
func mustSucceed<R>(_ what: String, _ body: () throws -> R) -> R {
  do { return try body() } catch { fatalError("fuzz: \(what): \(error)") }
}

/// Requires that a value is read again from how it is written, and is written so again.
func requireReturn<Value: Equatable, Form: Equatable>(
  of value: Value, _ write: (Value) throws -> Form, _ read: (Form) throws -> Value
) {
  let form = mustSucceed("writing \(value)") { try write(value) }
  let again = mustSucceed("reading \(form)") { try read(form) }
  require(again == value, "\(value) comes back as \(again) from \(form)")
  require(mustSucceed("writing it again") { try write(again) } == form, "\(form) is the one form")
}

/// An input taken apart from the front: choices first, then what is decoded.
struct FuzzInput {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  /// The next byte; 0 at the end.
  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  /// The next two bytes as a number below a bound.
  mutating func number(below bound: Int) -> Int {
    let (low, high) = (byte(), byte())
    return (Int(low) | Int(high) << 8) % bound
  }

  /// As many bytes as are asked for, or as there are.
  mutating func bytes(_ count: Int) -> [UInt8] {
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }
}
