/// The limits of a server, each with the answer to a client that goes beyond.
///
/// | Limit | Answer |
/// |---|---|
/// | ``headBytesMax`` | 414 or 431 |
/// | ``bodyBytesMax`` | 413 |
/// | ``requestSeconds`` | the connection is closed |
/// | ``connectionsMax``, ``connectionsMaxPerClient`` | 503, 429; beyond 64 more, not accepted |
/// | ``streamsMax``, ``streamsMaxPerClient`` | 503 |
/// | 30 s without taking anything, less than 4 KiB/s after a minute | the connection is closed |
/// | 1 MiB of events that are not taken | the stream ends, and resumes |
/// | 256 MiB of bodies that are not yet answered | 503 |
public struct ServerLimits: Equatable, Sendable {
  /// The most bytes of a request's line and headers. Each open connection may hold as many.
  public var headBytesMax = 32 << 10
  /// The most bytes of a request's body, which is held in memory whole.
  public var bodyBytesMax = 16 << 20
  /// The time in which a request must have come whole.
  public var requestSeconds = 60
  /// The most connections in all. Each takes a file descriptor, of which the system may allow a
  /// process fewer (`ulimit -n`).
  public var connectionsMax = 20_000
  /// The most connections from one address.
  public var connectionsMaxPerClient = 20_000
  /// The most streams of events in all. One that waits takes about 24 KB with its connection, and
  /// up to 1 MiB while its client takes nothing.
  public var streamsMax = 20_000
  /// The most streams of events to one address.
  public var streamsMaxPerClient = 20_000

  /// The limits that serve most.
  public init() {}
}
