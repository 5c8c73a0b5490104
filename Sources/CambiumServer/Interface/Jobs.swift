import Cambium
import CambiumCommands
import Foundation
import Synchronization

/// Work that takes long: it is begun by one request, and others ask how far it is.
///
///     POST   /v1/verify             202, Location: /v1/jobs/ID
///     GET    /v1/jobs               those that there are
///     GET    /v1/jobs/ID            how far it is, or its result
///     GET    /v1/jobs/ID/events     the same as it goes on, as server-sent events
///     DELETE /v1/jobs/ID            ends it, and forgets it
///
/// They are for callers who may see everything.
final class Jobs: Sendable {
  /// The most jobs that run at the same time, and that are kept when they are done.
  private static let runningMax = 2
  private static let keptMax = 32

  private let service: CommandService
  private let workers: Workers
  private let jobs = Mutex<[Job]>([])

  init(_ service: CommandService, _ workers: Workers) {
    self.service = service
    self.workers = workers
  }

  /// Begins the work of a command.
  func begin(_ command: CommandRequest, _ request: Request) -> Response {
    if !request.caller.scope.isRoot { return .partialToken }
    if let problem = service.problem(command) { return Response(problem) }
    let job = Job(command.name)
    let isBegun = jobs.withLock { jobs in
      guard jobs.count(where: { !$0.isOver }) < Jobs.runningMax else { return false }
      if jobs.count >= Jobs.keptMax, let old = jobs.firstIndex(where: \.isOver) {
        jobs.remove(at: old)
      }
      jobs.append(job)
      return true
    }
    guard isBegun else {
      return Response(
        429, error: "too_many_jobs", "\(Jobs.runningMax) jobs are running, which is the most",
        hint: "wait until one is done, or end it", headers: [("Retry-After", "10")])
    }
    var command = command
    command.isAbandoned = { job.isCancelled }
    command.progress = { job.update($0) }
    Task(executorPreference: workers) { [service, command] in
      let result = Mutex<[UInt8]>([])
      let ending = await service.run(command, begin: { _ in }) { piece in
        result.withLock { $0 += piece }
      }
      job.end(ending, result.withLock { $0 })
    }
    var response = Response(json: job.json, 202)
    response.headers.append(("Location", "/v1/jobs/\(job.id)"))
    return response
  }

  /// Answers what is asked about jobs; `names` are what follows `/v1/jobs/`.
  func answer(_ request: Request, _ names: [String], _ streams: EventStreams) -> Response {
    if !request.caller.scope.isRoot { return .partialToken }
    let reads = request.method == .get || request.method == .head
    guard let id = names.first else {
      guard reads else { return .notAllowed("GET, HEAD") }
      let list = jobs.withLock { $0 }.map { Value.map($0.json) }
      return Response(json: ["v": 1, "jobs": .array(list)])
    }
    guard let job = jobs.withLock({ jobs in jobs.first { $0.id == id } }) else {
      return Response(
        404, error: "not_found", "there is no job \(id)", hint: "GET /v1/jobs lists them")
    }
    if names.count == 2, names[1] == "events" {
      if request.method == .head { return Response(200, headers: [EventStream.mediaType]) }
      guard reads else { return .notAllowed("GET, HEAD") }
      guard let stream = streams.open(for: request) else {
        return .busy("too many streams are open")
      }
      job.add(stream)
      return stream.response
    }
    guard names.count == 1 else { return Response(404, error: "not_found", "there is nothing") }
    if reads { return Response(json: job.json) }
    guard request.method == .delete else { return .notAllowed("GET, HEAD, DELETE") }
    job.cancel()
    jobs.withLock { jobs in jobs.removeAll { $0.id == id && $0.isOver } }
    return Response(json: job.json)
  }
}

/// One piece of work.
final class Job: Sendable {
  private enum Phase: String { case running, done, failed, cancelled }

  private struct State {
    var phase = Phase.running
    var progress: WorkProgress?
    var told: ContinuousClock.Instant?
    var isCancelled = false
    var result: Value?
    var error: Value?
    var streams: [UInt64: EventStream] = [:]
  }

  /// Progress is told at most this often.
  private static let interval = Duration.milliseconds(250)

  let id = UUID().uuidString.lowercased()
  private let kind: String
  private let state = Mutex(State())

  init(_ kind: String) { self.kind = kind }

  var isOver: Bool { state.withLock { $0.phase != .running } }
  var isCancelled: Bool { state.withLock { $0.isCancelled } }
  func cancel() { state.withLock { $0.isCancelled = true } }

  func update(_ progress: WorkProgress) {
    let now = ContinuousClock.now
    let isDue = state.withLock { state in
      state.progress = progress
      if let told = state.told, now - told < Job.interval { return false }
      state.told = now
      return true
    }
    if isDue { tell("progress") }
  }

  func end(_ ending: CommandEnding, _ output: [UInt8]) {
    state.withLock { state in
      state.result = try? JSONReader.value(
        of: String(decoding: output, as: UTF8.self), name: "the result")
      switch ending {
      case .done, .nothing: state.phase = .done
      case .failed(let failure):
        state.phase = state.isCancelled ? .cancelled : .failed
        let json = try? JSONReader.value(
          of: String(decoding: failure.json, as: UTF8.self), name: "the error")
        if case .map(let members)? = json { state.error = members["error"] }
      }
    }
    tell("end")
    let streams = state.withLock { state in
      defer { state.streams = [:] }
      return Array(state.streams.values)
    }
    for stream in streams { stream.end() }
  }

  /// Tells a stream how far it is, and what comes.
  func add(_ stream: EventStream) {
    let isRunning = state.withLock { state in
      if state.phase == .running { state.streams[stream.number] = stream }
      return state.phase == .running
    }
    stream.offer(event(isRunning ? "progress" : "end"))
    if !isRunning { return stream.end() }
    stream.onEnd { [weak self] in
      self?.state.withLock { _ = $0.streams.removeValue(forKey: stream.number) }
    }
  }

  private func tell(_ name: String) {
    let event = event(name)
    for stream in state.withLock({ Array($0.streams.values) }) { stream.offer(event) }
  }

  private func event(_ name: String) -> ServerEvent {
    ServerEvent(name: name, data: Array(JSONWriter.text(.map(json)).utf8))
  }

  var json: ValueMap {
    state.withLock { state in
      var members: ValueMap = [
        "v": 1, "id": .string(id), "kind": .string(kind), "state": .string(state.phase.rawValue),
      ]
      if let progress = state.progress {
        members["phase"] = .string(progress.phase)
        members["done"] = .integer(Int64(clamping: progress.done))
        members["total"] = progress.total.map { .integer(Int64(clamping: $0)) }
      }
      members["result"] = state.result
      members["error"] = state.error
      return members
    }
  }
}

extension Response {
  static let partialToken = Response(
    403, error: "out_of_scope", "this token is for a part of the tree",
    hint: "ask with a token for everything")
}
