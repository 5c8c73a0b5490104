// The changes of a collection's records, or of one record, from the server: one stream each.
//
//     the server ──▶ parser ──▶ groups, at most `groupsMax` ──▶ the observer
//
// The stream begins where the server says. Wherever it is cut, it goes on after the last event that
// it has got, whole: so each change comes once, in order. An observer that takes nothing stops its
// stream, and starts it again when it does.

import Cambium
import Foundation
import Synchronization

/// A record before and after a transaction; nil where there was none, or is none.
struct RecordChange: Equatable, Sendable {
  var path: NodePath
  var old: ValueMap?
  var new: ValueMap?
}

/// Follows changes of records.
///
/// Invariants:
/// 1. `lastID` is the id of the last event whose changes are in `groups`, or were taken out: an
///    event is taken with its id, or not at all.
final class RecordStream: Sendable {
  private struct State {
    var groups: [[RecordChange]] = []
    var lastID: String?
    var hasStarted = false
    var failure: (any Error)?
    var isOver = false
    var startWaiters: [Promise<Void>] = []
    var reader: CheckedContinuation<Void, Never>?
    var room: CheckedContinuation<Void, Never>?
    var task: Task<Void, Never>?
  }

  private static let groupsMax = 256

  private let path: String
  private let transport: any Transport
  private let connection: Connection
  private let state = Mutex(State())

  /// Begins to follow.
  ///
  /// - Parameters:
  ///   - path: The path and parameters of the request.
  ///   - transport: The door to the server.
  ///   - connection: Knows when the server answers.
  init(_ path: String, _ transport: any Transport, _ connection: Connection) {
    (self.path, self.transport, self.connection) = (path, transport, connection)
  }

  func start() {
    let task = Task { await self.run() }
    let isOver = state.withLock { state in
      if !state.isOver { state.task = task }
      return state.isOver
    }
    if isOver { task.cancel() }
  }

  /// Ends it. What was received before can still be taken, unless the observer is gone.
  func stop() { finish(nil) }

  private func finish(_ failure: (any Error)?) {
    let (waiters, reader, room, task) = state.withLock { state in
      state.isOver = true
      state.failure = state.failure ?? failure
      defer { (state.startWaiters, state.reader, state.room, state.task) = ([], nil, nil, nil) }
      return (state.startWaiters, state.reader, state.room, state.task)
    }
    task?.cancel()
    for waiter in waiters { waiter.resolve(.success(())) }
    reader?.resume()
    room?.resume()
  }

  /// Waits until the stream has begun, or ended: a later change is in it.
  func started() async throws {
    let waiter: Promise<Void>? = state.withLock { state in
      if state.hasStarted || state.isOver { return nil }
      let waiter = Promise<Void>()
      state.startWaiters.append(waiter)
      return waiter
    }
    guard let waiter else { return }
    try await withTaskCancellationHandler {
      try await waiter.value()
    } onCancel: {
      waiter.resolve(.failure(CancellationError()))
    }
  }

  // MARK: The observer

  /// The next changes, which belong to one transaction; nil at the end, or when the task is
  /// cancelled.
  func next() async throws -> [RecordChange]? {
    while !Task.isCancelled {
      let (group, room, isOver): ([RecordChange]?, CheckedContinuation<Void, Never>?, Bool) =
        try state.withLock { state in
          if !state.groups.isEmpty {
            let group = state.groups.removeFirst()
            let hasRoom = state.groups.count <= RecordStream.groupsMax / 2
            defer { if hasRoom { state.room = nil } }
            return (group, hasRoom ? state.room : nil, false)
          }
          if let failure = state.failure { throw failure }
          return (nil, nil, state.isOver)
        }
      room?.resume()
      if let group { return group }
      if isOver { return nil }
      await waitForChanges()
    }
    return nil
  }

  private func waitForChanges() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if !state.groups.isEmpty || state.isOver || Task.isCancelled { return true }
          // Of two that walk at the same time, both look again.
          let other = state.reader
          state.reader = continuation
          other?.resume()
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.reader.take() }?.resume()
    }
  }

  // MARK: The server

  private func run() async {
    while !Task.isCancelled {
      do {
        try await connection.ready()
        try await follow()
        await waitForRoom()
      } catch let failure as TransportFailure {
        connection.failed(failure.description)
      } catch is CancellationError { return finish(nil) } catch {
        return finish(error as? RemoteStoreError == .stopped ? nil : error)
      }
    }
  }

  /// Follows one connection until the observer has enough to do.
  ///
  /// - Throws: ``TransportFailure`` where it is cut.
  private func follow() async throws {
    var headers = ["Accept": "text/event-stream"]
    headers["Last-Event-ID"] = state.withLock { $0.lastID }
    let stream = try await transport.stream(TransportRequest("GET", path, headers: headers))
    defer { stream.close() }
    if stream.head.status == 503 || stream.head.status == 502 || stream.head.status == 504 {
      throw TransportFailure("the server answers with \(stream.head.status)")
    }
    if stream.head.status != 200 { throw ServerAnswer.error(of: stream.head) }
    connection.succeeded()
    var (parser, parts) = (EventParser(), [RecordChange]())
    for try await piece in stream.pieces {
      try Task.checkCancellation()
      for event in try parser.read(piece) {
        if try take(event, &parts) { return }
      }
    }
    throw TransportFailure("the server ended the stream")
  }

  /// Takes an event.
  ///
  /// - Returns: True if the observer has enough to do.
  private func take(_ event: ServerEvent, _ parts: inout [RecordChange]) throws -> Bool {
    switch event.name {
    case "start": advance(to: event.id)
    case "at": advance(to: event.id)
    case "part": parts += try ServerAnswer.changes(event.data)
    case "changes":
      let group = parts + (try ServerAnswer.changes(event.data))
      parts = []
      return receive(group, event.id)
    case "failed":
      throw ServerAnswer.error(of: TransportAnswer(status: 500, body: event.data), isBare: true)
    case "end": throw TransportFailure("the server ended the stream")
    default: break
    }
    return false
  }

  private func advance(to id: String?) {
    let waiters = state.withLock { state in
      state.lastID = id ?? state.lastID
      state.hasStarted = true
      defer { state.startWaiters = [] }
      return state.startWaiters
    }
    for waiter in waiters { waiter.resolve(.success(())) }
  }

  private func receive(_ group: [RecordChange], _ id: String?) -> Bool {
    let (reader, isFull) = state.withLock { state in
      state.groups.append(group)
      state.lastID = id ?? state.lastID
      defer { state.reader = nil }
      return (state.reader, state.groups.count >= RecordStream.groupsMax)
    }
    reader?.resume()
    return isFull
  }

  private func waitForRoom() async {
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if state.isOver || state.groups.count < RecordStream.groupsMax { return true }
        state.room = continuation
        return false
      }
      if isReady { continuation.resume() }
    }
  }
}
