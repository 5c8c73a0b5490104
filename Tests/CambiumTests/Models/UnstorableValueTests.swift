import FoundationEssentials
import Testing

@testable import Cambium

/// A value that cannot be stored as it is, is refused where it is written, and never becomes
/// another.
@Suite("A value that cannot be stored")
struct UnstorableValueTests {
  struct Rates: CodableProperty {
    struct Rate: Codable, Equatable { var percent = 0.0 }
    var base = 1.0
    var rates: [Rate] = []
  }

  struct Loan: Cambium.Model {
    var id = ID()
    var due = Date(timeIntervalSinceReferenceDate: 0)
    var paid: Date?
    var reminders: [Date] = []
    var rates = Rates()
    var more: [Rates] = []
    static let schema = ModelSchema<Loan>("loans")
  }

  /// Seconds since 2001. A `Date` of NaN cannot even be printed, as an argument of a test is.
  static let impossible = [Double.nan, .infinity, -.infinity, 9.1e12, -1e300]

  private func reason(
    _ database: Database, _ change: (borrowing Database.Transaction) throws -> Void
  )
    throws -> String
  {
    let head = try database.head
    defer { #expect((try? database.head) == head) }
    do {
      try database.write { try change($0) }
      return "nothing was thrown"
    } catch DatabaseError.badValue(let path, let reason) {
      return "\(path): \(reason)"
    }
  }

  @Test("names the property of a date that is out of range", arguments: impossible)
  func dates(seconds: Double) throws {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    try withDatabase { database in
      let id = try database.insert(Loan())
      let path = try id.path
      let changes: [(String, (borrowing Database.Transaction) throws -> Void)] = [
        ("due: a date", { _ = try $0.insert(Loan(due: date)) }),
        ("paid: a date", { _ = try $0.insert(Loan(paid: date)) }),
        ("reminders: a date", { _ = try $0.insert(Loan(reminders: [Date.distantPast, date])) }),
        ("due: a date", { try $0.update(id) { $0.due = date } }),
        ("paid: a date", { try $0.set(id, \.paid, to: date) }),
        ("reminders: a date", { try $0.append(date, to: id, \.reminders) }),
        ("a date", { try $0.update(path, ["due": .date(date)]) }),
        ("a date", { try $0.set(path, to: ["due": .date(date)]) }),
        ("a date", { try $0.set("moments/1", to: .date(date)) }),
      ]
      for (words, change) in changes {
        let found = try reason(database, change)
        #expect(
          found.contains("\(words) that is \(date.timeIntervalSince1970) seconds"), "\(found)")
        #expect(found.hasPrefix("loans/") || found.hasPrefix("moments/"), "\(found)")
      }
      #expect(try database.query(Loan.self).where { $0.due < date }.count() <= 1)
    }
  }

  @Test("is no date within 285,000 years, nor one that an older build has clamped")
  func clamped() throws {
    try withDatabase { database in
      let far = [-8.99e12, 8.99e12, 0].map { Date(timeIntervalSinceReferenceDate: $0) }
      let old = [Int64.max, .min].map { Date(microseconds: $0) }
      let dates = far + old + [.distantPast, .distantFuture]
      let id = try database.insert(Loan(due: old[0], paid: old[1], reminders: dates))
      #expect(try database.get(id).reminders == dates)
      try database.update(id) { $0.rates.base = 2 }
      try database.upsert(try database.get(id))
      #expect(try database.get(id).due == old[0])
    }
  }

  @Test("is told with its place in a property that is Codable")
  func codable() throws {
    try withDatabase { database in
      let id = try database.insert(Loan())
      let path = try id.path
      for number in [Double.nan, .infinity, -.infinity] {
        let deep = Rates(rates: [.init(), .init(percent: number)])
        let words = "\(number) at rates[1].percent cannot be stored as JSON"
        #expect(
          try reason(database) { try $0.set(id, \.rates, to: deep) } == "\(path): rates: \(words)")
        #expect(
          try reason(database) { try $0.update(id) { $0.rates = deep } }
            == "\(path): rates: \(words)")
        #expect(
          try reason(database) { _ = try $0.insert(Loan(rates: deep)) }.hasSuffix("rates: \(words)")
        )
        #expect(
          try reason(database) { try $0.append(deep, to: id, \.more) } == "\(path): more: \(words)")
        #expect(
          try reason(database) { try $0.set(id, \.rates, to: Rates(base: number)) }
            == "\(path): rates: \(number) at base cannot be stored as JSON")
      }
    }
  }
}
