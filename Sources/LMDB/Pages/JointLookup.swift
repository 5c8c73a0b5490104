// Lookups of several keys that take turns.
//
// On a table that the processor's caches do not hold, a descent mostly waits for memory: for each
// page, and on the leaf for each key that it compares. So some descents go down together. Each asks
// for what it reads next and leaves the turn to the others, so that all wait at the same time.

import CLMDB

/// Some keys that are about to be looked up, and where they are.
///
/// It only tells where a key was found. Of one that is absent, or behind a damaged page, it says
/// nothing, and the ordinary lookup decides.
@safe struct JointLookup: ~Copyable {
  static let most = 16

  /// The descent to one key.
  @safe private struct Descent {
    let key: UnsafeRawBufferPointer
    var page: MappedPage
    /// The page that it goes on to.
    var number: UInt64 = 0
    /// The leaf's entries among which the key is.
    var low = 0
    var high = 0
    /// The key's entry.
    var index: Int?
    var isEnded = false
  }

  private let keys: UnsafeMutableRawPointer
  private let descents: UnsafeMutablePointer<Descent>
  private var lengths: [Int] = []
  /// The number of keys that were looked for; 0 before ``descend(_:_:)``.
  private var count = 0
  /// The first key that was not taken yet. They are mostly taken in their order.
  private var next = 0

  init() {
    unsafe keys = .allocate(byteCount: JointLookup.most * keyBytesMax, alignment: 8)
    unsafe descents = .allocate(capacity: JointLookup.most)
    lengths.reserveCapacity(JointLookup.most)
  }

  deinit {
    unsafe keys.deallocate()
    unsafe descents.deallocate()
  }

  /// True if keys were added that were not looked for yet.
  var isPending: Bool { count == 0 && !lengths.isEmpty }

  /// Adds a key, unless there are enough. The first one after a descent replaces all before.
  mutating func add(_ key: UnsafeRawBufferPointer) {
    if count > 0 {
      (count, next) = (0, 0)
      lengths.removeAll(keepingCapacity: true)
    }
    guard lengths.count < JointLookup.most, key.count > 0, key.count <= keyBytesMax else { return }
    unsafe place(lengths.count).copyMemory(
      from: key.baseAddress.unsafelyUnwrapped, byteCount: key.count)
    lengths.append(key.count)
  }

  private func place(_ index: Int) -> UnsafeMutableRawPointer {
    unsafe keys + index * keyBytesMax
  }

  /// The leaf and the entry of a key, if it is one of those that were found.
  mutating func take(_ key: UnsafeRawBufferPointer) -> (leaf: MappedPage, index: Int)? {
    var place = next
    while place < count {
      let descent = unsafe descents[place]
      place &+= 1
      guard let index = descent.index, unsafe descent.key.order(to: key) == 0 else { continue }
      next = place
      return (descent.page, index)
    }
    return nil
  }

  // MARK: Descending

  /// Looks for the keys in a tree.
  mutating func descend(_ pages: MappedPages, _ tree: TreeSummary) {
    guard tree.depth > 0, let root = try? pages.root(of: tree) else {
      return lengths.removeAll(keepingCapacity: true)
    }
    count = lengths.count
    for index in 0..<count {
      let key = unsafe UnsafeRawBufferPointer(start: place(index), count: lengths[index])
      unsafe (descents + index).initialize(to: Descent(key: key, page: root))
    }
    for level in stride(from: tree.depth - 1, to: 0, by: -1) {
      goDown(pages, isBranch: level > 1)
    }
    for index in 0..<count { unsafe descents[index].high = descents[index].page.count }
    while search() {}
  }

  /// Takes all descents one page further.
  private func goDown(_ pages: MappedPages, isBranch: Bool) {
    for index in 0..<count where unsafe !descents[index].isEnded {
      do throws(StorageError) {
        let descent = unsafe descents[index]
        let number = try descent.page.child(unsafe descent.page.way(to: descent.key))
        pages.prefetch(number)
        unsafe descents[index].number = number
      } catch { unsafe descents[index].isEnded = true }
    }
    for index in 0..<count where unsafe !descents[index].isEnded {
      do throws(StorageError) {
        let page = try pages.page(unsafe descents[index].number, isBranch: isBranch)
        page.prefetch(page.count >> 1)
        unsafe descents[index].page = page
      } catch { unsafe descents[index].isEnded = true }
    }
  }

  /// Compares each key with one more entry of its leaf.
  ///
  /// - Returns: True if any is still looked for.
  private func search() -> Bool {
    var goesOn = false
    for index in 0..<count where unsafe !descents[index].isEnded {
      do throws(StorageError) {
        unsafe descents[index].isEnded = unsafe try step(&descents[index])
        if unsafe !descents[index].isEnded { goesOn = true }
      } catch { unsafe descents[index].isEnded = true }
    }
    return goesOn
  }

  /// Compares a key with the middle one of the entries among which it is.
  ///
  /// - Returns: True if the search has ended: the key was found, or is not there.
  @inline(__always)
  private func step(_ descent: inout Descent) throws(StorageError) -> Bool {
    guard descent.low < descent.high else { return true }
    let middle = (descent.low &+ descent.high) >> 1
    let order = unsafe try descent.page.key(middle).order(to: descent.key)
    if order == 0 {
      descent.index = middle
      return true
    }
    if order < 0 { descent.low = middle &+ 1 } else { descent.high = middle }
    descent.page.prefetch((descent.low &+ descent.high) >> 1)
    return false
  }
}
