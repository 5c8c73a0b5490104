// Holds any `ModelStore` to what the protocol promises, without a test framework: a check is run on
// an empty store, and throws what it found wrong.

import Cambium

/// One promise of `ModelStore`, to be checked of a store.
///
///     @Test(arguments: StoreCheck.all)
///     func conforms(check: StoreCheck) async throws {
///       try await check.run(on: ServerStore(for: StoreCheck.models))
///     }
public struct StoreCheck: Sendable, CustomStringConvertible {
  /// The promise, as the rest of a sentence that the store begins.
  public let name: String
  private let body: @Sendable (any ModelStore) async throws -> Void

  init(_ name: String, _ body: @escaping @Sendable (any ModelStore) async throws -> Void) {
    self.name = name
    self.body = body
  }

  /// The promise.
  public var description: String { name }

  /// The types that the checks keep in a store.
  public static let models: [any Model.Type] = [Owner.self, Pet.self]

  /// All checks; they do not depend on each other.
  public static let all = [
    creating, keeping, updating, failing, rules, uniqueness, references, deleting, listing,
    limiting, observing, observingOne, cancelling, random(seed: 1),
  ]

  /// The answers to a thousand random calls, and the changes that observers get, are those of a
  /// `MemoryStore`.
  ///
  /// - Parameter seed: The seed that chooses the calls.
  /// - Returns: The check.
  public static func random(seed: UInt64) -> StoreCheck {
    StoreCheck("answers random calls as a database does (seed \(seed))") { store in
      try await RandomCalls.compare(store, seed: seed)
    }
  }

  /// Runs the check.
  ///
  /// - Parameters:
  ///   - store: An empty store for the ``models``.
  ///   - limit: The time that it may take. A store that loses a change is found by waiting for it,
  ///     so its observers must end when their task is cancelled.
  /// - Throws: ``StoreFailure`` where the store breaks the promise.
  public func run(
    on store: any ModelStore, within limit: Duration = .seconds(20)
  ) async throws(StoreFailure) {
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await body(store) }
        group.addTask {
          try await Task.sleep(for: limit)
          throw Wrong("it did not answer within \(limit)")
        }
        defer { group.cancelAll() }
        _ = try await group.next()
      }
    } catch {
      throw StoreFailure(check: name, reason: "\(error)")
    }
  }
}

/// A promise that a store has broken.
public struct StoreFailure: Error, Hashable, CustomStringConvertible {
  /// The name of the check.
  public let check: String
  /// The finding, as the rest of a sentence.
  public let reason: String

  /// A sentence.
  public var description: String { "The store should be one that \(check): \(reason)" }
}

/// Something that is not as it should be.
struct Wrong: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Holds a value against the right one.
func expect<T: Equatable>(_ found: T, is right: T, _ subject: String) throws {
  if found != right { throw Wrong("\(subject) is \(found), not \(right)") }
}

/// Compares an error with the right one, in the words of ``told(_:)``.
func expect(error right: String, of subject: String, _ body: () async throws -> Void) async throws {
  let found: String
  do {
    try await body()
    found = "no error"
  } catch { found = told(error) }
  if found != right { throw Wrong("\(subject) gives \(found), not \(right)") }
}

/// An error without what stores may say in their own words.
func told(_ error: any Error) -> String {
  switch error {
  case DatabaseError.exists(let path, _): "exists \(path)"
  case DatabaseError.notFound(let path, _): "not found \(path)"
  case DatabaseError.misuse: "misuse"
  default: "\(error)"
  }
}
