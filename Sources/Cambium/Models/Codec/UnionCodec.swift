// The codec of an enum of models: which case a record or a value is, and then the case's own table.

/// Reads and writes an enum of models, in place of the table of offsets.
@safe struct UnionCodec: Sendable {
  let decode: @Sendable (RawSpan, RawSpan, UnsafeMutableRawPointer, Binding) throws -> Void
  let encode: @Sendable (UnsafeRawPointer, inout ModelEncoder, Binding) throws -> [UInt8]
  /// As ``SchemaCore/differences(_:_:)``, of two values of the union's type.
  let differences: @Sendable ((any Model)?, (any Model)?) -> [PropertyInfo]

  init<M: ModelUnion>(_ type: M.Type) {
    differences = { old, new in
      M.cases.all.flatMap { $0.codec.differences(old as? M, new as? M) }
    }
    unsafe decode = { record, key, base, binding in
      let index = try binding.caseIndex(record, key)
      let model = try M.cases.all[index].codec.decode(record, key, binding.union.cases[index])
      unsafe base.put(model)
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
  let decode: @Sendable (RawSpan, RawSpan, Binding) throws -> Union
  /// Nil where the value is another case.
  let encode: @Sendable (Union, inout ModelEncoder, Binding) throws -> [UInt8]?
  /// The properties in which two values differ, as far as they are this case.
  let differences: @Sendable (Union?, Union?) -> [PropertyInfo]

  init<C: Model>(
    _ make: @escaping @Sendable (C) -> Union, _ payload: @escaping @Sendable (Union) -> C?
  ) {
    differences = { C.schema.core.differences($0.flatMap(payload), $1.flatMap(payload)) }
    decode = { record, key, binding in make(try C.schema.decode(record, key: key, binding)) }
    encode = { union, encoder, binding in
      guard let model = payload(union) else { return nil }
      return try unsafe withUnsafePointer(to: model) {
        try unsafe encoder.encode(UnsafeRawPointer($0), binding)
      }
    }
  }
}

extension Binding {
  /// The index of a record's case.
  fileprivate func caseIndex(_ record: RawSpan, _ key: RawSpan) throws -> Int {
    var found = "none"
    if union.discriminator != Binding.unknown,
      let range = try RecordTable(record).find(record, union.discriminator)
    {
      let stored = record.extracting(range)
      if let index = union.names.firstIndex(where: { $0.lend { $0.equals(stored) } }) {
        return index
      }
      found = try Value(stored).text
    }
    let path = try core.path.appending(Key(key))
    throw PropertyError(
      path: path, property: core.sharing.discriminator ?? "",
      reason: "it says \(found), which is no case of \(core.typeName)")
  }
}
