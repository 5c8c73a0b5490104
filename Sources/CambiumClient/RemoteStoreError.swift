import Foundation

/// The reason why a ``RemoteStore`` could not do as asked, beside the errors that every store has.
public enum RemoteStoreError: Error, Equatable, Sendable {
  /// The server could not be reached in time. Nothing was read; a write waits instead.
  ///
  /// Recovery: try again once ``RemoteStore/statuses`` says that the connection is live.
  case unreachable(reason: String)

  /// So many writes wait for the server, which is the most that the store keeps. This one was not
  /// taken.
  ///
  /// Recovery: wait until the connection is live, or open the store with a higher limit.
  case tooManyWaiting(Int)

  /// The caller's task was cancelled after the write was sent first. The write stays in the queue
  /// and is made once, unless the server refuses it.
  case stillWaiting

  /// The write may have been made long ago: it was sent without an answer, and the server does not
  /// know its key any more. It was taken out of the queue.
  ///
  /// Recovery: read what it was to change, and write again if it was not made.
  case outcomeUnknown

  /// The server refused the request for a reason of its own, such as a token that it does not know.
  /// A write that was answered with status 500 may have been made.
  ///
  /// Recovery: see `message`.
  case refused(status: Int, message: String)

  /// The answer has more bytes than a store takes.
  ///
  /// Recovery: ask for less, with a limit.
  case tooLarge(bytesMax: Int)

  /// The answer is not one of a server of this version.
  ///
  /// Recovery: check the address, and update the older of the two.
  case unexpectedAnswer(reason: String)

  /// The address is no URL.
  case badURL(String)

  /// The store was stopped. A write that waited is sent by the next store that is opened with the
  /// same file; without a file it is not made, unless it was on its way.
  case stopped
}

extension RemoteStoreError: CustomStringConvertible, LocalizedError {
  /// A sentence, with what to do.
  public var description: String {
    switch self {
    case .unreachable(let reason): "the server cannot be reached: \(reason)"
    case .tooManyWaiting(let count):
      "\(count) writes wait for the server, which is the most that are kept; wait until it answers"
    case .stillWaiting:
      "the task was cancelled while its write was on the way; it stays, to be made once"
    case .outcomeUnknown:
      "the write was sent long ago without an answer; look if it was made, and write again if not"
    case .refused(let status, let message): "the server refused with \(status): \(message)"
    case .tooLarge(let bytesMax):
      "the answer has more than \(bytesMax) bytes; ask for less at a time"
    case .unexpectedAnswer(let reason):
      "the answer is none of a Cambium server of this version: \(reason)"
    case .badURL(let text): "'\(text)' is no address of a server"
    case .stopped: "the store was stopped"
    }
  }

  /// The ``description``, which `localizedDescription` gives as well. It is in English.
  public var errorDescription: String? { description }
}
