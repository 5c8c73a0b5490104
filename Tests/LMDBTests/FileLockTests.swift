import Dispatch
import Synchronization
import Testing

@testable import LMDB

/// The lock at which writers queue, and the file that wakes observers.
@Suite("A file lock")
struct FileLockTests {
  private let directory: ScratchDirectory
  private var path: String { "\(directory.path)/write.lock" }

  init() throws { directory = try ScratchDirectory() }

  @Test("is held by one at a time, and gives up after its timeout")
  func exclusion() throws {
    let (first, second) = (try FileLock(path: path), try FileLock(path: path))
    #expect(try first.lock(timeout: .zero))
    #expect(try !second.lock(timeout: .zero))
    #expect(try !second.lock(timeout: .milliseconds(20)))
    first.unlock()
    #expect(try second.lock(timeout: .zero))
    #expect(try !first.lock(timeout: .zero))
  }

  @Test("is given back when its holder is released")
  func released() throws {
    let second = try FileLock(path: path)
    do {
      let first = try FileLock(path: path)
      #expect(try first.lock(timeout: .zero))
      #expect(try !second.lock(timeout: .zero))
    }
    #expect(try second.lock(timeout: .zero))
  }

  @Test("is taken by one that waits as soon as it is free")
  func waiting() throws {
    let (first, second) = (try FileLock(path: path), try FileLock(path: path))
    #expect(try first.lock(timeout: .zero))
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { first.unlock() }
    #expect(try second.lock(timeout: .seconds(60)))
  }

  @Test("keeps threads apart that count together")
  func counting() throws {
    let counter = Atomic(0)
    let path = path
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      do {
        let lock = try FileLock(path: path)
        for _ in 0..<25 {
          #expect(try lock.lock(timeout: .seconds(60)))
          let count = counter.load(ordering: .relaxed)
          usleep(10)
          counter.store(count + 1, ordering: .relaxed)
          lock.unlock()
        }
      } catch {
        Issue.record(error)
      }
    }
    #expect(counter.load(ordering: .relaxed) == 100)
  }

  @Test("cannot be made in a directory that is not there")
  func noDirectory() throws {
    let path = "\(directory.path)/none/write.lock"
    #expect(try kind { _ = try FileLock(path: path) } == .missing)
  }

  @Test("is given back when the process that holds it is killed")
  func killed() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let lock = try FileLock(path: path)
      #expect(try lock.lock(timeout: .zero))
      kill(getpid(), SIGKILL)
    }
    #expect(try FileLock(path: path).lock(timeout: .zero))
  }

  // MARK: The wake file

  @Test("a wake file calls whoever watches it, from the first write on")
  func wake() async throws {
    let path = "\(directory.path)/wake"
    let file = try WakeFile(path: path)
    #expect(file.read() == nil)
    let (calls, continuation) = AsyncStream.makeStream(of: Void.self)
    let watch = FileWatch(file) { continuation.yield() }
    file.write(1 << 40)
    for await _ in calls { break }
    #expect(try WakeFile(path: path).read() == 1 << 40)
    withExtendedLifetime(watch) {}
  }
}
