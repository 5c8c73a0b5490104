import CInspector

/// A file of the inspector's page.
struct InspectorFile: Sendable {
  /// Where it is served, as in `/views/log.js`.
  let path: String
  let contentType: String
  let bytes: [UInt8]
  /// A hash of the bytes, in quotation marks.
  let tag: String

  /// All files by their paths; `/` is `/index.html`.
  static let all: [String: InspectorFile] = {
    var found: [String: InspectorFile] = [:]
    var count = 0
    let files = unsafe UnsafeBufferPointer(start: cambium_page_files(&count), count: count)
    for index in files.indices {
      let file = unsafe files[index]
      let name = unsafe String(cString: file.name)
      let bytes = unsafe [UInt8](UnsafeBufferPointer(start: file.bytes, count: file.count))
      found["/\(name)"] = InspectorFile("/\(name)", bytes)
    }
    found["/"] = found["/index.html"]
    return found
  }()

  private init(_ path: String, _ bytes: [UInt8]) {
    self.path = path
    self.bytes = bytes
    contentType = Self.contentType(of: path)
    tag = "\"\(String(Self.hash(bytes), radix: 16))\""
  }

  private static func contentType(of path: String) -> String {
    switch path.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    default: "application/octet-stream"
    }
  }

  /// FNV-1a: it tells versions of a file apart, and need not withstand anybody.
  private static func hash(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
