// The part of Combine that Together.swift and Cambium use, for systems that have none.
// Combine.names has the other names. Their documentation is Apple's.

// swift-format-ignore-file

public protocol ObservableObject: AnyObject {}

public final class AnyCancellable: Hashable {
  public static func == (a: AnyCancellable, b: AnyCancellable) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

public protocol Publisher<Output, Failure> {
  associatedtype Output
  associatedtype Failure: Error
  func receive<S: Subscriber>(subscriber: S) where Failure == S.Failure, Output == S.Input
}

public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
  associatedtype Input
  associatedtype Failure: Error
  func receive(subscription: any Subscription)
  func receive(_ input: Input) -> Subscribers.Demand
  func receive(completion: Subscribers.Completion<Failure>)
}

public protocol Cancellable { func cancel() }

public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
  func request(_ demand: Subscribers.Demand)
}

public enum Subscribers {
  @frozen public struct Demand: Equatable, Hashable, Codable, CustomStringConvertible {
    public static let unlimited = Demand()
    public static let none = Demand()
    public static func += (left: inout Demand, right: Demand) {}
    public static func -= (left: inout Demand, right: Int) {}
    public var description: String { "" }
  }

  @frozen public enum Completion<Failure: Error> {
    case finished
    case failure(Failure)
  }
}

public struct CombineIdentifier: Hashable {}

public protocol CustomCombineIdentifierConvertible {
  var combineIdentifier: CombineIdentifier { get }
}

extension CustomCombineIdentifierConvertible where Self: AnyObject {
  public var combineIdentifier: CombineIdentifier { CombineIdentifier() }
}
