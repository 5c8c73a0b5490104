// The part of SwiftData that Together.swift uses, for systems that have none; SwiftData.names has
// the other names. Their documentation is Apple's.

// swift-format-ignore-file

@attached(member) public macro Model() = #externalMacro(module: "SwiftDataMacros", type: "Model")

@freestanding(declaration)
public macro Index<T>(_ indices: [PartialKeyPath<T>]...) =
  #externalMacro(module: "SwiftDataMacros", type: "Index")

@freestanding(declaration)
public macro Unique<T>(_ constraints: [PartialKeyPath<T>]...) =
  #externalMacro(module: "SwiftDataMacros", type: "Unique")

@attached(peer)
public macro Attribute() = #externalMacro(module: "SwiftDataMacros", type: "Attribute")

@attached(peer)
public macro Relationship() = #externalMacro(module: "SwiftDataMacros", type: "Relationship")

@attached(peer)
public macro Transient() = #externalMacro(module: "SwiftDataMacros", type: "Transient")

@propertyWrapper public struct Query<Element, Result> {
  public var wrappedValue: Result
  public init(wrappedValue: Result) { self.wrappedValue = wrappedValue }
}
