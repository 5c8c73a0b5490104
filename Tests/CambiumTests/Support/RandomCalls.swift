import FoundationEssentials
import Simulation

@testable import Cambium

/// Makes up calls from few keys and names, which properties and children share, so that calls often
/// collide: places are taken, removed, recreated, moved to, restored, and refused.
struct RandomCalls {
  var random: SeededGenerator
  /// True to make long values common.
  var isBulky = false
  /// True to change parts of sets and dictionaries, too.
  var changesParts = false
  /// Paths of late, so that calls come back to them.
  private var recent: [NodePath] = []
  /// Paths from which something was removed, and when.
  private var removed: [(path: NodePath, sequence: SequenceNumber)] = []

  private static let keys: [Key] =
    [0, 1, -1, 42, .integer(.max), "a", "b", "name", "é", "x/y~z"]
    + ["00000000-0000-4000-8000-000000000000", "7d444840-9dc0-11d1-b245-5ffdce74fad2"]
  private static let names = ["a", "b", "name", "é", "42", "count", "list"]

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// A call in transaction `sequence`.
  mutating func next(in sequence: SequenceNumber) -> Call {
    let call = make()
    if let path = call.path { note(path) }
    if case .remove(let path) = call { note(path, removedAt: sequence) }
    return call
  }

  private mutating func make() -> Call {
    let path = path()
    let property = random.oneIn(2) ? random.pick(RandomCalls.names) : nil
    if changesParts, random.oneIn(6) { return part(of: path, property) }
    switch random.below(100) {
    case 0..<30: return .set(path, value())
    case 30..<42: return .update(path, updates())
    case 42..<50: return .change(path, property, .increment(by: step()))
    case 50..<57: return .change(path, property, .append(value()))
    case 57..<61: return .change(path, property, .insert(value(), at: UInt64(random.below(5))))
    case 61..<65: return .change(path, property, .removeElement(at: UInt64(random.below(5))))
    case 65..<77: return .remove(path)
    case 77..<83: return restore(path)
    case 83..<93: return .move(path, to: self.path())
    case 93..<95: return .define(random.pick(RandomCalls.names + ["only defined"]))
    case 95..<97: return .event(random.pick(RandomCalls.names), value())
    default: return .expect(path, at: SequenceNumber(UInt64(random.below(20))))
    }
  }

  /// A change of a set or a dictionary; few elements and keys, so that they collide.
  private mutating func part(of path: NodePath, _ property: String?) -> Call {
    let element: Value = random.oneIn(8) ? value() : .integer(Int64(random.below(5)))
    let (name, key) = (property ?? "map", random.pick(RandomCalls.names))
    switch random.below(8) {
    case 0..<2: return .change(path, property, .include(element))
    case 2: return .change(path, property, .exclude(element))
    case 3..<5:
      return .change(path, name, .setEntry(key: key, random.oneIn(4) ? nil : value(depth: 1)))
    default: return .change(path, name, .incrementEntry(key: key, by: step()))
    }
  }

  private mutating func restore(_ path: NodePath) -> Call {
    if removed.isEmpty || random.oneIn(10) { return .restore(path, removedAt: 1) }
    let (place, sequence) = random.pick(removed)
    return .restore(place, removedAt: sequence)
  }

  private mutating func note(_ path: NodePath) {
    if recent.count < 48 { recent.append(path) } else { recent[random.below(48)] = path }
  }

  private mutating func note(_ path: NodePath, removedAt sequence: SequenceNumber) {
    if removed.count < 24 {
      removed.append((path, sequence))
    } else {
      removed[random.below(24)] = (path, sequence)
    }
  }

  // MARK: Paths

  /// A path near a recent one, or a new one; sometimes a deep one, rarely the root.
  mutating func path() -> NodePath {
    var path = recent.isEmpty || random.oneIn(3) ? NodePath.root : random.pick(recent)
    if random.oneIn(4) { path = path.parent ?? .root }
    if path.isRoot || random.oneIn(2) { path = path.appending(key()) }
    if random.oneIn(6) { path = path.appending(key()) }
    if random.oneIn(200) { for _ in 0..<20 { path = path.appending(key()) } }
    if random.oneIn(300) { return .root }
    return path.depth > 60 ? NodePath(keys: [key()]) : path
  }

  mutating func key() -> Key { random.pick(RandomCalls.keys) }

  // MARK: Values

  mutating func value(depth: Int = 0) -> Value {
    switch random.below(depth < 2 ? 16 : 10) {
    case 0: return .null
    case 1: return .bool(random.oneIn(2))
    case 2, 3: return .integer(Int64(truncatingIfNeeded: random.next() >> UInt64(random.below(64))))
    case 4: return .double(random.oneIn(5) ? -.nan : Double(random.below(1000)) / 8)
    case 5: return .string(String(repeating: "häy", count: random.below(8)))
    case 6: return .data(data())
    case 7: return .date(Date(timeIntervalSince1970: Double(random.below(1 << 30))))
    case 8: return .decimal(Decimal(random.below(1 << 40)) / 100)
    case 9: return .reference(NodePath(keys: [key(), key()]))
    case 10, 11: return .array((0..<random.below(4)).map { _ in value(depth: depth + 1) })
    default: return .map(ValueMap(members(depth: depth + 1)))
    }
  }

  /// Mostly short, sometimes longer than a page.
  private mutating func data() -> Data {
    Data(repeating: 7, count: random.oneIn(isBulky ? 3 : 40) ? 5_000 : random.below(30))
  }

  private mutating func members(depth: Int) -> [(name: String, value: Value)] {
    (0..<random.below(4)).map { _ in (random.pick(RandomCalls.names), value(depth: depth)) }
  }

  private mutating func updates() -> [(String, Value?)] {
    (0..<random.below(4)).map { _ in
      (random.pick(RandomCalls.names), random.oneIn(3) ? nil : value(depth: 1))
    }
  }

  private mutating func step() -> Value {
    switch random.below(6) {
    case 0: return .double(0.5)
    case 1: return random.oneIn(4) ? .string("no number") : .integer(.max)
    default: return .integer(Int64(random.below(100)) - 50)
    }
  }
}
