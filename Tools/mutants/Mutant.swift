/// One small change of the sources: the place, and the text before and after it.
struct Mutant {
  /// The kinds of changes.
  enum Kind: String {
    case condition, bound, call, constant
  }

  /// The form of the switch between the source and the change.
  enum Form {
    /// A condition that has the other value.
    case negated
    /// A statement that is left out.
    case leftOut
    /// An expression in place of another one.
    case replaced([Piece])
  }

  /// A part of the expression that takes the place of another.
  enum Piece {
    case source(Range<Int>)
    case text(String)
  }

  /// The name by which a line of the ledger means a mutant. It has no number of a line, so that it
  /// stays valid while other code moves.
  struct Identity: Hashable {
    var file: String
    var symbol: String
    var kind: String
    var before: String
    var after: String
    /// The number of equal changes before this one in the same symbol.
    var occurrence = 0
  }

  var identity: Identity
  /// The bytes of the file that the change is about.
  let range: Range<Int>
  let form: Form
}

extension Mutant.Identity {
  /// The columns of a table.
  var columns: [String] { [file, symbol, kind, before, after, "\(occurrence)"] }

  init?(_ columns: [Substring]) {
    guard columns.count >= 6, let occurrence = Int(columns[5]) else { return nil }
    let words = columns.prefix(5).map(String.init)
    self.init(
      file: words[0], symbol: words[1], kind: words[2], before: words[3], after: words[4],
      occurrence: occurrence)
  }

  /// The folder that the score is counted for: the module, or the layer within Cambium.
  var folder: String {
    let parts = file.split(separator: "/")
    return parts[0] == "Cambium" ? "\(parts[0])/\(parts[1])" : "\(parts[0])"
  }

  /// The place in the order in which mutants are drawn: FNV-1a of the identity, then the finalizer
  /// of SplitMix64 with the seed.
  func rank(seed: UInt64) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in columns.joined(separator: "\t").utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    hash = hash &+ seed &* 0x9E37_79B9_7F4A_7C15
    hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
    hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
    return hash ^ (hash >> 31)
  }
}
