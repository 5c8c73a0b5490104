/// An event of a stream, as the HTML standard's “server-sent events” writes it:
///
///     id: 17
///     event: put
///     data: {"path":"/","data":null}
///
struct ServerEvent: Equatable, Sendable {
  /// The position that a client names as `Last-Event-ID` when it comes back.
  var id: String?
  var name: String?
  /// UTF-8; each line of it becomes a line of the event.
  var data: [UInt8]

  init(id: String? = nil, name: String? = nil, data: [UInt8]) {
    self.id = id
    self.name = name
    self.data = data
  }

  /// The event as it is sent.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(data.count + 64)
    if let id { bytes.append(contentsOf: "id: \(id)\n".utf8) }
    if let name { bytes.append(contentsOf: "event: \(name)\n".utf8) }
    for line in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      bytes.append(contentsOf: "data: ".utf8)
      bytes.append(contentsOf: line)
      bytes.append(UInt8(ascii: "\n"))
    }
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }
}
