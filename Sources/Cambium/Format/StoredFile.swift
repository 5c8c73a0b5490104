// A file as a value: a map with these members, of which those that are not known are left out.
//
//     content   blob
//     created   date
//     modified  date
//     name      string
//     type      string: a media type, "image/png"

import FoundationEssentials

/// A file: a large content, with its name, media type and times.
///
///     let file = try database.store(photo, name: "ada.png", type: "image/png")
///     try database.write { tx in try tx.update("users/ada", ["photo": .file(file)]) }
///     let photo = try database.read { StoredFile(try $0["users/ada"]["photo"]) }
///
/// It is stored as a map, so that every tool reads it, and it can be a property of a model. Two
/// files with the same bytes share them, whatever they are called.
public struct StoredFile: Hashable, Sendable {
  /// The content.
  public var content: Blob
  /// The name, without folders: `ada.png`.
  public var name: String
  /// The media type (RFC 6838), as `image/png`; nil if it is not known.
  public var type: String?
  /// The time at which the file was made; nil if it is not known.
  public var created: Date?
  /// The time at which its content was last changed; nil if it is not known.
  public var modified: Date?

  /// Makes a file of a content that is stored already.
  public init(
    _ content: Blob, name: String, type: String? = nil, created: Date? = nil, modified: Date? = nil
  ) {
    (self.content, self.name, self.type) = (content, name, type)
    (self.created, self.modified) = (created, modified)
  }

  /// Reads a value that a file was stored as; nil for any other.
  public init?(_ value: Value?) {
    guard case .map(let members)? = value, case .blob(let content)? = members["content"],
      case .string(let name)? = members["name"]
    else { return nil }
    self.init(content, name: name)
    if case .string(let type)? = members["type"] { self.type = type }
    if case .date(let created)? = members["created"] { self.created = created }
    if case .date(let modified)? = members["modified"] { self.modified = modified }
  }

  /// The length of the content in bytes.
  public var size: UInt64 { content.size }

  /// The value that it is stored as: a map.
  public var storedValue: Value {
    var members = ValueMap()
    members["content"] = .blob(content)
    members["name"] = .string(name)
    members["type"] = type.map { .string($0) }
    members["created"] = created.map { .date($0) }
    members["modified"] = modified.map { .date($0) }
    return .map(members)
  }
}

extension StoredFile: CustomStringConvertible {
  /// Its name, size and type: `ada.png, 70312 bytes, image/png`.
  public var description: String {
    "\(name), \(size) bytes" + (type.map { ", \($0)" } ?? "")
  }
}

extension Value {
  /// The value that a file is stored as.
  public static func file(_ file: StoredFile) -> Value { file.storedValue }
}
