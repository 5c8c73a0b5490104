/// One way in which the server offers a command under `/v1/`.
///
///     GET  /v1/log?match=actor=anna&limit=5      cambium log DB actor=anna --limit 5
///     POST /v1/undo?rev=58&reason=typo           cambium undo DB 58 --reason typo
///
/// Operands and options are parameters by their names. A command that does not say how it keeps to
/// a caller's scope is only for those who may see everything.
struct Serving: Sendable {
  enum Method: String, Sendable {
    case get = "GET"
    case post = "POST"
  }

  /// The reason why an answer has nothing that lies outside of a caller's scope.
  enum Scope: Sendable {
    /// There is none: it is refused to whoever may not see everything.
    case none
    /// All that it reads or writes is at or below its paths, which are checked before it runs.
    case paths
    /// As above, and of transactions it tells those alone that changed something there.
    case changes
    /// It checks what its query depends on before it runs it.
    case query
  }

  let method: Method
  let scope: Scope
  /// Operands and options that are refused to whoever may not see everything.
  var rootOnly: [String] = []
  /// True if the answer is one object, and not a list of them.
  var isObject = false
  /// True if the answer is a stream of events, whose data are the lines that the command prints.
  var isStream = false
  /// True if a list can be asked for page by page.
  var isPaged = false
  /// Operands and options that are not offered.
  var without: [String] = []
  /// Options that are always given.
  var fixed: [String] = []
  /// The operand that the body of the request is.
  var body: String?
  /// The name under which it is offered; nil for the command's.
  var name: String?
  /// The sentence that tells what it does; nil for the command's.
  var summary: String?

  init(
    _ method: Method, scope: Scope = .none, rootOnly: [String] = [], isObject: Bool = false,
    isPaged: Bool = false, isStream: Bool = false, without: [String] = [], fixed: [String] = [],
    body: String? = nil,
    name: String? = nil, summary: String? = nil
  ) {
    (self.method, self.scope, self.rootOnly) = (method, scope, rootOnly)
    (self.isObject, self.isPaged, self.isStream) = (isObject, isPaged, isStream)
    self.without = without
    (self.fixed, self.body, self.name, self.summary) = (fixed, body, name, summary)
  }
}

extension Operand {
  /// The name of its parameter.
  var parameter: String {
    switch kind {
    case .range: "range"
    case .match: "match"
    default: String(name.prefix { $0 != " " && $0 != "=" && $0 != "…" }).lowercased()
    }
  }
}
