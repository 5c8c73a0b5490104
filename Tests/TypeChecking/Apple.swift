// Usual code of an app for Apple's systems: a view of a live query, and a publisher. Where there is
// no SwiftUI, it is type-checked as a file of Cambium, beside those that are for these systems
// alone, so that it imports nothing of Cambium.

import Combine
import SwiftUI

struct Visit: Model {
  var id = ID()
  var place = ""

  static let schema = ModelSchema<Visit>("visits")
}

struct DelphiView: View {
  @LiveQuery<ModelQuery<Visit>> var inDelphi: LiveElements<Visit>
  let first: Live<Visit>

  init(_ database: Database, first: Live<Visit>) {
    _inDelphi = LiveQuery(database.query(Visit.self).where { $0.place == "Delphi" })
    self.first = first
  }

  var body: some View {
    List($inDelphi.items) { item in VisitView(visit: item) }
    Text(inDelphi.isEmpty ? "none" : first.place).following(first)
  }
}

struct VisitView: View {
  let visit: LiveItem<Visit>

  var body: some View { Text(visit.element.place) }
}

func differences(_ database: Database) -> some Publisher<LiveDiff<Visit>, any Error> {
  database.query(Visit.self).changes().publisher
}
