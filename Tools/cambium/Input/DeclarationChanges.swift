import Cambium

/// The indexes and views to be added to a declaration, and taken out of it.
struct DeclarationChanges: Sendable {
  /// An index or a view.
  enum Part: Hashable, Sendable {
    case index(IndexDefinition)
    case view(ViewDefinition)

    /// The line that shows it.
    var text: String {
      switch self {
      case .index(let index): "\(index.isUnique ? "unique" : "index") \(index.text)"
      case .view(let view): "view \(view.text)"
      }
    }

    /// The properties that it is about.
    var names: [String] {
      switch self {
      case .index(let index): index.terms.map(\.property) + index.covered
      case .view(let view): view.names
      }
    }
  }

  private(set) var added: [Part] = []
  private(set) var dropped: [Part] = []

  var isEmpty: Bool { added.isEmpty && dropped.isEmpty }

  init(_ call: Call) throws {
    for option in [DeclareCommand.index, DeclareCommand.unique, DeclareCommand.view] {
      added += try call.all(option).map { try DeclarationChanges.part(option.name, $0.text) }
    }
    for line in call.all(DeclareCommand.drop).map(\.text) {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      guard words.count == 2, ["index", "unique", "view"].contains(words[0]) else {
        throw Failure.usage(
          "“\(line)” is no line of a declaration",
          hint: "say it as in --drop 'index origin, -scheduled'")
      }
      dropped.append(try DeclarationChanges.part(words[0], words[1]))
    }
    if Set(added + dropped).count < added.count + dropped.count {
      throw Failure.usage("something is named twice", hint: "name it once")
    }
  }

  /// The indexes and views of a declaration.
  static func parts(of definition: CollectionDefinition) -> [Part] {
    definition.indexes.map { .index($0) } + definition.views.map { .view($0) }
  }

  private static func part(_ word: String, _ text: String) throws -> Part {
    do {
      if word == "view" { return .view(try ViewDefinition(parsing: text)) }
      var index = try IndexDefinition(parsing: text)
      index.isUnique = word == "unique"
      return .index(index)
    } catch let error as QueryError {
      throw Failure(error, help: "declare")
    }
  }

  /// The declaration with the changes.
  ///
  /// - Throws: ``Failure`` where something is there already, or is not there to be dropped.
  func applied(to present: CollectionDefinition?, _ path: NodePath) throws -> CollectionDefinition {
    var definition = present ?? CollectionDefinition()
    for part in dropped {
      guard DeclarationChanges.parts(of: definition).contains(part) else {
        throw Failure(
          .missing, "missing", "\(path) has no “\(part.text)”",
          hint: "`cambium schema` shows what it has")
      }
      switch part {
      case .index(let index): definition.indexes.removeAll { $0 == index }
      case .view(let view): definition.views.removeAll { $0 == view }
      }
    }
    for part in added {
      if DeclarationChanges.parts(of: definition).contains(part) {
        throw Failure(.refused, "exists", "\(path) has “\(part.text)” already")
      }
      switch part {
      case .index(let index): definition.indexes.append(index)
      case .view(let view): definition.views.append(view)
      }
    }
    return definition
  }
}
