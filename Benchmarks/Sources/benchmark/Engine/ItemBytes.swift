/// An item as the stores keep it that know only bytes.
///
///     count i64 | score i64 | weight f64 | active u8 | three lengths u16 | three texts
@safe final class ItemBytes {
  private static let headerBytes = 31
  private let value: UnsafeMutableRawBufferPointer

  init() { unsafe value = .allocate(byteCount: 1_024, alignment: 8) }

  deinit { unsafe value.deallocate() }

  // MARK: Writing

  /// The bytes of an item; they last until the next call.
  func encode(_ item: Item) -> UnsafeRawBufferPointer {
    unsafe value.storeBytes(of: item.count, as: Int64.self)
    unsafe value.storeBytes(of: item.score, toByteOffset: 8, as: Int64.self)
    unsafe value.storeBytes(of: item.weight, toByteOffset: 16, as: Double.self)
    unsafe value[24] = item.active ? 1 : 0
    var end = Self.headerBytes
    append(item.name, 0, &end)
    append(item.city, 1, &end)
    append(item.note, 2, &end)
    return unsafe UnsafeRawBufferPointer(rebasing: value[..<end])
  }

  /// The bytes of an item with another count; they last until the next call.
  func copy(_ bytes: UnsafeRawBufferPointer, count: Int64) -> UnsafeRawBufferPointer {
    unsafe value.copyMemory(from: bytes)
    unsafe value.storeBytes(of: count, as: Int64.self)
    return unsafe UnsafeRawBufferPointer(rebasing: value[..<bytes.count])
  }

  @inline(__always)
  private func append(_ text: String, _ index: Int, _ end: inout Int) {
    var text = text
    text.withUTF8 { bytes in
      let count = UInt16(bytes.count)
      unsafe value.storeBytes(of: count, toByteOffset: 25 + 2 * index, as: UInt16.self)
      unsafe UnsafeMutableRawBufferPointer(rebasing: value[end...])
        .copyMemory(from: UnsafeRawBufferPointer(bytes))
      end += bytes.count
    }
  }

  // MARK: Reading

  @inline(__always)
  static func name(_ bytes: UnsafeRawBufferPointer) -> String { unsafe text(0, of: bytes) }

  @inline(__always)
  static func score(_ bytes: UnsafeRawBufferPointer) -> Int64 {
    unsafe bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self)
  }

  @inline(__always)
  static func decode(_ bytes: UnsafeRawBufferPointer) -> Item {
    unsafe Item(
      name: text(0, of: bytes), city: text(1, of: bytes), note: text(2, of: bytes),
      count: bytes.loadUnaligned(as: Int64.self), score: score(bytes),
      weight: bytes.loadUnaligned(fromByteOffset: 16, as: Double.self), active: bytes[24] != 0)
  }

  @inline(__always)
  private static func text(_ index: Int, of bytes: UnsafeRawBufferPointer) -> String {
    var start = headerBytes
    for before in 0..<index { unsafe start += count(before, of: bytes) }
    let end = unsafe start + count(index, of: bytes)
    return unsafe String(decoding: bytes[start..<end], as: UTF8.self)
  }

  @inline(__always)
  private static func count(_ index: Int, of bytes: UnsafeRawBufferPointer) -> Int {
    unsafe Int(bytes.loadUnaligned(fromByteOffset: 25 + 2 * index, as: UInt16.self))
  }
}
