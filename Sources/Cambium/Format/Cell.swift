// A variable of a class without the checks that Swift makes of each access to one.

/// Memory of its own for a value that one thread at a time uses.
///
/// Swift looks, at each access to a variable of a class, for another one that has begun and not
/// ended, which takes some fifty instructions: a tenth of a small write, which makes many. So that
/// only builds for debugging are checked, and with them the tests.
@safe struct Cell<Value: ~Copyable>: ~Copyable {
  #if DEBUG
    private final class Checked {
      var value: Value

      init(_ value: consuming Value) { self.value = value }
    }

    private let checked: Checked

    init(_ value: consuming Value) { checked = Checked(value) }

    var value: Value {
      _read { yield checked.value }
      nonmutating _modify { yield &checked.value }
    }
  #else
    private let memory: UnsafeMutablePointer<Value>

    init(_ value: consuming Value) {
      unsafe memory = .allocate(capacity: 1)
      unsafe memory.initialize(to: value)
    }

    deinit {
      unsafe memory.deinitialize(count: 1)
      unsafe memory.deallocate()
    }

    var value: Value {
      @inline(__always) _read { yield unsafe memory.pointee }
      @inline(__always) nonmutating _modify { yield unsafe &memory.pointee }
    }
  #endif
}
