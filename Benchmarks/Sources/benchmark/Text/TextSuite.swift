import Cambium

/// Measures full text: a load of documents, the space that they take, an index made of existing
/// ones, and searches for words, beginnings of words and phrases, against SQLite's FTS5.
///
/// The documents are made of words that are as rare as those of a language are (Zipf's law). Both
/// search for the twenty best by BM25; a digest proves that both found the same.
struct TextSuite {
  private static let count = 50_000
  private static let perTransaction = 1_000
  private static let searches = 40

  /// The least ratio to SQLite, by the stage's name.
  private static let bars = [
    "load, by processor time": 0.5, "documents in a megabyte": 0.5,
    "search for a beginning": 1 / 1.5, "search for a phrase": 1 / 1.5,
  ]

  private let count: Int
  private let rounds: Int
  private let options: Options
  private let workspace: Workspace

  init(_ options: Options, _ workspace: Workspace) {
    self.options = options
    self.workspace = workspace
    count = options.count ?? (options.isSmoke ? 1_000 : Self.count)
    rounds = options.rounds ?? (options.isSmoke ? 1 : 3)
  }

  func run() throws {
    let documents = DocumentData(count: count)
    var measurements = Measurements()
    for round in 0..<rounds {
      let turns: [any DocumentStore.Type] = [SQLiteDocuments.self, CambiumDocuments.self]
      for store in round % 2 == 0 ? turns : turns.reversed() where options.selects(store.name) {
        try measure(store, documents, &measurements)
      }
    }
    print("Full text: \(count) documents of 86 words on average, \(rounds) rounds; operations per")
    print("second, and the median ratio to SQLite's FTS5.\n")
    try measurements.report(
      [SQLiteDocuments.name, CambiumDocuments.name], CambiumDocuments.name,
      to: SQLiteDocuments.name, suite: "text", options
    ) {
      Self.bars[$0]
    }
  }

  private func measure<Store: DocumentStore>(
    _ type: Store.Type, _ documents: DocumentData, _ measurements: inout Measurements
  ) throws {
    let directory = try workspace.directory()
    defer { workspace.remove(directory) }
    func add(_ time: Elapsed, _ operations: Int, _ digest: Digest? = nil, to name: String) {
      measurements.add(time, operations: operations, digest: digest, to: name, of: Store.name)
    }
    let (load, _) = try elapsed {
      let store = try Store(directory: directory, isSoon: options.isSoon)
      try store.load(documents.texts, perTransaction: Self.perTransaction)
      try store.close()
    }
    add(load, count, to: "load")
    measurements.add(Double(count) / load.cpu, to: "load, by processor time", of: Store.name)
    let megabytes = Double(try DiskSpace.bytes(in: directory)) / 1e6
    measurements.add(Double(count) / megabytes, to: "documents in a megabyte", of: Store.name)
    let store = try Store(directory: directory, isSoon: options.isSoon)
    for (name, searches) in documents.searches(Self.searches) {
      let (time, digest) = try elapsed {
        var digest = Digest()
        for search in searches { digest.add(search.fingerprint(of: try store.search(search))) }
        return digest
      }
      add(time, searches.count, digest, to: name)
    }
    let (change, _) = try elapsed {
      for (number, text) in documents.changes { try store.change(number, to: text) }
    }
    add(change, documents.changes.count, to: "change of a document")
    let (rebuild, _) = try elapsed { try store.rebuild() }
    add(rebuild, count, to: "index made of existing documents")
    try store.close()
  }
}

/// A search, in words that each contender puts in its own language.
enum DocumentSearch {
  case word(String)
  case beginning(String)
  case phrase(String)
  case all(String, String)

  /// A number in which all must agree: the sum of the scores, in thousandths. For a phrase it is
  /// the number found: its rarity is that of its rarest word in Cambium, and its own in FTS5.
  func fingerprint(of scores: [Double]) -> Int64 {
    if case .phrase = self { return Int64(scores.count) }
    return Int64(scores.reduce(0, +) * 1_000)
  }
}

/// A database of documents whose texts can be searched.
protocol DocumentStore {
  static var name: String { get }

  /// Opens the database in a directory; makes it first, if there is none.
  init(directory: String, isSoon: Bool) throws
  /// Adds documents, which are numbered from 1.
  func load(_ texts: [String], perTransaction: Int) throws
  /// Replaces a document's text, in a transaction of its own.
  func change(_ number: Int, to text: String) throws
  /// The scores of the twenty best, the best first.
  func search(_ search: DocumentSearch) throws -> [Double]
  /// Makes the index again, of the documents that there are.
  func rebuild() throws
  func close() throws
}
