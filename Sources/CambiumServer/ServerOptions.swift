import FoundationEssentials

/// The settings of a ``Server``.
public struct ServerOptions: Sendable {
  /// A certificate and its key, each a file in PEM.
  public struct TLS: Equatable, Sendable {
    /// The file of the certificate, and of those between it and its authority.
    public var certificatePath: String
    /// The file of the certificate's private key.
    public var keyPath: String

    /// A certificate and its key.
    public init(certificatePath: String, keyPath: String) {
      self.certificatePath = certificatePath
      self.keyPath = keyPath
    }
  }

  /// The address to listen on, or a name for it. Other addresses than those of loopback need tokens
  /// and TLS.
  public var host = "127.0.0.1"
  /// The port; 0 for one that is free.
  public var port: UInt16 = 8787
  /// True if the server writes; otherwise it only reads, whatever a token allows.
  public var allowsWriting = false
  /// A file of tokens, which is looked at each second and read again when it has changed; nil for
  /// none. The article *Serving* has its form.
  public var tokenPath: String?
  /// Tokens, as such a file has them, for instance from the environment.
  public var tokens: String?
  /// The server's certificate; nil for HTTP without TLS.
  public var tls: TLS?
  /// True if strangers on the network may listen in: tokens are sent without TLS.
  public var isInsecure = false
  /// The limits for requests, connections and streams.
  public var limits = ServerLimits()
  /// Gets a line about each thing that whoever runs the server should know. It is called on any
  /// thread, and what is served waits until it returns.
  public var log: @Sendable (String) -> Void = { _ in }

  /// The settings that serve this machine alone, for reading.
  public init() {}
}
