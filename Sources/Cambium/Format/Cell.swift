// A variable of a class with a check of its own for overlapping accesses.

/// Memory of its own for a value that one thread at a time uses.
///
/// Swift looks, at each access to a variable of a class, for another one that has begun and not
/// ended. That takes about a hundred instructions (`valgrind --tool=callgrind`), and a small write
/// makes many such accesses. A cell looks at one byte instead.
///
/// Invariant: no access begins while a change has not ended. Checked at each access, in all builds.
@safe struct Cell<Value: ~Copyable>: ~Copyable {
  private let memory: UnsafeMutablePointer<Value>
  private let isChanging: UnsafeMutablePointer<Bool>

  init(_ value: consuming Value) {
    unsafe memory = .allocate(capacity: 1)
    unsafe memory.initialize(to: value)
    unsafe isChanging = .allocate(capacity: 1)
    unsafe isChanging.initialize(to: false)
  }

  deinit {
    unsafe memory.deinitialize(count: 1)
    unsafe memory.deallocate()
    unsafe isChanging.deallocate()
  }

  var value: Value {
    @inline(__always) _read {
      checkAccess()
      yield unsafe memory.pointee
    }
    @inline(__always) nonmutating _modify {
      checkAccess()
      unsafe isChanging.pointee = true
      defer { unsafe isChanging.pointee = false }
      yield unsafe &memory.pointee
    }
  }

  @inline(__always)
  private func checkAccess() {
    precondition(unsafe !isChanging.pointee, "a cell is used while it is being changed")
  }
}
