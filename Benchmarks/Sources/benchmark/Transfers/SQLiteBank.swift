/// Accounts in SQLite, with a flush for each transaction. One connection: SQLite lets one caller
/// write at a time, and has no commit for several.
final class SQLiteBank: Bank {
  static let name = "SQLite"

  private let database: SQLiteDatabase
  private let select: Statement
  private let change: Statement

  init(directory: String, accounts: Int) throws {
    database = try SQLiteDatabase(path: directory + "/accounts.sqlite", isSoon: false)
    try database.run("CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)")
    select = try database.prepare("SELECT balance FROM accounts WHERE id = ?")
    change = try database.prepare("UPDATE accounts SET balance = balance + ? WHERE id = ?")
    let insert = try database.prepare("INSERT INTO accounts VALUES (?, ?)")
    try database.transaction {
      for key in 1...accounts {
        insert.bind(1, Int64(key))
        insert.bind(2, Int64(Account.start))
        try insert.runOnce()
      }
    }
  }

  func make(_ transfers: ArraySlice<Transfer>) throws {
    for transfer in transfers { try database.transaction { try make(transfer) } }
  }

  private func make(_ transfer: Transfer) throws {
    select.bind(1, Int64(transfer.from))
    guard try select.step(), select.integer(0) >= Int64(transfer.amount) else {
      throw BenchmarkError("account \(transfer.from) has too little")
    }
    select.reset()
    try change(transfer.from, by: -transfer.amount)
    try change(transfer.to, by: transfer.amount)
  }

  private func change(_ account: Int, by amount: Int) throws {
    change.bind(1, Int64(amount))
    change.bind(2, Int64(account))
    try change.runOnce()
  }

  func balances() throws -> [Int] {
    let all = try database.prepare("SELECT balance FROM accounts ORDER BY id")
    var balances: [Int] = []
    while try all.step() { balances.append(Int(all.integer(0))) }
    return balances
  }
}
