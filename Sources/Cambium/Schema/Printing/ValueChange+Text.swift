// The texts of changes in place: what is done, and with which value.

extension ValueChange: CustomStringConvertible, CustomDebugStringConvertible {
  /// The change at a glance: `increment by 1`, `insert "x" at 2`, `set USD to 30`.
  public var description: String {
    text({ ($0 as? Value)?.brief ?? "\($0)" }, key: { ConditionText.name($0) })
  }

  /// The change with the whole value: `set "USD" to 30`.
  public var debugDescription: String {
    text({ String(reflecting: $0) }, key: \.debugDescription)
  }

  private func text(_ shown: (Payload) -> String, key: (String) -> String) -> String {
    switch self {
    case .increment(let step): "increment by \(shown(step))"
    case .append(let element): "append \(shown(element))"
    case .insert(let element, let position): "insert \(shown(element)) at \(position)"
    case .removeElement(let position): "remove element \(position)"
    case .include(let element): "include \(shown(element))"
    case .exclude(let element): "exclude \(shown(element))"
    case .setEntry(let name, let value?): "set \(key(name)) to \(shown(value))"
    case .setEntry(let name, nil): "remove \(key(name))"
    case .incrementEntry(let name, let step): "increment \(key(name)) by \(shown(step))"
    }
  }
}
