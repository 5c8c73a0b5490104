import Cambium

/// The facts of a write that its answer is made of, besides the request itself, so that a request
/// with an `Idempotency-Key` that comes again gets the same answer.
///
///     {"now": milliseconds, "bases": [number or null, …], "tag": "…", "name": "-Oi…"}
struct FirebaseOutcome: Equatable, Sendable {
  /// The time that the write took for server values, in milliseconds since 1970.
  var now: Int64
  /// The values that increments were added to, in the order of the edit; null for none.
  var bases: [Value] = []
  /// The tag of what was left at the path, where it was asked for.
  var tag: String?
  /// The key of a pushed value.
  var name: String?

  /// An edit with the server values that were written.
  func resolved(_ edit: FirebaseEdit) -> FirebaseEdit {
    var rest = bases[...]
    return edit.resolved(now: now) { _ in rest.popFirst() ?? .null }
  }
}

extension FirebaseOutcome {
  init(_ value: Value) {
    guard case .map(let members) = value else {
      self.init(now: 0)
      return
    }
    self.init(
      now: 0, bases: members.list("bases"), tag: members.text("tag"), name: members.text("name"))
    if case .integer(let time)? = members["now"] { now = time }
  }

  var value: Value {
    var members: ValueMap = ["now": .integer(now)]
    if !bases.isEmpty { members["bases"] = .array(bases) }
    members["tag"] = tag.map { .string($0) }
    members["name"] = name.map { .string($0) }
    return .map(members)
  }
}
