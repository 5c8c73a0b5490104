// Usual code of an app that uses Cambium beside the modules whose names are nearest to its own. No
// name may be ambiguous, and a module's name is said nowhere.

import Cambium
import Combine
import Foundation
import SwiftData
import SwiftUI
import Testing

struct Visit: Model {
  var id = ID()
  var place = ""
  var day = Date()
  var notes: [String] = []

  static let schema = ModelSchema<Visit>("visits") {
    Property(\.place).validated("must be given") { !$0.isEmpty }
    Index(\.place, \.day.descending)
    Count(by: \.place)
  }
}

struct VisitsView: View {
  @State var visits: [Visit] = []

  var body: some View {
    List(visits) { visit in
      Text(visit.place)
    }
  }
}

extension Tag {
  @Tag static var storage: Self
}

@Test(.tags(.storage)) func isKept() throws {
  let database = try Database.inMemory(for: Visit.self)
  let visit = try database.insert(Visit(place: "Delphi"))
  let seen: ModelQuery<Visit> = database.query(Visit.self).where { $0.place == "Delphi" }
  #expect(try seen.first()?.id == visit)
}

func move(_ path: NodePath, under key: Key, in tx: borrowing Database.Transaction) throws {
  let values: ValueMap = ["place": "Delphi", "notes": ["old"]]
  try tx.set(path, to: .map(values))
  try tx.move(path, to: NodePath.root.appending(key))
}

func report(_ work: WorkProgress, to shown: Foundation.Progress) {
  shown.completedUnitCount = Int64(clamping: work.done)
}

func name(_ moment: SequenceNumber, of database: Database) throws -> [CommitTag] {
  _ = try database.tag("before the journey", at: .sequence(moment))
  return try database.tags
}

final class Journal: ObservableObject {
  var cancellables: Set<AnyCancellable> = []
}
