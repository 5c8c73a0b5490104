import Testing

@testable import LMDB

@Suite("A wake file")
struct WakeFileTests {
  @Test("is written only while another watches")
  func watched() throws {
    let scratch = try ScratchDirectory()
    let path = "\(scratch.path)/wake"
    let (one, other) = (try WakeFile(path: path), try WakeFile(path: path))
    let reader = WakeFile(watching: path)
    #if canImport(Glibc)
      #expect(!one.isWatched && !other.isWatched)
      let own = FileWatch(one) {}
      #expect(!one.isWatched && other.isWatched)
      let second = FileWatch(reader) {}
      #expect(one.isWatched && other.isWatched)
      withExtendedLifetime((own, second)) {}
    #else
      #expect(one.isWatched && reader.isWatched)
    #endif
  }

  @Test("is watched as long as the object that stands for it lives")
  func ended() throws {
    let scratch = try ScratchDirectory()
    let path = "\(scratch.path)/wake"
    let one = try WakeFile(path: path)
    #if canImport(Glibc)
      do {
        let reader = WakeFile(watching: path)
        let watch = FileWatch(reader) {}
        #expect(one.isWatched)
        withExtendedLifetime((reader, watch)) {}
      }
      #expect(!one.isWatched)
    #endif
  }

  @Test("that is missing is looked at again and again")
  func missing() async throws {
    let scratch = try ScratchDirectory()
    await confirmation(expectedCount: 1...) { looked in
      let file = WakeFile(watching: "\(scratch.path)/none")
      let watch = FileWatch(file) { looked() }
      try? await Task.sleep(for: .milliseconds(300))
      withExtendedLifetime(watch) {}
    }
  }
}
