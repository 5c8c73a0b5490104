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

extension MergeConflict: CustomStringConvertible, CustomDebugStringConvertible {
  /// The place, and what both sides have made of what was there:
  /// `users/ada born was 1816: 1814 here (12, actor=bob), 1815 there (9, actor=eve)`.
  public var description: String {
    let place = path.inWords + (property.map { " \($0)" } ?? "")
    return "\(place) was \(base?.brief ?? "nothing"): \(here.inWords("here")), "
      + there.inWords("there")
  }

  /// All of it: `MergeConflict("users/ada", property: "born", base: 1816, here: 1814 (12), …)`.
  public var debugDescription: String {
    "MergeConflict(\(path.debugDescription), property: \(property?.debugDescription ?? "nil"), "
      + "base: \(base.literalOrNil), here: \(here.value.literalOrNil)\(here.author), "
      + "there: \(there.value.literalOrNil)\(there.author), reason: \(reason.debugDescription))"
  }
}

extension MergeConflict.Side {
  fileprivate func inWords(_ name: String) -> String {
    "\(value?.brief ?? "nothing") \(name)\(author)"
  }

  /// The transaction and its metadata, in brackets; empty if it is not known.
  fileprivate var author: String {
    guard let changedBy else { return "" }
    let texts = metadata.sorted { $0.key < $1.key }.map { ", \($0.key)=\($0.value)" }
    return " (\(changedBy)\(texts.joined()))"
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
