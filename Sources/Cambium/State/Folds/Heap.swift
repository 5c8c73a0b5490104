// Binary heaps in arrays: each element belongs above its two children.

extension Array {
  /// Moves an element down to where it belongs.
  @inline(__always)
  mutating func sink(_ start: Int, _ belongsAbove: (Element, Element) -> Bool) {
    var index = start
    while true {
      var top = index
      for child in [2 * index + 1, 2 * index + 2] where child < count {
        if belongsAbove(self[child], self[top]) { top = child }
      }
      if top == index { return }
      swapAt(index, top)
      index = top
    }
  }

  /// Moves the last element up to where it belongs.
  @inline(__always)
  mutating func riseLast(_ belongsAbove: (Element, Element) -> Bool) {
    var index = count - 1
    while index > 0, belongsAbove(self[index], self[(index - 1) / 2]) {
      swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }
}

/// A result that has a place among others.
protocol Ranked {
  func precedes(_ other: Self) -> Bool
}

/// The first few of what is added: a heap with the last of them on top.
struct FirstFew<Element: Ranked> {
  private let most: Int
  private var heap: [Element] = []

  init(_ most: Int) { self.most = most }

  var isFull: Bool { heap.count >= most }
  var last: Element? { heap.first }
  var sorted: [Element] { heap.sorted { $0.precedes($1) } }

  mutating func add(_ element: Element) {
    if !isFull {
      heap.append(element)
      heap.riseLast { $1.precedes($0) }
    } else if let last, element.precedes(last) {
      heap[0] = element
      heap.sink(0) { $1.precedes($0) }
    }
  }
}
