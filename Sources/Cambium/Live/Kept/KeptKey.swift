// The keys of what is kept for results that are made of several rows.
//
//     0 │ length of the root's key u16 │ root's key │ joined keys      share of a row
//     1 │ group                                                        its count and aggregates
//     2 │ number of the group u64 │ aggregate u16 │ value │ row        value that may be extreme
//     3 │ group                                                        group as it is shown
//     4 │ place                                                        group that is shown there
//
// All numbers are big-endian. A group is named by the ordered bytes of its values.

/// The first bytes of keys, and whole ones.
enum KeptKey {
  static let (groups, shown, places): ([UInt8], [UInt8], [UInt8]) = ([1], [3], [4])

  /// The first bytes of the keys of the shares that a root's rows have.
  static func shares(of root: [UInt8]) -> [UInt8] {
    [0] + [UInt8](bigEndian: UInt16(clamping: root.count)) + root
  }

  /// The key of the share of a row, by the identity of the row.
  static func share(_ id: ResultIdentity) -> [UInt8] {
    shares(of: id.key) + id.bytes.dropFirst(id.key.count)
  }

  /// The bytes of the identity of the row whose share has a key.
  static func id(ofShare key: [UInt8]) -> [UInt8] { Array(key.dropFirst(3)) }

  /// The first bytes of the keys of an aggregate's values.
  static func values(of number: UInt64, _ aggregate: Int) -> [UInt8] {
    [2] + [UInt8](bigEndian: number) + [UInt8](bigEndian: UInt16(truncatingIfNeeded: aggregate))
  }
}
