/// A database under test, holding items by integer key.
///
/// Every write is durable when the call returns, or soon after where that is asked for. Reads hand
/// out Swift values and return the digest of all that was read, in the order asked for.
protocol Contender: AnyObject {
  static var name: String { get }

  /// Creates the database in an empty directory; its commits are flushed later if `isSoon` is true.
  init(directory: String, isSoon: Bool) throws

  /// Stores items under the keys from `first` on, in order, so many per transaction.
  func store(_ items: ArraySlice<Item>, from first: Int, perTransaction: Int) throws

  /// Reads `name` of every key.
  func readName(_ keys: [Int]) throws -> Digest

  /// Reads all properties of every key.
  func readItem(_ keys: [Int]) throws -> Digest

  /// Adds up `score` of all items.
  func sumScores() throws -> Int64

  /// Changes `count` of items, so many per transaction.
  func update(_ changes: [ItemChange], perTransaction: Int) throws

  /// Removes items, so many per transaction.
  func remove(_ keys: [Int], perTransaction: Int) throws
}

/// A contender that can have many writers waiting at once.
protocol AwaitingContender: Contender {
  /// Stores items under the keys from `first` on, each in a transaction of its own, from so many
  /// tasks.
  func store(_ items: ArraySlice<Item>, from first: Int, writers: Int) async throws
}

extension Contender {
  /// Calls the body with the bounds of each piece of so many.
  func pieces(of count: Int, _ size: Int, _ body: (Range<Int>) throws -> Void) rethrows {
    for start in stride(from: 0, to: count, by: size) {
      try body(start..<min(start + size, count))
    }
  }
}

/// The oracle for every contender: the same items in an array.
final class ArrayContender: Contender {
  static let name = "array"
  private var items: [Item?] = []

  init(directory: String, isSoon: Bool) {}

  func store(_ items: ArraySlice<Item>, from first: Int, perTransaction: Int) {
    self.items.append(contentsOf: items.map { $0 })
  }

  func readName(_ keys: [Int]) -> Digest {
    keys.reduce(into: Digest()) { digest, key in digest.add(items[key]?.name ?? "") }
  }

  func readItem(_ keys: [Int]) -> Digest {
    keys.reduce(into: Digest()) { digest, key in
      if let item = items[key] { digest.add(item) }
    }
  }

  func sumScores() -> Int64 { items.reduce(0) { $0 + ($1?.score ?? 0) } }

  func update(_ changes: [ItemChange], perTransaction: Int) {
    for change in changes { items[change.key]?.count = change.count }
  }

  func remove(_ keys: [Int], perTransaction: Int) { for key in keys { items[key] = nil } }
}
