import FoundationEssentials
import LMDB

/// The page walker, and what looks at a file before LMDB maps it: which file, then how it is
/// damaged, seven bytes for each damage.
///
/// A file that the walker passes must be safe for LMDB to read and write: LMDB does so here, in
/// this process. Inputs are damages, not files, since a file is too long to be changed at random
/// with any success.
enum PageTarget {
  static let target = FuzzTarget(name: "pages", seeds: seeds, run: run)

  /// Each kind of damage, at both meta pages and at some others.
  private static func seeds() throws -> [[UInt8]] {
    let pages = [0, 1, 2, 3, 5, 8, 13, 20] as [UInt8]
    let damages = pages.flatMap { page in
      (0..<8 as Range<UInt8>).map { [page, 0, 16 + page * 5, 0, $0, 1, page] }
    }
    return [[0], [1]] + damages.flatMap { [[0] + $0, [1] + $0] }
      + zip(damages, damages.dropFirst(9)).map { [0] + $0 + $1 }
  }

  private static let scratch: String = mustSucceed("a directory to work in") {
    let path = FileManager.default.temporaryDirectory
      .appending(path: "cambium-fuzz-pages-\(ProcessInfo.processInfo.processIdentifier)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  private static func run(_ input: inout FuzzInput) {
    let specimen = Specimen.all[Int(input.byte()) % Specimen.all.count]
    var image = specimen.image
    let isWhole = input.rest.isEmpty
    while !input.rest.isEmpty { damage(&image, specimen, &input) }
    let file = "\(scratch)/data.mdb"
    mustSucceed("writing the file") { try Data(image).write(to: URL(filePath: file)) }
    unlessDamaged("lookup") {
      for table in specimen.tables { _ = try PageLookup.value(in: file, table: table, key: "k") }
    }
    let isSafe = unlessDamaged("checks") { try passes(file) } ?? false
    require(isSafe || !isWhole, "what LMDB wrote is sound")
    if isSafe { use(specimen) }
    try? FileManager.default.removeItem(atPath: "\(scratch)/lock.mdb")
  }

  private static func passes(_ file: String) throws -> Bool {
    try FileCheck.check(file)
    let report = try PageWalker.walk(file)
    require(report.used <= report.pages && report.free <= report.pages, "no page counts twice")
    return report.isSound
  }

  private static func unlessDamaged<R>(_ what: String, _ body: () throws -> R) -> R? {
    do {
      return try body()
    } catch is FileDamage {
      return nil
    } catch {
      fatalError("fuzz: \(what): \(error)")
    }
  }

  private static func damage(_ image: inout [UInt8], _ specimen: Specimen, _ input: inout FuzzInput)
  {
    guard !image.isEmpty else { return input.skip() }
    let pages = max(1, image.count / FileCheck.pageSize)
    let page = input.number(below: pages) * FileCheck.pageSize
    let place = min(page + input.number(below: FileCheck.pageSize), image.count - 1)
    let (kind, value, other) = (input.byte(), input.byte(), input.byte())
    switch kind % 8 {
    case 0: image[place] = value
    case 1: image[place] ^= value
    case 2: image[place] &+= value
    case 3: image.store([value, other], at: place)
    case 4: image.store([UInt8](repeating: value, count: 512), at: place & ~511)
    case 5:
      let from = Int(value) % pages * FileCheck.pageSize
      image.store(Array(image[from..<min(from + FileCheck.pageSize, image.count)]), at: page)
    case 6: image.store([value, other, 0, 0, 0, 0, 0, 0], at: place & ~7)
    default: image.removeLast(min(Int(value) * 64, image.count))
    }
  }

  /// LMDB reads everything and writes.
  private static func use(_ specimen: Specimen) {
    do {
      let environment = try Environment(
        at: scratch,
        .init(tables: specimen.tables, mapSize: 1 << 22, mapSizeMax: 1 << 26, synced: false))
      defer { environment.close() }
      try specimen.read(environment)
      try specimen.write(environment)
    } catch is StorageError {
      // It may refuse: a table that is none of ours, a map that is too small.
    } catch {
      fatalError("fuzz: LMDB: \(error)")
    }
  }
}

extension FuzzInput {
  mutating func skip() { _ = bytes(rest.count) }
}

extension [UInt8] {
  /// Puts bytes over those that are there, as far as there are any.
  fileprivate mutating func store(_ bytes: [UInt8], at offset: Int) {
    for (index, byte) in zip(offset..<count, bytes) { self[index] = byte }
  }
}
