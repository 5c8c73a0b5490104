/// The way between the values of two bound properties; see ``LiveProperty/bind(to:_:_:)``.
///
///     let minutes = BindingConversion<Int, String>(forward: { "\($0)" }, backward: { Int($0) })
///
/// A value that cannot be converted gives nil, and leaves the other side as it is.
public struct BindingConversion<Source: Sendable, Target: Sendable>: Sendable {
  /// The target's value for one of the source; nil where there is none.
  public let forward: @Sendable (Source) -> Target?
  /// The source's value for one of the target; nil where there is none.
  public let backward: @Sendable (Target) -> Source?

  /// Makes a conversion from its two directions.
  ///
  /// - Parameters:
  ///   - forward: The target's value for one of the source; nil where there is none.
  ///   - backward: The source's value for one of the target; nil where there is none, as for all in
  ///     a conversion that is only used in one direction.
  public init(
    forward: @escaping @Sendable (Source) -> Target?,
    backward: @escaping @Sendable (Target) -> Source? = { _ in nil }
  ) {
    self.forward = forward
    self.backward = backward
  }

  /// The conversion with its sides exchanged.
  public var reversed: BindingConversion<Target, Source> {
    BindingConversion<Target, Source>(forward: backward, backward: forward)
  }

  /// This conversion and then another.
  public func then<Next>(
    _ next: BindingConversion<Target, Next>
  ) -> BindingConversion<Source, Next> {
    let (forward, backward) = (forward, backward)
    return BindingConversion<Source, Next>(
      forward: { forward($0).flatMap(next.forward) },
      backward: { next.backward($0).flatMap(backward) })
  }
}

extension BindingConversion where Source == Target {
  /// Leaves values as they are.
  public static var same: BindingConversion {
    BindingConversion(forward: { $0 }, backward: { $0 })
  }
}

extension BindingConversion where Source == Bool, Target == Bool {
  /// True for false, and false for true.
  public static var negated: BindingConversion {
    BindingConversion(forward: { !$0 }, backward: { !$0 })
  }
}

extension BindingConversion where Source: LosslessStringConvertible, Target == String {
  /// The text of a value, as its type writes and reads it.
  public static var text: BindingConversion {
    BindingConversion(forward: { $0.description }, backward: { Source($0) })
  }
}

extension BindingConversion where Target == Source? {
  /// The value as an optional; nil leaves the source as it is.
  public static var optional: BindingConversion {
    BindingConversion(forward: { .some(.some($0)) }, backward: { $0 })
  }
}
