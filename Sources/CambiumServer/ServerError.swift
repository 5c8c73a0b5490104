import FoundationEssentials

/// A reason for which a server cannot be started. Nothing is served then.
public enum ServerError: Error, Equatable, Sendable {
  /// The address is taken, or is none of this machine's; or the system is not Linux.
  ///
  /// Recovery: choose another port, or 0 for one that is free.
  case cannotListen(String)
  /// The settings would let strangers in, or contradict each other.
  ///
  /// Recovery: the text says it.
  case refused(String)
  /// A file of tokens, a certificate or a key cannot be read.
  ///
  /// Recovery: mend the file; the text says the line.
  case badFile(String)
}

extension ServerError: CustomStringConvertible, LocalizedError {
  /// The reason, for people.
  public var description: String {
    switch self {
    case .cannotListen(let reason): "the server cannot listen: \(reason)"
    case .refused(let reason): reason
    case .badFile(let reason): reason
    }
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }
}
