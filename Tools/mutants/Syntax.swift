// Questions about Swift's syntax tree.

import SwiftSyntax

extension SyntaxProtocol {
  /// The bytes of the file, without comments and blanks around them.
  var textRange: Range<Int> {
    positionAfterSkippingLeadingTrivia.utf8Offset..<endPositionBeforeTrailingTrivia.utf8Offset
  }

  /// The largest part of the statement around this that still makes a short line.
  var context: Syntax {
    var scope = Syntax(self)
    while let parent = scope.parent, parent.trimmedDescription.line.count <= 70,
      parent.is(ExprSyntax.self) || parent.is(LabeledExprSyntax.self)
        || parent.is(LabeledExprListSyntax.self) || parent.is(InitializerClauseSyntax.self)
        || parent.is(PatternBindingSyntax.self) || parent.is(ReturnStmtSyntax.self)
    {
      scope = parent
    }
    return scope
  }

  /// The types and members around this, from the outside.
  var symbol: String {
    var names: [String] = []
    var node = parent
    while let current = node {
      if let name = current.declaredName { names.insert(name, at: 0) }
      node = current.parent
    }
    return names.joined(separator: ".")
  }

  private var declaredName: String? {
    if let type = asProtocol(NamedDeclSyntax.self), !self.is(FunctionDeclSyntax.self) {
      return type.name.text
    }
    if let type = self.as(ExtensionDeclSyntax.self) { return type.extendedType.trimmedDescription }
    if let function = self.as(FunctionDeclSyntax.self) {
      return function.name.text + function.signature.parameterClause.labels
    }
    if let initializer = self.as(InitializerDeclSyntax.self) {
      return "init" + initializer.signature.parameterClause.labels
    }
    if let member = self.as(SubscriptDeclSyntax.self) {
      return "subscript" + member.parameterClause.labels
    }
    if self.is(DeinitializerDeclSyntax.self) { return "deinit" }
    let isMember = parent?.is(MemberBlockItemSyntax.self) == true
    guard isMember, let variable = self.as(VariableDeclSyntax.self) else { return nil }
    return variable.bindings.first?.pattern.trimmedDescription
  }
}

extension FunctionParameterClauseSyntax {
  fileprivate var labels: String { "(" + parameters.map { "\($0.firstName.text):" }.joined() + ")" }
}

extension AttributeListSyntax.Element {
  /// True for `@inline(never)` and its kind, which opens nothing to other modules.
  var isInlineHint: Bool { trimmedDescription.hasPrefix("@inline(") }
}

extension String {
  /// The text on one line, with single blanks.
  var line: String { split { " \n\t".contains($0) }.joined(separator: " ") }
}

extension ExprSyntax {
  /// True for a statement that calls or assigns and without which the rest still compiles.
  var canBeLeftOut: Bool {
    if let inner = self.as(TryExprSyntax.self) {
      return inner.questionOrExclamationMark == nil && inner.expression.canBeLeftOut
    }
    if let inner = self.as(AwaitExprSyntax.self) { return inner.expression.canBeLeftOut }
    if let inner = self.as(UnsafeExprSyntax.self) { return inner.expression.canBeLeftOut }
    if let call = self.as(FunctionCallExprSyntax.self) {
      let name = call.calledExpression.trimmedDescription
      return !Collector.stops.contains(name) && !name.hasSuffix(".init") && name != "exit"
        && !name.hasSuffix("reserveCapacity")
    }
    guard let infix = self.as(InfixOperatorExprSyntax.self) else { return false }
    if infix.operator.is(AssignmentExprSyntax.self) { return !isInInitializer }
    let name = infix.operator.trimmedDescription
    return name.count > 1 && name.hasSuffix("=") && !["==", "!=", "<=", ">="].contains(name)
  }

  private var isInInitializer: Bool {
    var node = parent
    while let current = node, !current.is(MemberBlockItemSyntax.self) {
      if current.is(InitializerDeclSyntax.self) { return true }
      node = current.parent
    }
    return false
  }
}

extension CodeBlockItemSyntax {
  /// True if this may be the value of the block around it, whose only statement it is.
  var isValue: Bool {
    guard let list = parent?.as(CodeBlockItemListSyntax.self), list.count == 1 else { return false }
    return list.parent?.givesValue ?? false
  }
}

extension Syntax {
  /// True if the value of a block, of which this is the only statement's list's parent, is used.
  fileprivate var givesValue: Bool {
    if self.is(ClosureExprSyntax.self) || self.is(AccessorBlockSyntax.self) { return true }
    if let branch = self.as(SwitchCaseSyntax.self) {
      return branch.parent?.parent?.isUsedBranching ?? true
    }
    guard self.is(CodeBlockSyntax.self), let owner = parent else { return true }
    if let function = owner.as(FunctionDeclSyntax.self) {
      return function.signature.returnClause != nil
    }
    if let accessor = owner.as(AccessorDeclSyntax.self) {
      return accessor.accessorSpecifier.text == "get"
    }
    return owner.is(IfExprSyntax.self) ? owner.isUsedBranching : false
  }

  /// True if this is an `if` or `switch` whose value is used.
  private var isUsedBranching: Bool {
    var outer = self
    while let parent = outer.parent, parent.is(IfExprSyntax.self) { outer = parent }
    guard let statement = outer.parent?.as(ExpressionStmtSyntax.self) else { return true }
    guard let item = statement.parent?.as(CodeBlockItemSyntax.self) else { return true }
    return item.isValue
  }
}
