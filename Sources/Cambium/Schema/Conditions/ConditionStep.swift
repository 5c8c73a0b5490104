/// One test of a condition's program: plain bytes, so that reading a step counts no references. Its
/// constants, lists and expressions are in the program's arrays.
struct ConditionStep: BitwiseCopyable {
  var operation: Operation
  var operand = Operand()
  /// The outcomes of a comparison that satisfy it.
  var outcomes: UInt8 = 0
  var collation: UInt8 = 0
  /// True if it holds when there is no value.
  var holdsForNull = false
  var onTrue: Int32 = 0
  var onFalse: Int32 = 0
  /// The constant, or the place of the operation's data in its array.
  var number: Int64 = 0
  var constant = ConstantRange()

  /// The kind of test that a step makes.
  enum Operation: UInt8, BitwiseCopyable {
    /// No test: the step always holds.
    case always
    /// The absence of a value.
    case null
    /// Compares a value with a constant, by the kind of the constant.
    case integer, date, string, value
    /// Compares a reference, or the record's own key, with a key, by kind or as texts.
    case key, textKey
    /// Compares a value with a list of constants.
    case oneOf
    /// Texts under a collation.
    case equals, prefix, suffix, contains, matches
    /// Compares an array's elements or a dictionary's keys with a constant.
    case has
    /// Compares a property with another.
    case properties
    /// Related records.
    case related
  }

  /// The possible outcomes of comparing two values, as bits; a comparison is the set of outcomes
  /// that satisfy it.
  enum Outcome {
    static let less: UInt8 = 1
    static let equal: UInt8 = 2
    static let greater: UInt8 = 4
    /// The values are of different kinds, or one of them is null.
    static let other: UInt8 = 8
  }

  /// The source of a value.
  struct Operand: BitwiseCopyable {
    enum Place: UInt8, BitwiseCopyable {
      case property, key
      /// Behind references.
      case followed
    }

    var place = Place.property
    /// The function applied to the property; nil for the value itself.
    var function: PropertyPath.Function?
    /// True if it is a key: the record's own, or a reference.
    var isKey = false
    /// True if such keys compare as texts.
    var isTextKey = false
    var hopCount: UInt8 = 0
    /// The place among the relations of the records that are counted; -1 for a value.
    var counted: Int16 = -1
    var firstHop: UInt16 = 0
    /// The likely place of the property in a record's table.
    var slot: UInt16 = 0
    var name = NameID.max
    /// The stand-ins for an absent value, and for null, among the constants.
    var absence = ConstantRange()
    var null = ConstantRange()
    /// The property's name as a stored text, for undeclared dictionaries.
    var text = ConstantRange()

    /// True if it is what a record itself has under the name, where that is a value.
    @inline(__always)
    var isPlain: Bool { place == .property && function == nil }
  }

  /// A part of the constants' bytes.
  struct ConstantRange: BitwiseCopyable {
    var start: Int32 = 0
    var count: Int32 = 0
    var range: Range<Int> { Int(start)..<Int(start) + Int(count) }
  }

  /// A reference to follow.
  struct Hop: BitwiseCopyable {
    var name: NameID
    var slot: UInt16
    /// The collection that it leads to; -1 if the value itself names it, less than that for a
    /// record that a query has joined.
    var collection: Int16
    /// The property's name, for values that are dictionaries.
    var text = ConstantRange()
    /// The stand-ins for an absent reference, and for null, among the constants.
    var absence = ConstantRange()
    var null = ConstantRange()
  }
}

extension ConditionStep {
  /// True if an order satisfies the comparison.
  @inline(__always)
  func allows(_ order: Int) -> Bool {
    let outcome =
      order < 0
      ? Outcome.less
      : order == 0 ? Outcome.equal : Outcome.greater
    return outcomes & outcome != 0
  }
}

extension Condition.Comparison {
  /// The outcomes that satisfy the comparison.
  var outcomes: UInt8 {
    switch self {
    case .equal: ConditionStep.Outcome.equal
    case .notEqual:
      ConditionStep.Outcome.less | ConditionStep.Outcome.greater
        | ConditionStep.Outcome.other
    case .less: ConditionStep.Outcome.less
    case .lessOrEqual: ConditionStep.Outcome.less | ConditionStep.Outcome.equal
    case .greater: ConditionStep.Outcome.greater
    case .greaterOrEqual: ConditionStep.Outcome.greater | ConditionStep.Outcome.equal
    }
  }
}
