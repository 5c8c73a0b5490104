import Cambium

/// Accounts in Cambium, by its typed face.
final class CambiumBank: AwaitingBank {
  static let name = "Cambium"

  private let database: Database

  init(directory: String, accounts: Int) throws {
    database = try Database(at: directory + "/accounts.cambium", for: Account.self)
    try database.write { tx in
      for key in 1...accounts { try tx.insert(Account(id: .init(key), balance: Account.start)) }
    }
  }

  deinit { try? database.close() }

  func make(_ transfers: ArraySlice<Transfer>) throws {
    for transfer in transfers { try database.write { tx in try CambiumBank.make(transfer, tx) } }
  }

  func make(_ transfers: ArraySlice<Transfer>, callers: Int) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for caller in 0..<callers {
        group.addTask { [database] in
          for offset in stride(from: caller, to: transfers.count, by: callers) {
            let transfer = transfers[transfers.startIndex + offset]
            try await database.write { tx in try CambiumBank.make(transfer, tx) }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private static func make(_ transfer: Transfer, _ tx: borrowing Database.Transaction) throws {
    let from = Account.ID(transfer.from)
    guard let balance = try tx.find(from, \.balance), balance >= transfer.amount else {
      throw BenchmarkError("account \(transfer.from) has too little")
    }
    try tx.increment(from, \.balance, by: -transfer.amount)
    try tx.increment(Account.ID(transfer.to), \.balance, by: transfer.amount)
  }

  func balances() throws -> [Int] { try database.query(Account.self).fetch().map(\.balance) }
}
