import CEdit

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A line that a user edits at the terminal, with history and completion, by libedit.
///
/// While a line is edited, Ctrl-C is a character like others to the terminal, which abandons the
/// line; no signal has to be caught for it. `~/.editrc` is read, as by other programs.
///
/// It is used by one thread. The callbacks of libedit find their editor by a pointer; libedit calls
/// them only during ``line(prompt:)``, which keeps the editor alive.
@safe final class LineEditor {
  /// The way in which the reading of a line ended.
  enum Reading: Equatable {
    /// A line, without its line feed.
    case line(String)
    /// Ctrl-C.
    case abandoned
    /// Ctrl-D on an empty line, or the end of the input.
    case end
  }

  /// The effect of a Tab on the line.
  enum Completion {
    case nothing
    /// So many characters before the cursor are replaced.
    case replace(Int, with: String)
    /// Lines to be shown above the prompt.
    case show([String])
  }

  private let edit: OpaquePointer
  private let history: OpaquePointer?
  private let complete: (String) -> Completion
  private var prompt: UnsafeMutablePointer<CChar>?
  private var isAbandoned = false

  /// Starts an editor of the terminal that is standard input and output; `complete` is given the
  /// text before the cursor.
  ///
  /// - Returns: nil where libedit cannot work with it.
  init?(historyMax: Int, complete: @escaping (String) -> Completion) {
    guard let edit = unsafe edit_open("cambium") else { return nil }
    unsafe self.edit = edit
    unsafe history = edit_history(edit, Int32(historyMax))
    self.complete = complete
    unsafe edit_set_owner(edit, Unmanaged.passUnretained(self).toOpaque())
    unsafe edit_set_prompt(edit) { unsafe LineEditor.owner(of: $0).prompt }
    unsafe edit_set_reader(edit) { unsafe LineEditor.owner(of: $0).read(into: $1) }
    unsafe edit_set_editor(edit, "emacs")
    unsafe edit_set_signals(edit, 1)
    unsafe edit_set_mode(edit, "-isig")
    unsafe edit_bind(edit, "^I", "cambium-complete", "Complete") { edit, _ in
      unsafe LineEditor.owner(of: edit).completed()
    }
    unsafe _ = el_source(edit, nil)
  }

  deinit {
    unsafe el_end(edit)
    if let history = unsafe history { unsafe history_end(history) }
    unsafe free(prompt)
  }

  /// Lets the user go back to a line.
  func remember(_ line: String) {
    if let history = unsafe history { unsafe edit_remember(history, line) }
  }

  /// Reads a line.
  func line(prompt text: String) -> Reading {
    unsafe free(prompt)
    unsafe prompt = strdup(text)
    isAbandoned = false
    var count: Int32 = 0
    unsafe edit_prepare(edit)
    guard let bytes = unsafe el_gets(edit, &count), count > 0 else {
      unsafe el_reset(edit)
      return isAbandoned ? .abandoned : .end
    }
    let line = unsafe String(cString: bytes)
    return .line(line.hasSuffix("\n") ? String(line.dropLast()) : line)
  }

  private static func owner(of edit: OpaquePointer?) -> LineEditor {
    guard let owner = unsafe edit_owner(edit) else { preconditionFailure("an editor of nobody") }
    return unsafe Unmanaged<LineEditor>.fromOpaque(owner).takeUnretainedValue()
  }

  /// Reads a character for libedit: 1, 0 at the end of the input, or -1 to give the line up.
  private func read(into character: UnsafeMutablePointer<wchar_t>?) -> Int32 {
    var bytes: [UInt8] = []
    while let byte = System.readByte() {
      if byte == LineEditor.controlC {
        isAbandoned = true
        return -1
      }
      // A byte that begins a character ends one that was left incomplete.
      if byte & 0xC0 != 0x80 { bytes = [] }
      bytes.append(byte)
      if let scalar = String(validating: bytes, as: UTF8.self)?.unicodeScalars.first {
        unsafe character?.pointee = wchar_t(scalar.value)
        return 1
      }
    }
    return 0
  }

  private func completed() -> UInt8 {
    guard let line = unsafe el_line(edit)?.pointee else { return UInt8(CC_ERROR) }
    let count = unsafe line.cursor - line.buffer
    let before = unsafe UnsafeRawBufferPointer(start: line.buffer, count: count)
    switch complete(unsafe String(decoding: before, as: UTF8.self)) {
    case .nothing: return UInt8(CC_ERROR)
    case .replace(let count, let text):
      unsafe el_deletestr(edit, Int32(count))
      return UInt8(unsafe el_insertstr(edit, text) == 0 ? CC_REFRESH : CC_ERROR)
    case .show(let lines):
      let text = "\n" + lines.map { $0 + "\n" }.joined()
      _ = System.write(Array(text.utf8), to: System.standardOutput)
      return UInt8(CC_REDISPLAY)
    }
  }

  private static let controlC: UInt8 = 3
}
