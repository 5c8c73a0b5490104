import Cambium

/// Writes a tree as JSON while it is read, without knowing what is still to come.
///
/// An object is opened when its first scalar is written, so that what is empty leaves no trace:
///
///     begin "a" · begin "b" · end · begin "c" · scalar "d" 1 …    →    {"a":{"c":{"d":1 …
///
/// Bytes go to the sink in pieces, so that memory does not grow with the tree.
final class FirebaseJSON {
  /// The number of bytes that are collected before they go to the sink.
  static let pieceBytes = 32 << 10

  private struct Level {
    let name: FirebaseName?
    let isArray: Bool
    var isOpen = false
    /// The number of members or elements that are written.
    var count = 0
  }

  private(set) var bytes: [UInt8] = []
  /// True once a scalar is written: without one the tree is null.
  private(set) var isEmpty = true
  private let isPretty: Bool
  private let sink: (([UInt8]) throws -> Void)?
  private var levels: [Level] = []

  /// Writes to a sink, which takes the pieces; without one all stays in ``bytes``.
  init(isPretty: Bool = false, sink: (([UInt8]) throws -> Void)? = nil) {
    self.isPretty = isPretty
    self.sink = sink
  }

  /// Starts an object, or an array of elements whose names are their places.
  func begin(_ name: FirebaseName?, isArray: Bool = false) {
    levels.append(Level(name: name, isArray: isArray))
  }

  /// Ends the last object or array that was begun.
  func end() {
    let level = levels.removeLast()
    guard level.isOpen else { return }
    newLine(levels.count)
    bytes.append(UInt8(ascii: level.isArray ? "]" : "}"))
  }

  /// Writes a scalar.
  func scalar(_ name: FirebaseName?, _ value: Value) throws {
    isEmpty = false
    for index in levels.indices where !levels[index].isOpen {
      if let above = index > 0 ? index - 1 : nil { open(levels[index].name, in: above) }
      levels[index].isOpen = true
      bytes.append(UInt8(ascii: levels[index].isArray ? "[" : "{"))
    }
    if !levels.isEmpty { open(name, in: levels.count - 1) }
    JSONWriter.append(plain: value, to: &bytes)
    if bytes.count >= FirebaseJSON.pieceBytes { try flush() }
  }

  /// Writes a tree of memory.
  func tree(_ name: FirebaseName?, _ tree: FirebaseTree, asArrays: Bool) throws {
    switch tree {
    case .scalar(let value): try scalar(name, value)
    case .timestamp, .increment: break
    case .object(let members):
      begin(name, isArray: asArrays && FirebaseTree.arrayCount(of: members) != nil)
      for member in members { try self.tree(member.name, member.tree, asArrays: asArrays) }
      end()
    }
  }

  /// Ends the document, and hands the last piece to the sink.
  func finish() throws {
    if isEmpty { bytes.append(contentsOf: "null".utf8) }
    if isPretty { bytes.append(UInt8(ascii: "\n")) }
    try flush()
  }

  /// Hands what is written to the sink.
  func flush() throws {
    guard let sink, !bytes.isEmpty else { return }
    let piece = bytes
    bytes = []
    try sink(piece)
  }

  /// Adds bytes as they are, between documents.
  func raw(_ text: some Sequence<UInt8>) { bytes.append(contentsOf: text) }

  /// Starts the next document.
  func restart() { isEmpty = true }

  /// Writes what comes before a member or an element: a comma, nulls for gaps, the name.
  private func open(_ name: FirebaseName?, in index: Int) {
    if levels[index].isArray {
      let place = name?.index ?? levels[index].count
      while levels[index].count < place {
        separate(index)
        bytes.append(contentsOf: "null".utf8)
      }
      return separate(index)
    }
    separate(index)
    JSONText.append(name?.text ?? "", to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    if isPretty { bytes.append(UInt8(ascii: " ")) }
  }

  private func separate(_ index: Int) {
    if levels[index].count > 0 { bytes.append(UInt8(ascii: ",")) }
    levels[index].count += 1
    newLine(index + 1)
  }

  private func newLine(_ depth: Int) {
    guard isPretty else { return }
    bytes.append(UInt8(ascii: "\n"))
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: depth * 2))
  }
}
