import Foundation

/// The state of the connection of a ``RemoteStore``, as of its last exchange with the server.
///
///     for await status in store.statuses {
///       switch status {
///       case .connecting: show("Connecting …")
///       case .live(let since): show("Connected since \(since)")
///       case .retrying(let pause, let reason): show("\(reason); next attempt in \(pause)")
///       case .stopped: show("Stopped")
///       }
///     }
public enum RemoteStatus: Hashable, Sendable {
  /// The server is being asked, and has not answered yet.
  case connecting
  /// The server answers, since that moment without a failure.
  case live(since: Date)
  /// The server did not answer; it is asked again after a pause.
  case retrying(after: Duration, reason: String)
  /// The store was stopped.
  case stopped

  /// True while the server answers.
  public var isLive: Bool { if case .live = self { true } else { false } }
}
