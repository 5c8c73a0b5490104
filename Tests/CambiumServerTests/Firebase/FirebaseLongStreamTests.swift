import Cambium
import Foundation
import Synchronization
import Testing

@testable import CambiumServer

/// Goal: a client is told each change once, also where events are too long to be kept, where it is
/// too slow for them, where the log no longer reaches back, and where it may read no more.
@Suite("Firebase's streams at their limits", .serialized) struct FirebaseLongStreamTests {
  /// An object of so many bytes, in texts that begin with a number.
  private func text(_ number: Int, _ bytes: Int) -> String {
    let part = "\(number) " + String(repeating: "x", count: min(bytes, 250_000))
    let members = (0..<max(bytes / 250_000, 1)).map { "\"part\($0)\":\"\(part)\"" }
    return "{" + members.joined(separator: ",") + "}"
  }

  /// A stream that nobody has begun.
  private func open(_ client: FirebaseClient) throws -> (EventStream, BodyPipe) {
    let stream = client.events.open(for: Request(method: .get, path: "/a.json"))
    guard let stream, case .pipe(let pipe) = stream.response.body else {
      throw FirebaseClient.Refused(status: 503)
    }
    return (stream, pipe)
  }

  /// Reads up to the event of a transaction, or for ten seconds.
  private func take(_ number: Int, _ reader: EventReader) async throws {
    for _ in 0..<2000 where reader.ids.last != UInt64(number) {
      try reader.readAvailable()
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  @Test(
    "tell events of every length once, while they last and to one who comes back",
    arguments: [100_000, 750_000, 1_500_000])
  func long(bytes: Int) async throws {
    let database = try Database.inMemory()
    try await FirebaseClient.following(database) { client in
      _ = await client.ask(.put, "/a/n", "0")
      var reader = try await client.listen("/a")
      var ids: [UInt64] = []
      for number in 1...3 {
        #expect(await client.ask(.put, "/a/\(number)", text(number, bytes)).status == 200)
        for _ in 0..<2 where try await !client.settle(reader, "/a") || reader.isEnded {
          // An event of more than 1 MiB ends the stream, and comes when its client does.
          ids += reader.ids
          let back = try await client.listen("/a", after: reader.lastID)
          back.takeOver(reader)
          reader = back
        }
      }
      #expect(ids + reader.ids == [1, 2, 3, 4])
    }
  }

  @Test("of a query show a window that is right after an event too long to be kept")
  func windowAfterLong() async throws {
    let database = try Database.inMemory()
    try await FirebaseClient.following(database) { client in
      let query = [("orderBy", "\"$value\""), ("limitToLast", "2")]
      _ = await client.ask(.put, "/s", #"{"a":1,"b":2,"c":3}"#)
      let first = try await client.listen("/s", query)
      _ = await client.ask(.put, "/s/d", text(1, 2 << 20))
      // The first stream is not read, so that it lasts while the second one joins.
      let second = try await client.listen("/s", query)
      #expect(try await client.settle(second, "/s", query))
      _ = await client.ask(.delete, "/s/d")
      #expect(try await client.settle(second, "/s", query))
      #expect(second.events.last?.data == #"{"path":"/","data":{"b":2,"d":null}}"#)
      try first.readAvailable()
      #expect(first.isEnded)
      let back = try await client.listen("/s", query, after: first.lastID)
      back.takeOver(first)
      try await take(3, back)
      #expect(try await client.settle(back, "/s", query))
      #expect(first.ids + back.ids == [1, 2, 3])
    }
  }

  @Test("drop readers that are too slow, who come back and miss nothing")
  func slow() async throws {
    let database = try Database.inMemory()
    try await FirebaseClient.following(database) { client in
      let query = [("orderBy", "\"$key\""), ("limitToLast", "3")]
      var streams: [(parameters: [(String, String)], reader: EventReader, ids: [UInt64])] = []
      for parameters in [[], query, [], query] {
        streams.append((parameters, try await client.listen("/a", parameters), []))
      }
      let quick = try await client.listen("/a")
      for number in 1...30 {
        _ = await client.ask(.put, "/a/\(number)", text(number, 60_000))
        try await take(number, quick)
        if number == 3 { for stream in streams { try stream.reader.readAvailable() } }
      }
      #expect(try await client.settle(quick, "/a"))
      #expect(quick.ids == Array(0...30))
      for index in streams.indices {
        let old = streams[index].reader
        try old.readAvailable()
        #expect(old.isEnded && old.ids.count < 31)
        let back = try await client.listen("/a", streams[index].parameters, after: old.lastID)
        back.takeOver(old)
        #expect(try await client.settle(back, "/a", streams[index].parameters))
        #expect(old.ids + back.ids == Array(0...30))
      }
    }
  }

  @Test("begin with nothing twice where more is handed out than a beginning may keep")
  func beginning() async throws {
    let database = try Database.inMemory()
    let client = try FirebaseClient(database)
    for (number, bytes) in [(1, 1), (2, 500_000), (3, 500_000)] {
      _ = await client.ask(.put, "/a", text(number, bytes))
    }
    let channels = FirebaseChannels(position: 1)
    let (stream, pipe) = try open(client)
    // The first event that comes for the client lets two more commits be handed out.
    var buffer = [UInt8](repeating: 0, count: 16)
    _ = unsafe buffer.withUnsafeMutableBytes { buffer in
      unsafe pipe.read(into: buffer, suspend: {}, wake: { _ = channels.advance(to: 3) })
    }
    var beginning = try FirebaseBeginning("a", nil, after: nil, stream, database, channels)
    #expect(throws: FirebaseBeginning.TooLong.self) { try beginning.complete() }
    #expect(channels.count == 0)
    let isStarted = Workers.forBodies().write { [rest = beginning] in
      var rest = rest
      do { try rest.completeInPieces() } catch { rest.stream.abandon() }
    }
    #expect(isStarted)
    let reader = EventReader(pipe)
    for _ in 0..<2000 where channels.count == 0 && !reader.isEnded {
      try reader.readAvailable()
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(channels.count == 1)
    #expect(reader.ids == [1, 2, 3])
    #expect(try await client.ask(.get, "/a").tree == reader.tree)
  }

  @Test("join after a long beginning once its client has all of it")
  func drained() throws {
    let pipe = BodyPipe(capacity: 1 << 20)
    let (isWritten, isDrained) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let left = Mutex<Int?>(nil)
    let isStarted = Workers.forBodies().write {
      do {
        try pipe.write([UInt8](repeating: 1, count: 1 << 20))
        isWritten.signal()
        try pipe.drain()
        left.withLock { $0 = pipe.waitingBytes }
      } catch {}
      isDrained.signal()
    }
    #expect(isStarted)
    isWritten.wait()
    var (taken, buffer) = (0, [UInt8](repeating: 0, count: 1 << 10))
    while taken < 1 << 20 {
      let reading = unsafe buffer.withUnsafeMutableBytes { buffer in
        unsafe pipe.read(into: buffer, suspend: {}, wake: {})
      }
      guard case .bytes(let count) = reading else { break }
      taken += count
    }
    isDrained.wait()
    #expect(taken == 1 << 20)
    #expect(left.withLock { $0 } == 0)
  }

  @Test("begin with the whole value where compaction has dropped what was missed")
  func compacted() async throws {
    let database = try Database.inMemory()
    try await FirebaseClient.following(database) { client in
      let parameters = [("orderBy", "\"$key\""), ("limitToLast", "2")]
      for number in 1...6 { _ = await client.ask(.put, "/a/\(number)", "\(number)") }
      let whole = try await client.listen("/a")
      let window = try await client.listen("/a", parameters)
      #expect(try await client.settle(whole, "/a"))
      #expect(try await client.settle(window, "/a", parameters))
      whole.close()
      window.close()
      for number in 7...9 { _ = await client.ask(.delete, "/a/\(number - 6)") }
      try await client.service.streams.catchUp()
      try await database.compact(upTo: 8)
      for (old, parameters) in [(whole, []), (window, parameters)] {
        let back = try await client.listen("/a", parameters, after: old.lastID)
        back.takeOver(old)
        #expect(try await client.settle(back, "/a", parameters))
        #expect(back.events.count == 1)
        #expect(back.events.first?.name == "put" && back.events.first?.id == "9")
        #expect(back.events.first?.data.hasPrefix(#"{"path":"/","#) == true)
      }
      // The horizon itself can still be read.
      let near = try await client.listen("/a", after: "8")
      try near.readAvailable()
      #expect(near.events.map(\.data) == [#"{"path":"/3","data":null}"#])
    }
  }

  @Test("begin with the whole value where compaction comes between")
  func compactedMeanwhile() async throws {
    let database = try Database.inMemory()
    let client = try FirebaseClient(database)
    for number in 1...6 { _ = await client.ask(.put, "/a/\(number)", "\(number)") }
    let channels = FirebaseChannels(position: 6)
    let (stream, pipe) = try open(client)
    var beginning = try FirebaseBeginning("a", nil, after: 2, stream, database, channels)
    try await database.compact(upTo: 4)
    try beginning.complete()
    let reader = EventReader(pipe)
    try reader.readAvailable()
    #expect(reader.ids == [6] && reader.events.first?.name == "put")
    #expect(try await client.ask(.get, "/a").tree == reader.tree)
  }

  @Test("begin at the horizon, and drop those who missed it, where compaction overtakes the hub")
  func overtaken() async throws {
    let database = try Database.inMemory()
    try await database.write { try $0.set("a", to: 0) }
    // Its hub does not run, and stays at the first transaction.
    let client = try FirebaseClient(database)
    let early = try await client.listen("/a")
    for number in 1...4 {
      try await database.write { try $0.set("a", to: .integer(Int64(number))) }
    }
    try await database.compact(upTo: 4)
    let late = try await client.listen("/a")
    try early.readAvailable()
    #expect(early.isEnded)
    try late.readAvailable()
    #expect(late.events.map(\.data) == [#"{"path":"/","data":3}"#] && late.ids == [4])
    #expect(!late.isEnded && client.service.streams.channelCount == 1)
  }

  @Test("that were skipped over are ended, and what was skipped is not handed out")
  func skipped() throws {
    let database = try Database.inMemory()
    let client = try FirebaseClient(database)
    let channels = FirebaseChannels(position: 0)
    let (stream, pipe) = try open(client)
    let told = try FirebaseTold(path: "a", query: nil, FirebaseView(database.snapshot()))
    let channel = try #require(channels.join(stream, told, at: 0))
    channels.skip(to: 5)
    let reader = EventReader(pipe)
    try reader.readAvailable()
    #expect(reader.isEnded && channels.count == 0 && channels.position == 5)
    let next = try #require(client.events.open(for: Request(method: .get, path: "/a.json")))
    #expect(channels.join(next, told, at: 5) !== channel)
    channels.leave(stream, channel)
    #expect(channels.count == 1)
    #expect(channels.advance(to: 4, [.init(path: "a")]).isEmpty && channels.position == 5)
    #expect(channels.advance(to: 6, [.init(path: "a")]).count == 1)
  }

  @Test(
    "end as Firebase's do when a token is withdrawn or may no longer read, and else may go on",
    arguments: [
      ("", "auth_revoked", "credential is no longer valid"),
      ("token-0123456789 read path=z", "cancel", "null"),
      ("token-0123456789 read path=a/b/c", "cancel", "null"),
      ("token-0123456789 read path=a/b name=ada", "put", #"{"path":"/","data":1}"#),
      ("token-0123456789 write", "put", #"{"path":"/","data":1}"#),
    ])
  func token(line: String, name: String, data: String) async throws {
    let database = try Database.inMemory()
    try await FirebaseClient.following(database) { client in
      _ = await client.ask(.put, "/a/b", "1")
      let other = "other-0123456789 read"
      let tokens = try Tokens(other + "\ntoken-0123456789 read path=a")
      func caller(_ token: String) throws -> Caller { try #require(tokens.caller(token)) }
      var (holder, neighbour) = (client, client)
      holder.caller = try caller("token-0123456789")
      neighbour.caller = try caller("other-0123456789")
      let reader = try await holder.listen("/a/b")
      let untouched = try await neighbour.listen("/a/b")
      try tokens.replace(other + "\n" + line)
      try reader.readAvailable()
      #expect(reader.isEnded)
      #expect(reader.events.last?.name == name && reader.events.last?.data == data)
      #expect(reader.events.count == (name == "put" ? 1 : 2))
      // One who opens a stream with a token that is withdrawn meanwhile is told so.
      let late = try await holder.listen("/a/b")
      try late.readAvailable()
      #expect(late.isEnded)
      if name != "put" { #expect(late.events.last?.name == name) }
      try untouched.readAvailable()
      #expect(!untouched.isEnded)
      if name == "put" {
        holder.caller = try caller("token-0123456789")
        let back = try await holder.listen("/a/b", after: reader.lastID)
        back.takeOver(reader)
        _ = await client.ask(.put, "/a/b", "2")
        #expect(try await client.settle(back, "/a/b"))
        #expect(back.events.map(\.data) == [#"{"path":"/","data":2}"#])
      }
    }
  }
}
