// The codec of an enum of models: which case a record or a value is, and then the case's own table.

/// Reads and writes an enum of models, in place of the table of offsets.
@safe struct UnionCodec: Sendable {
  let decode: Decode
  /// The same, with the properties that are read under a condition that fails.
  let decodeWhole: Decode
  let encode: @Sendable (UnsafeRawPointer, inout ModelEncoder, Binding) throws -> [UInt8]
  /// As ``SchemaCore/differences(_:_:)``, of two values of the union's type.
  let differences: @Sendable ((any Model)?, (any Model)?) -> [PropertyInfo]
  /// The place of a value's case among all.
  let caseIndex: @Sendable (any Model) -> Int?
  /// True if records of the past are converted from cases that are gone.
  let isConverting: Bool

  typealias Decode =
    @Sendable (RawSpan, RawSpan, UnsafeMutableRawPointer, Binding) throws -> Void

  init<M: ModelUnion>(_ type: M.Type, _ removals: [CaseRemoval<M>]) {
    isConverting = !removals.isEmpty
    caseIndex = { model in
      (model as? M).flatMap { model in M.cases.all.firstIndex { $0.key(model) != nil } }
    }
    differences = { old, new in
      M.cases.all.flatMap { $0.codec.differences(old as? M, new as? M) }
    }
    let decode: Decode = { record, key, base, binding in
      guard let index = try binding.caseIndex(record) else {
        let model = try binding.formerCase(removals, record, key)
        return unsafe base.put(model)
      }
      let model = try M.cases.all[index].codec.decode(record, key, binding.union.cases[index])
      unsafe base.put(model)
    }
    unsafe self.decode = decode
    unsafe decodeWhole = { record, key, base, binding in
      guard let index = try binding.caseIndex(record) else {
        return try unsafe decode(record, key, base, binding)
      }
      let (codec, own) = (M.cases.all[index].codec, binding.union.cases[index])
      unsafe base.put(try codec.decodeWhole(record, key, own))
    }
    unsafe encode = { base, encoder, binding in
      let model = unsafe base.value(M.self)
      for (known, binding) in zip(M.cases.all, binding.union.cases) {
        if let bytes = try known.codec.encode(model, &encoder, binding) { return bytes }
      }
      throw ValueMismatch(reason: "\(model) is none of the cases that \(M.self) lists")
    }
  }
}

/// Reads and writes one case.
struct CaseCodec<Union: ModelUnion>: Sendable {
  typealias Decode = @Sendable (RawSpan, RawSpan, Binding) throws -> Union

  let decode: Decode
  /// The same, with the properties that are read under a condition that fails.
  let decodeWhole: Decode
  /// Nil where the value is another case.
  let encode: @Sendable (Union, inout ModelEncoder, Binding) throws -> [UInt8]?
  /// The properties in which two values differ, as far as they are this case.
  let differences: @Sendable (Union?, Union?) -> [PropertyInfo]

  init<C: Model>(
    _ make: @escaping @Sendable (C) -> Union, _ payload: @escaping @Sendable (Union) -> C?
  ) {
    differences = { C.schema.core.differences($0.flatMap(payload), $1.flatMap(payload)) }
    decode = { record, key, binding in make(try C.schema.decode(record, key: key, binding)) }
    decodeWhole = { record, key, binding in
      make(try C.schema.decodeWhole(record, key: key, binding))
    }
    encode = { union, encoder, binding in
      guard let model = payload(union) else { return nil }
      return try unsafe withUnsafePointer(to: model) {
        try unsafe encoder.encode(UnsafeRawPointer($0), binding)
      }
    }
  }
}

extension Binding {
  /// The index of a record's case; nil for one that the union does not have.
  func caseIndex(_ record: RawSpan) throws -> Int? {
    guard let place = try placeOfCase(record) else { return union.nameless }
    let stored = record.extracting(place)
    return union.names.first { $0.stored.lend { $0.equals(stored) } }?.index
  }

  /// Where a record has the name of its case.
  private func placeOfCase(_ record: RawSpan) throws -> Range<Int>? {
    if union.discriminator == Binding.unknown { return nil }
    return try RecordTable(record).find(record, union.discriminator)
  }

  /// The model that takes the place of a record of a case that is gone.
  ///
  /// - Throws: ``PropertyError`` where there is none.
  fileprivate func formerCase<M: ModelUnion>(
    _ removals: [CaseRemoval<M>], _ record: RawSpan, _ key: RawSpan
  ) throws -> M {
    let path = try core.path.appending(Key(key))
    let name = try placeOfCase(record).map { try Value(record.extracting($0)) }
    if let catalog, let removal = removals.first(where: { .string($0.name) == name }) {
      let old = DynamicRecord(path, try ValueMap(stored: record, catalog))
      do {
        if let model = try removal.made(of: old) { return model }
      } catch {
        throw core.located(error, key, -1)
      }
    }
    throw PropertyError(
      path: path, property: core.sharing.discriminator ?? "",
      reason: "it says \(name?.text ?? "none"), which is no case of \(core.typeName)")
  }
}
