// Results that are not whole models: some properties, and aggregates. The query reads plain values;
// their types are those that the properties have in the model.

import FoundationEssentials

/// Values instead of models: some properties of the models that answer a query, or groups with
/// their aggregates. The rest is never decoded.
///
///     let rows = try query.select(\.number, \.carrier.name, \.scheduled).fetch()
///     let report = query.group(by: \.carrier.name).aggregates { ($0.count, $0.sum($0.distance)) }
///     try report.forEach { carrier, count, distance in … }
///
/// Of groups, only those that are being made are in memory, and no more than 64 MB of them.
public struct Selection<Element: Sendable>: Results {
  /// The query with what is selected of it, and where it is asked.
  public var request: QueryRequest
  private let make: @Sendable ([Value]) throws -> Element
  /// Makes a result of a record where it lies, or where ``pickOne`` does not: of a value that is to
  /// be looked for; nil where results are made of several records.
  @usableFromInline let pick: Pick?
  /// Makes a result of the one value that is selected; nil where there are others.
  @usableFromInline let pickOne: PickOne?

  @usableFromInline
  typealias Pick = @Sendable (SelectedPaths, _ key: RawSpan, _ record: RawSpan) throws -> Element
  @usableFromInline typealias PickOne = @Sendable (_ value: RawSpan) throws -> Element

  @usableFromInline
  init(
    _ request: QueryRequest, pick: Pick? = nil, pickOne: PickOne? = nil,
    _ make: @escaping @Sendable ([Value]) throws -> Element
  ) {
    self.request = request
    self.pick = pick
    self.pickOne = pickOne
    self.make = make
  }

  /// Results that are the same count once.
  public func distinct() -> Selection { changed { $0.request.description.isDistinct = true } }

  /// Makes the results of a run from its records, or from the values that it computes.
  @inlinable
  public func read(_ run: QueryRun, _ body: (Element) throws -> Bool) throws {
    guard let pick, let paths = try run.pickedPaths() else { return try readValues(run, body) }
    guard let pickOne else {
      return try run.forEach { key, record in try body(pick(paths, key, record)) }
    }
    try run.forEachValue(of: paths) {
      try body(pickOne($0))
    } elsewhere: { key, record in
      try body(pick(paths, key, record))
    }
  }

  @usableFromInline
  func readValues(_ run: QueryRun, _ body: (Element) throws -> Bool) throws {
    try run.forEachValues { try body(try make($0)) }
  }
}

extension Selection {
  /// Selects properties of the results of a query or a join.
  @inlinable
  init<each V: PropertyValue>(_ request: QueryRequest, of operands: (repeat Operand<each V>))
  where Element == (repeat each V) {
    let reader = SelectedValues<repeat each V>(at: 0, (repeat each operands))
    self.init(
      reader.selected(of: request), pick: { try reader.read($0, $1, $2) }, { try reader.read($0) })
  }

  /// Selects one property. The compiler of Swift 6.3 does not specialize packs, of one either.
  @inlinable
  init(_ request: QueryRequest, of operand: Operand<Element>) where Element: PropertyValue {
    let reader = SelectedValues<Element>(at: 0, (operand))
    self.init(
      reader.selected(of: request), pick: { try $0.elsewhere(0, $1, $2) },
      pickOne: { value in
        do { return try Element.readStored(value, depth: 0) } catch {
          throw reader.paths[0].located(error)
        }
      }, { try reader.read($0) })
  }
}

/// Makes a tuple of the values that some paths lead to. It is inlined into the app, where the types
/// of the properties are known: generic code that is not looks them up for each result.
///
/// The compiler of Swift 6.3 crashes where a closure makes such a tuple, so these are methods.
@usableFromInline
struct SelectedValues<each V: PropertyValue>: Sendable {
  @usableFromInline let paths: [PropertyPath]
  /// The index of the first of them among the values.
  @usableFromInline let start: Int

  @usableFromInline
  init(at start: Int, _ operands: (repeat Operand<each V>)) {
    self.start = start
    var paths: [PropertyPath] = []
    for operand in repeat each operands { paths.append(operand.path) }
    self.paths = paths
  }

  @usableFromInline
  func selected(of request: QueryRequest) -> QueryRequest {
    var request = request
    request.description.selection = paths
    return request
  }

  // MARK: From values

  @usableFromInline
  func read(_ values: [Value]) throws -> (repeat each V) {
    var index = 0
    return (repeat try value((each V).self, values, &index))
  }

  private func value<T: PropertyValue>(
    _ type: T.Type, _ values: [Value], _ index: inout Int
  ) throws -> T {
    defer { index += 1 }
    guard start + index < values.count else {
      throw DatabaseError.corrupt(reason: "a result has too few values")
    }
    return try T(selected: values[start + index], paths[index])
  }

  // MARK: From records

  @inlinable
  func read(
    _ selected: SelectedPaths, _ key: RawSpan, _ record: RawSpan
  ) throws -> (repeat each V) {
    var index = 0
    return (repeat try value((each V).self, selected, key, record, &index))
  }

