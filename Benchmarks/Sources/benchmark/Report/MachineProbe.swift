import FoundationEssentials

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Looks at the machine before anything is measured.
enum MachineProbe {
  /// Prints the machine, and a warning where others use it.
  static func run(_ options: Options, _ workspace: Workspace) throws {
    let machine = Machine(
      date: String(Date.now.ISO8601Format().prefix(10)), processor: processor(),
      cores: ProcessInfo.processInfo.activeProcessorCount, system: system(),
      directory: options.directory,
      flush: try DiskFlush.seconds(in: workspace.directory()) * 1e6, busy: busyPart())
    print("\(machine.date), \(machine.cores) cores of \(machine.processor), \(machine.system);")
    print("a flush in \(machine.directory) takes \(digits(machine.flush)) µs.\n")
    if machine.busy > Machine.busyMax {
      print("Others use \(digits(machine.busy * 100)) % of the processors: do not believe what")
      print("follows.\n")
    }
    try options.results?.add(.machine(machine))
  }

  private static func processor() -> String {
    let text = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
    let name = line?.split(separator: ":").last.map { $0.drop { $0 == " " } }
    return name.map { String($0) } ?? "an unknown processor"
  }

  private static func system() -> String {
    var names = utsname()
    guard unsafe uname(&names) == 0 else { return "an unknown system" }
    func text<T>(_ field: T) -> String {
      unsafe withUnsafeBytes(of: field) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
    }
    return "\(text(names.sysname)) \(text(names.release))"
  }

  /// The part of the processors' time that was used during a second in which this process sleeps; 0
  /// where there is no `/proc`.
  private static func busyPart() -> Double {
    guard let before = times() else { return 0 }
    sleep(1)
    guard let after = times(), after.all > before.all else { return 0 }
    return Double(after.busy - before.busy) / Double(after.all - before.all)
  }

  private static func times() -> (busy: Int, all: Int)? {
    guard let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8),
      let line = text.split(separator: "\n").first
    else { return nil }
    let fields = line.split(separator: " ").dropFirst().compactMap { Int($0) }
    guard fields.count > 4 else { return nil }
    // The fourth and the fifth are idle, and waiting for disks.
    let all = fields.prefix(8).reduce(0, +)
    return (all - fields[3] - fields[4], all)
  }
}
