import Cambium

/// An account, with as much on it as no sequence of transfers here can spend.
struct Account: Model, Equatable {
  typealias Key = Int
  var id = ID()
  var balance = 0

  static let schema = ModelSchema<Account>("accounts")
  static let start = 10_000_000
}

/// A payment from one account to another: both change, or neither.
struct Transfer {
  let from: Int
  let to: Int
  let amount: Int
}

/// The shares that the accounts have in the transfers.
enum Spread: String, CaseIterable {
  /// All equally often.
  case uniform
  /// By Zipf's law with an exponent of 1.5: the first account takes part in about three
  /// transfers of five.
  case contended

  /// Transfers between the accounts from 1 up to a number of them, which is at least two.
  func transfers(_ count: Int, among accounts: Int, seed: UInt64) -> [Transfer] {
    var random = SeededGenerator(seed: seed)
    // The share of the first accounts, in units of that of the first one: the sum of r^-1.5.
    var shares: [Double] = []
    var sum = 0.0
    for rank in 1...accounts {
      let rank = Double(rank)
      sum += self == .uniform ? 1 : 1 / (rank * rank.squareRoot())
      shares.append(sum)
    }
    func account() -> Int {
      let place = Double.random(in: 0..<sum, using: &random)
      var (low, high) = (0, accounts - 1)
      while low < high {
        let middle = (low + high) / 2
        if shares[middle] > place { high = middle } else { low = middle + 1 }
      }
      return low + 1
    }
    return (0..<count).map { _ in
      let from = account()
      var to = account()
      while to == from { to = account() }
      return Transfer(from: from, to: to, amount: 1 + random.next(below: 5))
    }
  }
}

/// A database of accounts. A transfer is durable when its call returns.
protocol Bank: AnyObject {
  static var name: String { get }

  /// Makes so many accounts in an empty directory.
  init(directory: String, accounts: Int) throws

  /// Makes transfers one after the other, each in a transaction of its own.
  func make(_ transfers: ArraySlice<Transfer>) throws

  /// The balances, by the accounts' keys.
  func balances() throws -> [Int]
}

/// A bank of which many callers can await a transfer at once.
protocol AwaitingBank: Bank {
  func make(_ transfers: ArraySlice<Transfer>, callers: Int) async throws
}

/// The oracle: the balances in an array.
final class ArrayBank: Bank {
  static let name = "array"
  private var all: [Int]

  init(directory: String, accounts: Int) {
    all = [Int](repeating: Account.start, count: accounts)
  }

  func make(_ transfers: ArraySlice<Transfer>) {
    for transfer in transfers {
      all[transfer.from - 1] -= transfer.amount
      all[transfer.to - 1] += transfer.amount
    }
  }

  func balances() -> [Int] { all }
}
