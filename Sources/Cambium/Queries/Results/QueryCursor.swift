import FoundationEssentials

/// Where a query stopped, so that it can be asked for what follows.
///
/// It is opaque, fits into a URL, and holds as long as the collection's indexes do; what is
/// inserted or removed in between neither repeats nor hides other results. It belongs to one query:
/// handing it to another is an error.
///
///     kind u8 | hash of the query u64 | index u32 | length of the entry u16 | entry
///       | length of the order u32 | order | joined | key
///
/// Kind: 1, results come by an index; 0, they do not, and there is no entry. With 2 added there are
/// joined records: their number u16, then for each the length of its key u16 and the key. Kind 4 is
/// of computed results, groups and distinct values, which have no record's place: the order is how
/// many came before, u64, and there is neither entry nor key.
public struct QueryCursor: Hashable, Sendable {
  /// The index by which results come.
  var index: UInt32?
  var query: UInt64
  /// The result's entry in the index; where there is an order as well, only what it begins with.
  var entry: [UInt8] = []
  /// The sort key of the result, where no index entry holds it: a cut one does not, nor does one
  /// near it.
  var order: [UInt8]
  var key: [UInt8]
  /// The keys of the records that were joined to the result's; an empty one for none.
  var joined: [[UInt8]] = []

  /// The number of computed results before the cursor; nil for a cursor among records.
  var computed: Int? {
    key.isEmpty ? order.lend { try? Int(clamping: $0.load(UInt64.self, at: 0)) } : nil
  }

  /// The bytes by which the result is sorted: its sort key, then its key.
  var place: [UInt8] { order + key }
}

extension QueryCursor: LosslessStringConvertible {
  /// The text form.
  public var description: String {
    var bytes: [UInt8] = [
      (index == nil ? 0 : 1) + (joined.isEmpty ? 0 : 2) + (key.isEmpty ? 4 : 0)
    ]
    bytes.append(littleEndian: query)
    bytes.append(littleEndian: index ?? 0)
    bytes.append(littleEndian: UInt16(clamping: entry.count))
    bytes += entry
    bytes.append(littleEndian: UInt32(clamping: order.count))
    bytes += order
    if !joined.isEmpty { bytes.append(littleEndian: UInt16(clamping: joined.count)) }
    for key in joined {
      bytes.append(littleEndian: UInt16(clamping: key.count))
      bytes += key
    }
    bytes += key
    return Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }

  /// Reads the text form; nil where it is none.
  public init?(_ description: String) {
    var text = description.replacing("-", with: "+").replacing("_", with: "/")
    text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    guard let data = Data(base64Encoded: text) else { return nil }
    let read = Array(data).lend { bytes in try? QueryCursor(bytes) }
    guard let read else { return nil }
    self = read
  }

  private init(_ bytes: RawSpan) throws {
    let kind = try bytes.load(UInt8.self, at: 0)
    let number = try bytes.load(UInt32.self, at: 9)
    let entryEnd = 15 + Int(try bytes.load(UInt16.self, at: 13))
    let orderStart = entryEnd + 4
    let orderEnd = orderStart + Int(try bytes.load(UInt32.self, at: entryEnd))
    guard kind <= 4 else { throw QueryError("the cursor is damaged") }
    var (joined, keyStart) = ([[UInt8]](), orderEnd)
    if kind & 2 != 0 {
      let count = try bytes.load(UInt16.self, at: keyStart)
      keyStart += 2
      for _ in 0..<count {
        let length = Int(try bytes.load(UInt16.self, at: keyStart))
        joined.append(try bytes.array(keyStart + 2, length))
        keyStart += 2 + length
      }
    }
    self.init(
      index: kind & 1 == 1 ? number : nil, query: try bytes.load(UInt64.self, at: 1),
      entry: try bytes.array(15, entryEnd - 15),
      order: try bytes.array(orderStart, orderEnd - orderStart),
      key: try bytes.array(keyStart, bytes.byteCount - keyStart), joined: joined)
    if kind == 4 {
      guard order.count == 8, key.isEmpty else { throw QueryError("the cursor is damaged") }
    } else {
      _ = try key.lend { try Key($0) }
    }
  }

  /// The place behind so many computed results.
  init(query: UInt64, computed: Int) {
    self.init(index: nil, query: query, order: [UInt8](littleEndian: UInt64(computed)), key: [])
  }
}

extension QueryDescription {
  /// A hash that distinguishes the query's cursors from those of other queries.
  var cursorHash: UInt64 {
    var text = "\(collection)\n\(condition?.description ?? "")"
    for ordering in orderings { text += "\n\(ordering.text)" }
    for join in joins {
      text += "\n\(join.isLeft) \(join.name) \(join.collection) \(join.outer) \(join.inner ?? "id")"
      text += " \(join.condition?.description ?? "")"
    }
    // In the query's words: what Swift prints of a structure names types, or nothing at all where a
    // program is built without their metadata.
    if let grouping {
      text += "\n\(grouping.paths.count) \(grouping.columns.joined(separator: ", "))"
      text += " \(grouping.condition?.description ?? "")"
    }
    if isDistinct { text += "\n\(selection ?? [])" }
    return Checksum.of(text: text)
  }
}

extension Ordering {
  /// The ordering as the query language has it.
  var text: String {
    let text = "\(isDescending ? "-" : "")\(path)\(collation.suffix)"
    return switch nulls {
    case .first?: text + " nulls first"
    case .last?: text + " nulls last"
    case nil: text
    }
  }
}
