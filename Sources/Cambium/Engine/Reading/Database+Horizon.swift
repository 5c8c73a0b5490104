// The oldest moment that can be read.

extension Database {
  /// The oldest moment that can be read; zero while nothing was compacted.
  public var horizon: SequenceNumber {
    get throws { try translating { try directory.log.read { try $0.horizon() } } }
  }
}
