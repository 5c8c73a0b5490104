// Goal: a file that is stored or saved goes on where an earlier call was broken off, and only
// there. Method: the rest of such a call is made by hand, with the bytes of the file or with
// others, and those that were taken over are gone. The suites in CambiumTests/Files have all else.

import Cambium
import Foundation
import Testing

@testable import CambiumCommands

@Suite("A file on the command line", .timeLimit(.minutes(1)))
struct FileTransferTests {
  /// Leaves an upload of a file, of whose first bytes others have come.
  private func leave(
    _ bytes: String, of name: String, size: UInt64? = nil, in folder: String
  ) throws {
    let found = try #require(System.file("\(folder)/\(name)"))
    let database = try Database(at: "\(folder)/a.cambium")
    let upload = try database.stage(
      name: name, type: "text/plain", size: size ?? found.size, modified: found.modified)
    try upload.append(Data(bytes.utf8))
    try upload.save()
    try database.close()
  }

  @Test("is stored from where an earlier call was broken off, which is left alone for another file")
  func put() throws {
    try Workplace.with { place in
      try Data("Dear Ada".utf8).write(to: URL(filePath: "\(place.folder)/letter.txt"))
      try leave("Dear", of: "letter.txt", in: place.folder)
      try leave("DEAR", of: "letter.txt", in: place.folder)
      try leave("DEAR", of: "letter.txt", size: 9, in: place.folder)
      let printed = try place.run(
        """
        cambium info a.cambium | grep -c upload
        cambium put a.cambium letters/1 --file letter.txt
        cambium get a.cambium letters/1/content && echo
        cambium put a.cambium letters/2 --file letter.txt
        cambium get a.cambium letters/2/content && echo
        cambium info a.cambium | grep -c upload
        cambium verify a.cambium -q
        """)
      #expect(printed == "3\ntx 1\nDear Ada\ntx 2\nDear Ada\n2\n")
    }
  }

  @Test("is saved from where an earlier call was broken off, and anew where that was another file")
  func get() throws {
    try Workplace.with { place in
      let content = Data((0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
      try content.write(to: URL(filePath: "\(place.folder)/in.bin"))
      for part in [content.prefix(300_000), Data(count: 300_000), Data(count: 500_000)] {
        try part.write(to: URL(filePath: "\(place.folder)/out.bin.part"))
        let printed = try place.run(
          """
          cambium put --create a.cambium f --file in.bin -q
          cambium get a.cambium f --to out.bin && cmp in.bin out.bin && ls out* && rm out.bin
          """)
        #expect(printed == "out.bin\n")
      }
    }
  }
}
