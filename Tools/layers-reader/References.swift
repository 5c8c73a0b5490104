// Prints the references between the files of a folder, as the compiler's index has them: one line
// for each file and each symbol of another file that it uses,
//
//     file, line of the first use, symbol, file that declares it
//
// with tabs in between. The index is written by each debug build. It knows references that no
// name in the text shows, such as a call on a value whose type is inferred.
//
//     references INDEX FOLDER     FOLDER ends without a slash; paths are printed relative to it

import CIndexStore
import Foundation

/// A symbol's occurrence that is of interest.
struct Use: Hashable {
  let file: String
  let symbol: String
}

/// The names of the index's roles, kinds and properties that are looked at.
enum Index {
  static let declares: UInt64 = 1 << 0 | 1 << 1
  static let refers: UInt64 = 1 << 2
  static let local: UInt64 = 1 << 7
  static let moduleKind: UInt32 = 1
  static let parameterKind: UInt32 = 25
  static let recordDependency: UInt32 = 2
  /// Getters, setters and the like, which come along with their property.
  static func isAccessor(_ subkind: UInt32) -> Bool {
    [3, 4].contains(subkind) || (1000...1003).contains(subkind)
      || (1014...1018).contains(subkind)
  }
}

/// Collects declarations and uses from the records of all files.
@safe final class Collector {
  let store: UnsafeMutableRawPointer
  let folder: String
  /// The newest record of each file, since the index keeps those of earlier builds.
  var records: [String: (time: Int64, record: String)] = [:]
  var declaredIn: [String: String] = [:]
  var uses: [Use: (line: UInt32, name: String)] = [:]
  var file = ""
  private var unitFile = ""
  private var unitTime: Int64 = 0

  init(_ store: UnsafeMutableRawPointer, folder: String) {
    unsafe self.store = store
    self.folder = folder
  }

  var context: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

  static func from(_ context: UnsafeMutableRawPointer?) -> Collector? {
    unsafe context.map { unsafe Unmanaged<Collector>.fromOpaque($0).takeUnretainedValue() }
  }

  func readUnits() {
    _ = unsafe indexstore_store_units_apply_f(store, 0, context) { context, name in
      unsafe Collector.from(context)?.readUnit(name.text)
      return true
    }
  }

  private func readUnit(_ name: String) {
    guard let unit = unsafe indexstore_unit_reader_create(store, name, nil) else { return }
    defer { unsafe indexstore_unit_reader_dispose(unit) }
    unitFile = unsafe indexstore_unit_reader_get_main_file(unit).text
    guard unitFile.hasPrefix(folder + "/") else { return }
    var nanoseconds: Int64 = 0
    unsafe indexstore_unit_reader_get_modification_time(unit, &unitTime, &nanoseconds)
    unitTime = unitTime * 1_000_000_000 + nanoseconds
    _ = unsafe indexstore_unit_reader_dependencies_apply_f(unit, context) { context, dependency in
      unsafe Collector.from(context)?.readDependency(dependency)
      return true
    }
  }

  private func readDependency(_ dependency: UnsafeMutableRawPointer?) {
    guard unsafe indexstore_unit_dependency_get_kind(dependency) == Index.recordDependency,
      unsafe indexstore_unit_dependency_get_filepath(dependency).text == unitFile,
      unitTime > records[unitFile]?.time ?? 0, FileManager.default.fileExists(atPath: unitFile)
    else { return }
    let record = unsafe indexstore_unit_dependency_get_name(dependency).text
    records[unitFile] = (unitTime, record)
  }

  func readRecords() {
    for (path, (_, name)) in records {
      guard let record = unsafe indexstore_record_reader_create(store, name, nil) else { continue }
      file = String(path.dropFirst(folder.count + 1))
      _ = unsafe indexstore_record_reader_occurrences_apply_f(record, context) {
        context, occurrence in
        unsafe Collector.from(context)?.readOccurrence(occurrence)
        return true
      }
      unsafe indexstore_record_reader_dispose(record)
    }
  }

  private func readOccurrence(_ occurrence: UnsafeMutableRawPointer?) {
    guard let symbol = unsafe indexstore_occurrence_get_symbol(occurrence) else { return }
    let kind = unsafe indexstore_symbol_get_kind(symbol)
    if kind == Index.moduleKind || kind == Index.parameterKind { return }
    if unsafe Index.isAccessor(indexstore_symbol_get_subkind(symbol)) { return }
    if unsafe indexstore_symbol_get_properties(symbol) & Index.local != 0 { return }
    let roles = unsafe indexstore_occurrence_get_roles(occurrence)
    let usr = unsafe indexstore_symbol_get_usr(symbol).text
    if roles & Index.declares != 0 { declaredIn[usr] = file }
    guard roles & Index.refers != 0 else { return }
    var (line, column): (UInt32, UInt32) = (0, 0)
    unsafe indexstore_occurrence_get_line_col(occurrence, &line, &column)
    let use = Use(file: file, symbol: usr)
    if let known = uses[use], known.line <= line { return }
    uses[use] = (line, unsafe indexstore_symbol_get_name(symbol).text)
  }

  /// The references from one file to another, in order.
  var references: [String] {
    uses.compactMap { use, place in
      guard let other = declaredIn[use.symbol], other != use.file else { return nil }
      return "\(use.file)\t\(place.line)\t\(place.name)\t\(other)"
    }.sorted()
  }
}

extension indexstore_string_ref_t {
  /// A copy.
  var text: String {
    unsafe String(decoding: UnsafeRawBufferPointer(start: data, count: length), as: UTF8.self)
  }
}

@main
enum References {
  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let store = unsafe indexstore_store_create(arguments[1], nil) else {
      FileHandle.standardError.write(Data("references: there is no index; build first\n".utf8))
      exit(2)
    }
    let collector = unsafe Collector(store, folder: arguments[2])
    collector.readUnits()
    collector.readRecords()
    for reference in collector.references { print(reference) }
  }
}
