import Cambium
import CambiumCommands

/// Live queries as server-sent events: each is a task that waits for changes, and holds no thread.
extension CommandInterface {
  func live(_ command: CommandRequest, _ request: Request) -> Response {
    do { try LiveLines.check(database, command) } catch {
      return Response(error as? CommandFailure ?? CommandFailure(500, "failed", "\(error)"))
    }
    guard let stream = streams.open(for: request) else { return .busy("too many streams are open") }
    let database = database
    let task = Task(executorPreference: workers) {
      do {
        try await LiveLines.follow(database, command) { line, sequence in
          stream.offer(ServerEvent(id: "\(sequence)", name: nil, data: line))
        }
      } catch {
        if Task.isCancelled { return }
        let failure = error as? CommandFailure ?? CommandFailure(500, "failed", "\(error)")
        stream.offer(ServerEvent(name: "error", data: failure.json))
      }
      stream.end()
    }
    stream.onEnd { task.cancel() }
    return stream.response
  }
}
