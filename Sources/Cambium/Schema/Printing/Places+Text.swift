// The texts of what an error or the log names by its place: conflicts of an undo, and events.

extension UndoConflict: CustomStringConvertible, CustomDebugStringConvertible {
  /// The place, and what is there against what was left there:
  /// `users/ada name is "Bob", and was left "Ada" (changed by 14)`.
  public var description: String {
    let place = path.inWords + (property.map { " \($0)" } ?? "")
    let by = changedBy.map { " (changed by \($0))" } ?? ""
    if found == left { return "\(place): \(reason)\(by)" }
    let (there, then) = (found?.brief ?? "nothing", left?.brief ?? "nothing")
    return "\(place) is \(there), and was left \(then)\(by)"
  }

  /// All of it: `UndoConflict("users/ada", property: "name", left: "Ada", found: "Bob", …)`.
  public var debugDescription: String {
    "UndoConflict(\(path.debugDescription), property: \(property?.debugDescription ?? "nil"), "
      + "left: \(left.literalOrNil), found: \(found.literalOrNil), "
      + "changedBy: \(changedBy?.description ?? "nil"), reason: \(reason.debugDescription))"
  }
}

extension Event: CustomStringConvertible, CustomDebugStringConvertible {
  /// The name and the payload at a glance: `ordered {number: 12}`.
  public var description: String { "\(name) \(payload.brief)" }

  /// All of it: `Event("ordered", {"number": 12})`.
  public var debugDescription: String {
    "Event(\(name.debugDescription), \(payload.literal))"
  }
}
