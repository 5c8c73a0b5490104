/// The first or last of many results: a heap whose top is the one that goes next.
struct BestResults {
  private let limit: Int
  private let isFromEnd: Bool
  private var heap: [FirebaseResult] = []

  init(limit: Int, isFromEnd: Bool) {
    self.limit = limit
    self.isFromEnd = isFromEnd
  }

  /// True if `a` goes before `b` does.
  private func isWorse(_ a: FirebaseResult, _ b: FirebaseResult) -> Bool {
    isFromEnd ? a < b : b < a
  }

  mutating func insert(_ result: FirebaseResult) {
    if heap.count < limit {
      heap.append(result)
      return rise(heap.count - 1)
    }
    guard isWorse(heap[0], result) else { return }
    heap[0] = result
    sink(0)
  }

  func sorted() -> [FirebaseResult] { heap.sorted() }

  private mutating func rise(_ start: Int) {
    var index = start
    while index > 0, isWorse(heap[index], heap[(index - 1) / 2]) {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private mutating func sink(_ start: Int) {
    var index = start
    while true {
      var worst = index
      for child in [2 * index + 1, 2 * index + 2] where child < heap.count {
        if isWorse(heap[child], heap[worst]) { worst = child }
      }
      if worst == index { return }
      heap.swapAt(index, worst)
      index = worst
    }
  }
}
