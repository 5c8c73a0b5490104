// The part of SwiftUI that Together.swift uses, for systems that have none; SwiftUI.names has
// the other names. Their documentation is Apple's.

// swift-format-ignore-file

public protocol View {
  associatedtype Body: View
  @ViewBuilder var body: Body { get }
}

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
  public var value: T
  public var body: Never { return fatalError() }
}

public struct Text: View {
  public init(_ content: some StringProtocol) {}
  public var body: Never { return fatalError() }
}

public struct List<Data: RandomAccessCollection, Content: View>: View
where Data.Element: Identifiable {
  public init(_ data: Data, @ViewBuilder rowContent: @escaping (Data.Element) -> Content) {}
  public var body: Never { return fatalError() }
}

@propertyWrapper public struct State<Value> {
  public var wrappedValue: Value
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

@propertyWrapper public struct Binding<Value> {
  public var wrappedValue: Value
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}
