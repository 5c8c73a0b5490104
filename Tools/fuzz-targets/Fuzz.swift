import CFuzzer
import FoundationEssentials
import Glibc

/// Runs a fuzz target under libFuzzer; `Tools/fuzz` builds and calls it.
///
///     fuzz targets                   prints the targets' names
///     fuzz seeds TARGET FOLDER       writes what a target starts from
///     fuzz run TARGET ARGUMENT…      runs it; the arguments are libFuzzer's
///
/// A fault that a target finds ends the process. libFuzzer keeps the input that did it.
@main struct Fuzz {
  static func main() throws {
    let arguments = CommandLine.arguments
    switch (arguments.dropFirst().first, arguments.count) {
    case ("targets", 2): for target in FuzzTarget.all { print(target.name) }
    case ("seeds", 4): try chosen.writeSeeds(into: arguments[3])
    case ("run", 3...): exit(drive([arguments[0]] + arguments.dropFirst(3)))
    default: fatalError("usage: fuzz targets | seeds TARGET FOLDER | run TARGET ARGUMENT…")
    }
  }

  /// The target that the arguments name; libFuzzer's callback can hold nothing itself.
  private static let chosen: FuzzTarget = {
    let name = CommandLine.arguments[2]
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
      fatalError("there is no target \(name); `fuzz targets` prints them")
    }
    return target
  }()

  private static func drive(_ arguments: [String]) -> CInt {
    var count = CInt(arguments.count)
    // libFuzzer keeps pointers into them, so they are never freed.
    let texts = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(
      capacity: arguments.count + 1)
    for (index, argument) in arguments.enumerated() { unsafe texts[index] = strdup(argument) }
    unsafe texts[arguments.count] = nil
    var pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe texts
    // libFuzzer gives up at once where it sees nothing being reached.
    fuzzer_watch_reached()
    return unsafe LLVMFuzzerRunDriver(&count, &pointer) { bytes, count in
      var input = unsafe FuzzInput(Array(UnsafeBufferPointer(start: bytes, count: count)))
      Fuzz.chosen.run(&input)
      fuzzer_watch_reached()
      return 0
    }
  }
}
