// The part of Combine that Together.swift uses, for systems that have none; Combine.names has the
// other names. Their documentation is Apple's.

// swift-format-ignore-file

public protocol ObservableObject: AnyObject {}

public final class AnyCancellable: Hashable {
  public static func == (a: AnyCancellable, b: AnyCancellable) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
