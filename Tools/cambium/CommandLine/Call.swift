import Cambium

/// One call of a command: its command line, where its output goes, the databases that it has
/// opened, and the rules that its writes have passed by. When it ends, these are closed and told.
@dynamicMemberLookup final class Call {
  let invocation: Invocation
  let output: Output
  let rules: UncheckedRules
  /// The server of `cambium serve`; nil where the call is not the program's.
  let serve: Tool.Serve?
  /// The request that the call answers; nil on a command line.
  let served: Served?
  /// Ends a list after a page.
  let page: Page
  /// A database that nobody holds is closed early, even while a commit of it is still read.
  private var opened: [Database] = []

  init(_ invocation: Invocation, _ output: Output, serve: Tool.Serve? = nil) {
    self.invocation = invocation
    self.serve = serve
    served = Served.current
    page = Page(size: served?.pageSize)
    self.output = output
    rules = UncheckedRules(isQuiet: invocation.isQuiet || served != nil)
  }

  deinit { close() }

  subscript<T>(dynamicMember path: KeyPath<Invocation, T>) -> T { invocation[keyPath: path] }
  subscript(option: Option) -> Argument? { invocation[option] }
  subscript(operand: Operand) -> Argument? { invocation[operand] }
  func value(_ option: Option) -> Argument { invocation.value(option) }
  func value(_ operand: Operand) -> Argument { invocation.value(operand) }
  func all(_ option: Option) -> [Argument] { invocation.all(option) }
  func all(_ operand: Operand) -> [Argument] { invocation.all(operand) }
  func has(_ option: Option) -> Bool { invocation.has(option) }

  /// Keeps a database open until the call ends.
  func keep(_ database: Database) -> Database {
    opened.append(database)
    return database
  }

  /// Tells which rules were not checked, and closes what it has opened.
  func close() {
    rules.tell()
    for database in opened { try? database.close() }
    opened = []
  }
}
