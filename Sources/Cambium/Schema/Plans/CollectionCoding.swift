// A declared collection in the state's `meta`: under `collection/` and the path's bytes
//
//     count u32 | count × number u32 | a stored array: the declaration, then former defaults
//
// The numbers are those of the indexes, then of the views; little-endian. A former default is a map
// with "name", "until" (the transaction that changed it), "absence" and "nullable".

import LMDB

extension CollectionPlan {
  static let metaPrefix = Array("collection/".utf8)

  var metaKey: [UInt8] { CollectionPlan.metaKey(path) }

  static func metaKey(_ path: NodePath) -> [UInt8] { metaPrefix + path.bytes }

  /// The entry's content.
  func stored() throws -> [UInt8] {
    var bytes = [UInt8](littleEndian: UInt32(numbers.count))
    for number in numbers { bytes.append(littleEndian: number) }
    return bytes + (try Value.array([definition.value] + formerDefaults.map(\.value)).stored())
  }

  convenience init(_ path: NodePath, stored bytes: RawSpan, _ catalog: Catalog) throws {
    let count = Int(try bytes.load(UInt32.self, at: 0))
    try bytes.check(4, count * 4)
    let numbers = try (0..<count).map { try bytes.load(UInt32.self, at: 4 + 4 * $0) }
    let stored = try Value(bytes.extracting((4 + 4 * count)..<bytes.byteCount))
    // The first fold stored the declaration alone; a baseline may still have that form.
    let parts = if case .array(let parts) = stored { parts } else { [stored] }
    guard let first = parts.first else {
      throw DatabaseError.corrupt(reason: "the declaration of \(path) is none")
    }
    try self.init(
      path, try CollectionDefinition(first), numbers: numbers, catalog,
      formerDefaults: try parts.dropFirst().map { try FormerDefault($0) })
  }
}
