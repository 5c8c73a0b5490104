// The exact equality of values that "comes back exactly" means, without Cambium's own `==`, which
// is under test as well.

import FoundationEssentials

@testable import Cambium

/// True if two values are identical, down to the bits of doubles and the bytes of text.
func areExactlyEqual(_ a: Value, _ b: Value) -> Bool {
  switch (a, b) {
  case (.null, .null): true
  case (.bool(let a), .bool(let b)): a == b
  case (.integer(let a), .integer(let b)): a == b
  case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
  case (.string(let a), .string(let b)): Array(a.utf8) == Array(b.utf8)
  case (.data(let a), .data(let b)): Array(a) == Array(b)
  case (.date(let a), .date(let b)):
    a.timeIntervalSinceReferenceDate == b.timeIntervalSinceReferenceDate
  case (.uuid(let a), .uuid(let b)): a.uuidString == b.uuidString
  case (.decimal(let a), .decimal(let b)):
    (a == b || a.isNaN && b.isNaN) && a.description == b.description
  case (.array(let a), .array(let b)): areExactlyEqual(a, b)
  case (.map(let a), .map(let b)): areExactlyEqual(a, b)
  case (.reference(let a), .reference(let b)): a.bytes == b.bytes
  case (.blob(let a), .blob(let b)): a.hash == b.hash && a.size == b.size
  default: false
  }
}

private func areExactlyEqual(_ a: [Value], _ b: [Value]) -> Bool {
  a.count == b.count && zip(a, b).allSatisfy { areExactlyEqual($0, $1) }
}

private func areExactlyEqual(_ a: ValueMap, _ b: ValueMap) -> Bool {
  a.members.map { Array($0.name.utf8) } == b.members.map { Array($0.name.utf8) }
    && areExactlyEqual(a.members.map(\.value), b.members.map(\.value))
}
