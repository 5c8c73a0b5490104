// Goal: a user sees what came, went, moved and changed, for two seconds, and keeps the place that
// they look at. Method: a view shows the steps of a live query, without a terminal.

import Cambium
import Testing

@testable import CambiumCommands

@Suite("The view of a watched list")
struct WatchViewTests {
  /// A view, the people that it shows, and the time.
  private struct Stage {
    var view: WatchView
    var size = Screen.Size(rows: 20, columns: 40)
    var now = ContinuousClock.now
    private var people: WatchedPeople

    init(isSectioned: Bool = false) throws {
      people = try WatchedPeople(isSectioned ? "section by s sort at" : "sort at")
      view = WatchView(title: "people", people.list)
    }

    /// Shows rows, each as `key=value`, below headings that end with a colon.
    mutating func show(_ rows: String) throws {
      var section = ""
      var stored: [WatchedPeople.Person] = []
      for word in rows.split(separator: " ") {
        if word.last == ":" {
          section = String(word.dropLast())
          continue
        }
        let parts = word.split(separator: "=").map { String($0) }
        let number = Int(parts[parts.count - 1]) ?? 0
        stored.append(.init(name: parts[0], section: section, number: number))
      }
      view.show(try people.store(stored), at: now)
    }

    func end() throws { try people.end() }

    /// The lines between the frame's, without spaces at their ends.
    mutating func body() -> [String] {
      let style = Style(choice: "never", isTerminal: true, environment: [:])
      let lines = view.lines(size).map { line in
        var text = line.text(style, columns: size.columns)
        while text.last == " " { text.removeLast() }
        return text
      }
      return lines.dropFirst(2).dropLast().filter { !$0.isEmpty }
    }

    mutating func press(_ key: PressedKey) {
      let stays = view.press(key, size)
      #expect(stays)
    }

    mutating func wait(_ seconds: Double) -> Bool {
      now += .seconds(seconds)
      return view.expire(at: now)
    }
  }

  @Test("marks what came, went, moved and changed, for two seconds")
  func marks() throws {
    var stage = try Stage()
    try stage.show("a=1 b=2 c=3 d=4")
    #expect(stage.body() == ["  a   1", "  b   2", "  c   3", "  d   4"])
    try stage.show("d=4 a=1 c=5 e=6")
    #expect(
      stage.body() == ["↑ d   4", "  a   1", "− b   2", "~ c   5", "+ e   6"])
    let isEarly = !stage.wait(1.5)
    #expect(isEarly)
    try stage.show("d=4 c=5 e=7 a=2")
    #expect(
      stage.body() == ["↑ d   4", "− b   2", "~ c   5", "~ e   7", "↓ a   2"])
    let isLater = stage.wait(1)
    #expect(isLater)
    #expect(stage.body() == ["  d   4", "  c   5", "~ e   7", "↓ a   2"])
    let isOver = stage.wait(2)
    #expect(isOver)
    #expect(stage.body() == ["  d   4", "  c   5", "  e   7", "  a   2"])
    try stage.end()
  }

  @Test("has headings, and rows that go from one section to another")
  func sections() throws {
    var stage = try Stage(isSectioned: true)
    try stage.show("x: a=1 b=2 y: c=3")
    #expect(stage.body() == ["x  2", "  a   1", "  b   2", "y  1", "  c   3"])
    try stage.show("x: a=1 y: b=2 z: c=3")
    #expect(stage.body() == ["x  1", "  a   1", "y  1", "↓ b   2", "z  1", "↓ c   3"])
    try stage.show("y: b=2")
    let gone = stage.body()
    #expect(gone.contains("− a   1") && gone.contains("− c   3") && gone.count == 4)
    try stage.show("x: a=1 y: b=2")
    #expect(stage.body().filter { $0.contains(" a ") } == ["+ a   1"])
    try stage.end()
  }

  @Test("keeps rows where they are seen, except at the top")
  func anchor() throws {
    var stage = try Stage()
    stage.size.rows = 6
    try stage.show("a b c d e f g")
    for _ in 0..<3 { stage.press(.down) }
    #expect(stage.body().map(\.last) == ["0", "0", "0"])
    #expect(stage.body().first?.contains("d") == true)
    try stage.show("x y a b c d e f g")
    #expect(stage.body().first?.contains("d") == true)
    try stage.show("d e f g")
    _ = stage.wait(3)
    #expect(stage.body().first?.contains("d") == true)
    stage.press(.end)
    #expect(stage.body().last?.contains("g") == true && stage.body().count == 3)
    stage.press(.home)
    try stage.show("z d e f g")
    #expect(stage.body().first?.contains("z") == true)
    let stays = stage.view.press(.character("q"), stage.size)
    #expect(!stays)
    try stage.end()
  }

  @Test("always has lines that fit", arguments: 1...3 as ClosedRange<UInt64>)
  func sizes(_ seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    var stage = try Stage(isSectioned: random.chance(oneIn: 2))
    let keys: [PressedKey] = [.up, .down, .pageUp, .pageDown, .home, .end, .left, .right, .escape]
    for _ in 0..<500 {
      stage.size = Screen.Size(rows: 1 + random.below(12), columns: 1 + random.below(50))
      let rows = "abcdefghij".filter { _ in random.chance(oneIn: 2) }.shuffled(using: &random)
      try stage.show(
        (random.chance(oneIn: 2) ? "s: " : "") + rows.map { "\($0)" }.joined(separator: " "))
      stage.press(keys[random.below(keys.count)])
      if random.chance(oneIn: 4) { _ = stage.wait(1) }
      #expect(stage.view.lines(stage.size).count <= stage.size.rows, "seed \(seed)")
    }
    try stage.end()
  }
}
