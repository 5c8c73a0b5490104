import CMicrohttpd
import Foundation
import Synchronization

/// The thread that moves the bytes: it waits until a socket is ready, and lets libmicrohttpd work.
///
/// libmicrohttpd could wait by itself. Version 0.9.75, Debian's, then asks the kernel for at most
/// 128 sockets that are ready, and where it gets 128 it asks again, with the same patience. Where
/// that is all, it sleeps with 128 requests that it has not looked at, until another comes or for
/// a minute. Here it is only ever told to look.
///
/// `@unchecked`: `daemon` is set before the thread begins, and never again.
@safe final class EventLoop: @unchecked Sendable {
  private var daemon: OpaquePointer?
  /// A pipe: a byte in it wakes the thread.
  private let wakers: (read: Int32, write: Int32)
  /// True while there is a byte in the pipe, so that many who wake the thread write one.
  private let isWoken = Atomic(false)
  private let isEnding = Atomic(false)
  private let hasEnded = DispatchSemaphore(value: 0)

  init() {
    var ends: [Int32] = [-1, -1]
    _ = unsafe pipe(&ends)
    wakers = (ends[0], ends[1])
  }

  deinit {
    close(wakers.read)
    close(wakers.write)
  }

  /// Begins; false where the system has no descriptors left.
  func begin(_ daemon: OpaquePointer) -> Bool {
    let sockets = unsafe http_epoll(daemon)
    guard sockets >= 0, wakers.read >= 0 else { return false }
    unsafe self.daemon = daemon
    Thread.detachNewThread { [self] in run(sockets) }
    return true
  }

  /// Lets a suspended connection go on, from any thread.
  func resume(_ connection: OpaquePointer) {
    unsafe MHD_resume_connection(connection)
    wake()
  }

  /// Ends it, and waits until it has.
  func end() {
    isEnding.store(true, ordering: .sequentiallyConsistent)
    wake()
    hasEnded.wait()
  }

  private func wake() {
    if isWoken.exchange(true, ordering: .sequentiallyConsistent) { return }
    var byte: UInt8 = 0
    _ = unsafe write(wakers.write, &byte, 1)
  }

  private func run(_ sockets: Int32) {
    var ready = [sockets, wakers.read].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while !isEnding.load(ordering: .sequentiallyConsistent) {
      _ = unsafe poll(&ready, 2, patience)
      if ready[1].revents != 0 {
        var byte: UInt8 = 0
        _ = unsafe read(wakers.read, &byte, 1)
        // Before libmicrohttpd looks, so that whoever comes later writes again.
        isWoken.store(false, ordering: .sequentiallyConsistent)
      }
      _ = unsafe MHD_run(daemon)
    }
    hasEnded.signal()
  }

  /// The milliseconds until a connection has been idle for too long; -1 if there is none.
  private var patience: Int32 {
    var milliseconds: CUnsignedLongLong = 0
    guard unsafe MHD_get_timeout(daemon, &milliseconds) == .YES else { return -1 }
    return Int32(min(milliseconds, 60_000))
  }
}
