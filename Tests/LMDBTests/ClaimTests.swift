import LMDB
import Testing

@Suite("A claimed directory")
struct ClaimedDirectoryTests {
  private let scratch: ScratchDirectory
  private var path: String { "\(scratch.path)/work" }

  init() throws { scratch = try ScratchDirectory() }

  @Test("stays while its maker is at work, also under another name, and can be removed after that")
  func lifetime() throws {
    do {
      let claim = try ClaimedDirectory(creating: path)
      try ClaimedDirectory.removeIfAbandoned(path)
      #expect(Files.isDirectory(path))
      #expect(try kind { _ = try ClaimedDirectory(creating: path) } == .busy)
      try Files.rename(path, to: "\(path) done")
      try ClaimedDirectory.removeIfAbandoned("\(path) done")
      withExtendedLifetime(claim) { #expect(Files.isDirectory("\(path) done")) }
    }
    try ClaimedDirectory.removeIfAbandoned("\(path) done")
    #expect(!Files.exists("\(path) done"))
  }

  @Test("takes the place of one whose maker was killed")
  func killed() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let claim = try ClaimedDirectory(creating: path)
      try Files.createDirectory("\(path)/half made")
      withExtendedLifetime(claim) { _ = kill(getpid(), SIGKILL) }
    }
    #expect(Files.exists("\(path)/half made"))
    let claim = try ClaimedDirectory(creating: path)
    withExtendedLifetime(claim) { #expect(!Files.exists("\(path)/half made")) }
  }

  @Test("of which there is none, or which is no directory, is nothing to remove")
  func missing() throws {
    try ClaimedDirectory.removeIfAbandoned(path)
    #expect(unsafe symlink(scratch.path, path) == 0)
    try ClaimedDirectory.removeIfAbandoned(path)
    #expect(Files.isDirectory(scratch.path))
    #expect(unsafe unlink(path) == 0)
  }
}

#if os(Linux)
  @Suite("A process namespace")
  struct NamespaceClaimTests {
    @Test("shares a file with itself only, as long as one of its processes has it")
    func exclusion() throws {
      let scratch = try ScratchDirectory()
      try scratch.fill(1)
      var own = [
        try NamespaceClaim(path: scratch.data), try NamespaceClaim(path: scratch.data),
      ]
      for _ in 0..<2 {
        let refusal = try kind { _ = try NamespaceClaim(path: scratch.data, namespace: "b") }
        #expect(refusal == .unsupported)
        own.removeLast()
      }
      do {
        let other = try NamespaceClaim(path: scratch.data, namespace: "b")
        #expect(try kind { _ = try scratch.open() } == .unsupported)
        withExtendedLifetime(other) {}
      }
      _ = try scratch.open()
    }

    @Test("is asked for only once the directory is this process's")
    func openedTwice() throws {
      let scratch = try ScratchDirectory()
      try scratch.fill(1)
      let environment = try scratch.open()
      // A process of another namespace, in the moment before it is refused.
      let descriptor = unsafe open(scratch.data, O_RDONLY)
      defer { close(descriptor) }
      var lock = flock()
      lock.l_type = Int16(F_RDLCK)
      lock.l_whence = Int16(SEEK_SET)
      lock.l_start = 1 << 61
      lock.l_len = 1
      #expect(unsafe fcntl(descriptor, 37, &lock) == 0)  // F_OFD_SETLK
      #expect(try kind { _ = try scratch.open() } == .alreadyOpen)
      environment.close()
    }

    @Test("gives a file back when its process is killed, or closes the environment")
    func release() async throws {
      let scratch = try ScratchDirectory()
      try scratch.fill(1)
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.data as String] in
        let claim = try NamespaceClaim(path: path, namespace: "b")
        withExtendedLifetime(claim) { _ = kill(getpid(), SIGKILL) }
      }
      let environment = try scratch.open()
      #expect(
        try kind { _ = try NamespaceClaim(path: scratch.data, namespace: "b") } == .unsupported)
      environment.close()
      #expect(try NamespaceClaim(path: scratch.data, namespace: "b") != nil)
    }

    @Test("has a name of its own")
    func name() {
      #expect(Platform.namespaceIdentity() == Platform.namespaceIdentity())
      #expect(!Platform.namespaceIdentity().contains("unknown"))
    }
  }
#endif
