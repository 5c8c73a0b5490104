/// A model's creation, update or deletion.
public enum ModelChange<M: Model>: Sendable {
  /// It is there now.
  case created(M)
  /// It became another than it was.
  case updated(M, from: M)
  /// It is not there any more; this is what it was.
  case deleted(M)

  /// The model as it is, or as it was before it was deleted.
  public var model: M {
    switch self {
    case .created(let model), .updated(let model, from: _), .deleted(let model): model
    }
  }

  /// The id of the model.
  public var id: ModelID<M> { model.id }

  /// The model as it was; nil if it was created.
  public var old: M? {
    switch self {
    case .created: nil
    case .updated(_, from: let old), .deleted(let old): old
    }
  }

  /// The model as it became; nil if it was deleted.
  public var new: M? {
    switch self {
    case .created(let new), .updated(let new, from: _): new
    case .deleted: nil
    }
  }

  /// The names of the properties that differ: all of them for a model that came or went.
  ///
  /// Values differ where they would be stored as other bytes. A part of a nested value is named
  /// with it, `place.latitude`.
  ///
  /// - Complexity: O(properties).
  public var properties: [String] { M.schema.core.differences(old, new).map(\.name) }

  /// True if a property differs, or any part of it: always for a model that came or went.
  ///
  /// - Parameter property: The key path of a stored property.
  /// - Returns: True if it is not as it was.
  /// - Complexity: O(properties).
  public func affects<V>(_ property: KeyPath<M, V>) -> Bool {
    guard let offset = MemoryLayout<M>.offset(of: property) else { return false }
    let range = offset..<(offset + max(MemoryLayout<V>.size, 1))
    return M.schema.core.differences(old, new).contains { range.contains($0.offset) }
  }

  /// The change from one state to another; nil if the model is in neither.
  init?(from old: M?, to new: M?) {
    switch (old, new) {
    case (nil, let new?): self = .created(new)
    case (let old?, let new?): self = .updated(new, from: old)
    case (let old?, nil): self = .deleted(old)
    case (nil, nil): return nil
    }
  }
}

extension ModelChange: Equatable where M: Equatable {}
