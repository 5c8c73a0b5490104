// Which code gets mutants.
//
// Conditions of `if`, `guard`, `while` and `?:` are negated, `&&` and `||` exchanged. Comparisons
// include their bound or exclude it, `min` and `max` are exchanged. Statements that call or assign
// are left out. Integers become one more, `true` becomes `false`.
//
// Nothing is changed in text, in what only stops a program that is wrong (`precondition` and its
// kind, `checkInvariants`) or reserves memory ahead, in patterns, types and default arguments, in
// code that other modules may inline, or below `#if`.

import SwiftSyntax

/// Collects the mutants of one file, in the order of its text.
final class Collector: SyntaxVisitor {
  private let file: String
  private(set) var mutants: [Mutant] = []
  private var occurrences: [Mutant.Identity: Int] = [:]

  init(file: String, tree: some SyntaxProtocol) {
    self.file = file
    super.init(viewMode: .sourceAccurate)
    if !file.hasSuffix("+Invariants.swift") { walk(tree) }
  }

  private func add(
    _ kind: Mutant.Kind, _ node: some SyntaxProtocol, _ form: Mutant.Form, _ after: String
  ) {
    let scope = node.context
    let (start, end) = (node.textRange.lowerBound, scope.textRange.lowerBound)
    let bytes = Array(scope.trimmedDescription.utf8)
    let prefix = String(decoding: bytes[..<(start - end)], as: UTF8.self)
    let suffix = String(decoding: bytes[(start - end + node.textRange.count)...], as: UTF8.self)
    var identity = Mutant.Identity(
      file: file, symbol: node.symbol, kind: kind.rawValue, before: scope.trimmedDescription.line,
      after: (prefix + after + suffix).line)
    occurrences[identity, default: -1] += 1
    identity.occurrence = occurrences[identity] ?? 0
    mutants.append(Mutant(identity: identity, range: node.textRange, form: form))
  }

  private func replace(
    _ kind: Mutant.Kind, _ node: some SyntaxProtocol, _ pieces: [Mutant.Piece], _ after: String
  ) {
    add(kind, node, .replaced(pieces), after)
  }

  // MARK: Code that is left alone

  override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    .skipChildren
  }
  override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: EnumCaseDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: SwitchCaseLabelSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: GenericArgumentClauseSyntax) -> SyntaxVisitorContinueKind {
    .skipChildren
  }
  override func visit(_ node: FunctionParameterClauseSyntax) -> SyntaxVisitorContinueKind {
    .skipChildren
  }
  override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
    node.name.text == "checkInvariants" ? .skipChildren : over(node.attributes)
  }
  override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
    over(node.attributes)
  }
  override func visit(_ node: SubscriptDeclSyntax) -> SyntaxVisitorContinueKind {
    over(node.attributes)
  }
  override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
    let isText = node.bindings.contains { $0.pattern.trimmedDescription == "description" }
    return isText ? .skipChildren : over(node.attributes)
  }
  override func visit(_ node: ArrayExprSyntax) -> SyntaxVisitorContinueKind {
    node.elements.count > 12 ? .skipChildren : .visitChildren
  }

  override func visit(_ node: LabeledExprSyntax) -> SyntaxVisitorContinueKind {
    node.label?.text.lowercased().hasSuffix("capacity") == true ? .skipChildren : .visitChildren
  }

  private func over(_ attributes: AttributeListSyntax) -> SyntaxVisitorContinueKind {
    attributes.contains { $0.trimmedDescription.contains("inlin") && !$0.isInlineHint }
      ? .skipChildren : .visitChildren
  }

  // MARK: Conditions

  override func visit(_ node: ConditionElementSyntax) -> SyntaxVisitorContinueKind {
    if case .expression(let condition) = node.condition { negate(condition) }
    return .visitChildren
  }

  override func visit(_ node: RepeatStmtSyntax) -> SyntaxVisitorContinueKind {
    negate(node.condition)
    return .visitChildren
  }

  override func visit(_ node: TernaryExprSyntax) -> SyntaxVisitorContinueKind {
    negate(node.condition)
    return .visitChildren
  }

  override func visit(_ node: WhereClauseSyntax) -> SyntaxVisitorContinueKind {
    negate(node.condition)
    return .visitChildren
  }

  private func negate(_ condition: ExprSyntax) {
    if condition.is(BooleanLiteralExprSyntax.self) { return }
    add(.condition, condition, .negated, "!(\(condition.trimmedDescription))")
  }

  // MARK: Bounds

  private static let operators: [String: (Mutant.Kind, String)] = [
    "<": (.bound, "<="), "<=": (.bound, "<"), ">": (.bound, ">="), ">=": (.bound, ">"),
    "&&": (.condition, "||"), "||": (.condition, "&&"),
  ]

  override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
    let name = node.operator.trimmedDescription
    guard let (kind, other) = Collector.operators[name] else { return .visitChildren }
    let (left, right) = (node.leftOperand, node.rightOperand)
    replace(
      kind, node, [.source(left.textRange), .text(" \(other) "), .source(right.textRange)],
      "\(left.trimmedDescription) \(other) \(right.trimmedDescription)")
    return .visitChildren
  }

  override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    let name = node.calledExpression.trimmedDescription
    if Collector.stops.contains(name) || name.hasSuffix("reserveCapacity") { return .skipChildren }
    if ["min", "max"].contains(name), node.arguments.count == 2 {
      let other = name == "min" ? "max" : "min"
      let range = node.calledExpression.textRange.upperBound..<node.textRange.upperBound
      let rest = node.trimmedDescription.dropFirst(3)
      replace(.bound, node, [.text(other), .source(range)], other + rest)
    }
    return .visitChildren
  }

  // MARK: Calls

  static let stops: Set = [
    "precondition", "preconditionFailure", "assert", "assertionFailure", "fatalError",
    "checkInvariants",
  ]

  override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
    if case .expr(let statement) = node.item, !node.isValue, statement.canBeLeftOut {
      add(.call, statement, .leftOut, "")
    }
    return .visitChildren
  }

  // MARK: Constants

  override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    guard let value = UInt64(node.literal.text.filter { $0 != "_" }) else { return .visitChildren }
    replace(.constant, node, [.text("\(value &+ 1)")], "\(value &+ 1)")
    return .visitChildren
  }

  override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    guard node.parent?.is(ConditionElementSyntax.self) != true else { return .visitChildren }
    let other = node.literal.text == "true" ? "false" : "true"
    replace(.constant, node, [.text(other)], other)
    return .visitChildren
  }
}
