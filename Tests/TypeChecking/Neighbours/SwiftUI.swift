// The part of SwiftUI that Together.swift and Cambium use, for systems that have none.
// SwiftUI.names has the other names. Their documentation is Apple's.

// swift-format-ignore-file

@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension View {
  nonisolated public func task<T: Equatable>(
    id value: T, priority: TaskPriority = .userInitiated,
    @_inheritActorContext _ action: sending @escaping () async -> Void
  ) -> some View { Text("") }
}

public protocol DynamicProperty { mutating func update() }
extension DynamicProperty { public mutating func update() {} }

extension Never: View {
  public var body: Never { return fatalError() }
}

extension Optional: View where Wrapped: View {
  public var body: Never { return fatalError() }
}

@resultBuilder public enum ViewBuilder {
  public static func buildBlock<each Content: View>(
    _ content: repeat each Content
  ) -> TupleView<(repeat each Content)> { TupleView(value: (repeat each content)) }
}

public struct TupleView<T>: View {
  nonisolated init(value: T) {}
  public var body: Never { return fatalError() }
}

public struct Text: View {
  nonisolated public init(_ content: some StringProtocol) {}
  public var body: Never { return fatalError() }
}

public struct List<Data: RandomAccessCollection, Content: View>: View
where Data.Element: Identifiable {
  public init(_ data: Data, @ViewBuilder rowContent: @escaping (Data.Element) -> Content) {}
  public var body: Never { return fatalError() }
}

@propertyWrapper public struct State<Value>: DynamicProperty {
  private let value: Value
  public init(wrappedValue: Value) { value = wrappedValue }
  public init(initialValue: Value) { value = initialValue }
  public var wrappedValue: Value {
    get { value }
    nonmutating set {}
  }
}

extension State: Sendable where Value: Sendable {}

@propertyWrapper public struct Binding<Value> {
  public var wrappedValue: Value
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}
