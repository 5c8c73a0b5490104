// Reading the pages of an open environment with `pread`, beside readers and writers.

extension Environment {
  /// Lends the newest moment, and what reads its pages.
  ///
  /// - Parameters:
  ///   - reading: True if tables are read as well. They are resolved then, which damaged pages may
  ///     prevent.
  ///   - body: Called again if it throws `FileDamage.transactionGone`.
  /// - Returns: The body's result.
  /// - Throws: ``FileDamage``, ``StorageError``, any error that `body` throws.
  package func pinned<R>(
    reading: Bool = false, _ body: (Access, PageWalker) throws -> R
  ) throws -> R {
    var attempts = 0
    while true {
      let pin = try reading ? ReadTransaction(self, tables: []) : ReadTransaction(pinning: self)
      attempts += 1
      do {
        let walker = try PageWalker(
          descriptor: try dataDescriptor(), transactionID: pin.access.number)
        return try body(pin.access, walker)
      } catch FileDamage.transactionGone where attempts < 100 {
        // Two commits came between the pin and the look at the meta pages.
      }
    }
  }

  /// Walks the pages of the newest moment, as ``PageWalker/walk(progress:)`` does.
  package func walkPages(
    progress: @escaping (_ pagesDone: UInt64, _ pagesTotal: UInt64) -> Bool = { _, _ in true }
  ) throws -> PageWalker.Report {
    try pinned { _, walker in try walker.walk(progress: progress) }
  }

  /// The bytes of the pages that some tables take.
  package func pageBytes(_ names: [String], _ access: Access) throws -> UInt64 {
    try names.reduce(0) { try $0 + access.size(table($1)) }
  }
}

extension Access {
  /// The entries and the pages of a table.
  package func usage(of table: Table, named name: String) throws -> PageUsage.Table {
    PageUsage.Table(name: name, tree: try tree(table))
  }

  /// The bytes of all keys and values of a table, with their seals.
  package func contentBytes(of table: Table) throws -> Int {
    var bytes = 0
    try forEach(table) { bytes += $0.byteCount + $1.byteCount + table.sealBytes }
    return bytes
  }
}
