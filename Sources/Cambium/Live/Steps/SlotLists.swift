/// Lists of mailboxes' slots, each under a number: the hash of a key or of a value. Two keys of the
/// same hash share a list, so that a mailbox may be concerned needlessly, and never missed.
///
/// The links of all lists lie in one array, so adding and removing allocate nothing on average.
struct SlotLists {
  private struct Link {
    var slot: Int32
    var previous: Int32
    var next: Int32
  }

  private static let none: Int32 = -1

  /// The first link of each list.
  private var heads: [UInt64: Int32] = [:]
  private var links: [Link] = []
  /// The first of the links that are not in use.
  private var free = SlotLists.none

  var isEmpty: Bool { heads.isEmpty }

  /// Adds a slot to a list.
  ///
  /// - Returns: The link with which it is removed.
  /// - Complexity: O(1).
  mutating func add(_ slot: Int32, under hash: UInt64) -> Int32 {
    let next = heads[hash] ?? SlotLists.none
    let link = Link(slot: slot, previous: SlotLists.none, next: next)
    let place = free
    if place == SlotLists.none {
      links.append(link)
    } else {
      free = links[Int(place)].next
      links[Int(place)] = link
    }
    let added = place == SlotLists.none ? Int32(links.count - 1) : place
    if next != SlotLists.none { links[Int(next)].previous = added }
    heads[hash] = added
    return added
  }

  /// Removes a link from its list.
  ///
  /// - Complexity: O(1).
  mutating func remove(_ place: Int32, under hash: UInt64) {
    let link = links[Int(place)]
    if link.next != SlotLists.none { links[Int(link.next)].previous = link.previous }
    if link.previous != SlotLists.none {
      links[Int(link.previous)].next = link.next
    } else {
      heads[hash] = link.next == SlotLists.none ? nil : link.next
    }
    links[Int(place)].next = free
    free = place
  }

  /// Visits the slots of a list.
  @inline(__always)
  func forEach(under hash: UInt64, _ body: (Int32) -> Void) {
    guard let head = heads[hash] else { return }
    var place = head
    while place != SlotLists.none {
      body(links[Int(place)].slot)
      place = links[Int(place)].next
    }
  }

  /// Visits the slots of all lists.
  func forEach(_ body: (Int32) -> Void) {
    for hash in heads.keys { forEach(under: hash, body) }
  }
}
