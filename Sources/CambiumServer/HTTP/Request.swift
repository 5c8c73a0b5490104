/// A request that has come whole: its head is read, its body is within the limit, and it is known
/// who asks.
struct Request: Sendable {
  enum Method: String, Sendable {
    case get = "GET"
    case head = "HEAD"
    case put = "PUT"
    case patch = "PATCH"
    case post = "POST"
    case delete = "DELETE"
    case options = "OPTIONS"
  }

  /// A parameter behind the `?`, percent-decoded.
  struct Parameter: Equatable, Sendable {
    let name: String
    let value: String
  }

  var method: Method
  /// The path as it was sent: percent-encoded, beginning with `/`, without the query.
  var path: String
  /// The parameters behind the `?`, in the order in which they were sent.
  var parameters: [Parameter] = []
  /// The headers' values by their names in lower case; values of a repeated one are joined by `, `.
  var headers: [String: String] = [:]
  var body: [UInt8] = []
  var caller: Caller = .everything
  /// The address that the connection comes from, without the port.
  var clientAddress = ""

  /// The first value of a parameter.
  subscript(parameter name: String) -> String? { parameters.first { $0.name == name }?.value }

  /// The value of a header; `name` is in lower case.
  subscript(header name: String) -> String? { headers[name] }

  /// True if the method asks for nothing to be changed.
  var isRead: Bool { method == .get || method == .head || method == .options }
}
