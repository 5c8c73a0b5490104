// The names and values of a record, read in place. Through an array of pairs each access to a name
// copies the whole pair, with the reference counts of both halves: a third of the time that it
// takes to store a record.

/// A record's pairs, lent while `lend` runs.
@safe struct LentPairs {
  private let start: UnsafeRawPointer?
  let count: Int

  /// The offset of a pair's second half: after the first, aligned.
  @inline(__always)
  private static var valueOffset: Int {
    let alignment = MemoryLayout<Value>.alignment
    return (MemoryLayout<String>.size + alignment - 1) / alignment * alignment
  }

  fileprivate init(_ pairs: UnsafeBufferPointer<(String, Value)>) {
    unsafe start = UnsafeRawPointer(pairs.baseAddress)
    count = pairs.count
  }

  /// The name of a pair.
  @inline(__always)
  func name(_ index: Int) -> String { unsafe place(index, as: String.self).pointee }

  /// Adds a pair's value to bytes, in its stored form.
  @inline(__always)
  func appendValue<Sink: ByteSink & ~Copyable>(_ index: Int, to bytes: inout Sink) throws {
    try unsafe place(index, offset: LentPairs.valueOffset, as: Value.self)
      .pointee.append(to: &bytes)
  }

  @inline(__always)
  private func place<Half>(
    _ index: Int, offset: Int = 0, as half: Half.Type
  ) -> UnsafePointer<Half> {
    guard let start = unsafe start, index >= 0, index < count else {
      preconditionFailure("pair \(index) of \(count)")
    }
    let place = index * MemoryLayout<(String, Value)>.stride + offset
    return unsafe (start + place).assumingMemoryBound(to: half)
  }

  /// True if the names are in ascending byte order, each once.
  var areSorted: Bool {
    var index = 1
    while index < count {
      if ByteOrder.compare(name(index - 1), name(index)) >= 0 { return false }
      index += 1
    }
    return true
  }

  /// True if the pairs have exactly these names, in this order.
  func have(_ names: [String]) -> Bool {
    guard count == names.count else { return false }
    for index in names.indices where !ByteOrder.areEqual(names[index], name(index)) {
      return false
    }
    return true
  }

  /// The index of a name among sorted ones, or the index at which it would be inserted.
  func position(of wanted: String) -> (index: Int, found: Bool) {
    // In small records, as most are, searching for the identical string is faster than bisection.
    if count <= 16 {
      for index in 0..<count where ByteOrder.haveSameStorage(name(index), wanted) {
        return (index, true)
      }
    }
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      let order = ByteOrder.compare(name(middle), wanted)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, false)
  }
}

extension [(String, Value)] {
  /// Lends the pairs.
  @inline(__always)
  func lend<R>(_ body: (LentPairs) throws -> R) rethrows -> R {
    try unsafe withUnsafeBufferPointer { try unsafe body(LentPairs($0)) }
  }
}
