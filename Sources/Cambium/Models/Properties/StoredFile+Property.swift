// A file as a property of a model.

extension StoredFile: PropertyValue {
  /// A map of anything.
  public static var propertyType: PropertyType { .map(.any) }

  /// Takes a stored file.
  public init(storedValue: Value) throws {
    guard let file = StoredFile(storedValue) else {
      throw ValueMismatch(Self.self, found: storedValue)
    }
    self = file
  }
}
