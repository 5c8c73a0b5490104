import FoundationEssentials

/// The environment's variables that a child gets: none of the recorder's.
enum ProcessVariables {
  static var all: [String: String] {
    ProcessInfo.processInfo.environment.filter {
      !$0.key.hasPrefix("TORTURE_") && $0.key != "LD_PRELOAD"
    }
  }
}