  @inlinable @inline(__always)
  func value<T: PropertyValue>(
    _ type: T.Type, _ selected: SelectedPaths, _ key: RawSpan, _ record: RawSpan,
    _ index: inout Int
  ) throws -> T {
    defer { index += 1 }
    return try selected.value(index, key, record)
  }
}

/// The values of a run's records that are selected.
@usableFromInline
final class SelectedPaths {
  private let selection: [PropertyPath]
  private let paths: QueryPaths
  private let records: QueryRecords

  /// The first of them, where it is the record's own.
  fileprivate var first: OwnProperty? { paths.own[0] }

  fileprivate init(_ selection: [PropertyPath], _ run: QueryRun) throws {
    self.selection = selection
    paths = try run.selectedPaths()
    records = run.records
  }

  /// Reads a value.
  @inlinable @inline(__always)
  func value<T: PropertyValue>(_ index: Int, _ key: RawSpan, _ record: RawSpan) throws -> T {
    guard let range = try range(index, record) else { return try elsewhere(index, key, record) }
    do { return try T.readStored(record.extracting(range), depth: 0) } catch {
      throw path(index).located(error)
    }
  }

  /// Reads a value that the record does not have as it is.
  @inlinable @inline(__always)
  func elsewhere<T: PropertyValue>(_ index: Int, _ key: RawSpan, _ record: RawSpan) throws -> T {
    try T(selected: found(index, key, record), path(index))
  }

  /// The range of a value that the record has as it is; nil for one that is to be looked for.
  @usableFromInline
  func range(_ index: Int, _ record: RawSpan) throws -> Range<Int>? {
    try paths.range(index, record)
  }

  /// Looks for a value: behind references, or what stands for one that is absent.
  @usableFromInline
  func found(_ index: Int, _ key: RawSpan, _ record: RawSpan) throws -> Value {
    try paths.lendElsewhere(index, record, key: key, records) {
      $0.byteCount == 0 ? .null : try Value($0)
    }
  }

  @usableFromInline
  func path(_ index: Int) -> PropertyPath { selection[index] }
}

extension QueryRun {
  /// The paths that are selected of each record; nil where results are computed, or known already.
  @usableFromInline
  func pickedPaths() throws -> SelectedPaths? {
    guard let selection = plan.description.selection, !plan.description.isComputed else {
      return nil
    }
    if case .values = given { return nil }
    return try SelectedPaths(selection, self)
  }

  /// Hands out the first value of each result where it lies; `elsewhere` takes the results of which
  /// it is to be looked for.
  @usableFromInline
  func forEachValue(
    of paths: SelectedPaths, _ body: (RawSpan) throws -> Bool,
    elsewhere: (_ key: RawSpan, _ record: RawSpan) throws -> Bool
  ) throws {
    let property = paths.first
    try forEach { key, record in
      guard let range = try property?.range(record) else { return try elsewhere(key, record) }
      return try body(record.extracting(range))
    }
  }
}

extension PropertyValue {
  /// A selected value; nil, where the type allows it, if the record has none.
  @usableFromInline
  init(selected value: Value, _ path: PropertyPath) throws {
    do { self = try Self(storedValue: value) } catch { throw path.located(error) }
  }
}

extension PropertyPath {
  /// An error in reading the property, which says which one it is.
  @usableFromInline
  func located(_ error: any Error) -> any Error {
    guard let error = error as? ValueMismatch else { return error }
    return PropertyError(
      path: .root, property: (hops + [property ?? "id"]).joined(separator: "."),
      reason: error.reason)
  }
}

extension ModelQuery {
  // MARK: Aggregates

  private func aggregate<V: PropertyValue>(
    _ kind: QueryAggregate.Kind, _ property: (Fields<M>) -> Operand<V>
  ) throws -> Value { try request.aggregate(kind, of: property(Fields<M>()).path) }

  /// The sum of a property; zero where there is none.
  ///
  /// - Throws: As ``Walk/fetch()``; an error where the sum does not fit the type.
  public func sum<V: PropertyValue>(
    _ property: (Fields<M>) -> Operand<V>
  ) throws -> V.Base where V.Base: Numeric {
    let sum = try aggregate(.sum, property)
    if case .null = sum { return 0 }
    return try V.Base(storedValue: sum)
  }

  /// The mean of a property over those that have one; nil where none has.
  ///
  /// - Throws: As ``Walk/fetch()``.
  public func average<V: PropertyValue>(
    _ property: (Fields<M>) -> Operand<V>
  ) throws -> Double? where V.Base: Numeric {
    try Double?(storedValue: try aggregate(.average, property))
  }

  /// The least value of a property; nil where there is none.
  ///
  /// - Throws: As ``Walk/fetch()``.
  public func minimum<V: PropertyValue>(
    _ property: (Fields<M>) -> Operand<V>
  ) throws -> V.Base? { try V.Base?(storedValue: try aggregate(.minimum, property)) }

  /// The greatest value of a property; nil where there is none.
  ///
  /// - Throws: As ``Walk/fetch()``.
  public func maximum<V: PropertyValue>(
    _ property: (Fields<M>) -> Operand<V>
  ) throws -> V.Base? { try V.Base?(storedValue: try aggregate(.maximum, property)) }
}
