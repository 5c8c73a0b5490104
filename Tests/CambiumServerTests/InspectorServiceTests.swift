import Foundation
import Testing

@testable import CambiumServer

/// The page comes from the program: each file of the folder is in it as it is, and nothing else.
@Suite("The inspector's service")
struct InspectorServiceTests {
  private let service = InspectorService()

  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Sources/CambiumServer/Inspector/Resources")

  private func bytes(_ response: Response) -> [UInt8] {
    guard case .bytes(let bytes) = response.body else { return [] }
    return bytes
  }

  @Test("serves each file of the folder, byte for byte, and no other")
  func files() async throws {
    let names = try FileManager.default.subpathsOfDirectory(atPath: Self.folder.path)
      .filter { $0.contains(".") }
    #expect(names.contains("index.html"))
    #expect(Set(InspectorFile.all.keys) == Set(names.map { "/\($0)" } + ["/"]))
    for name in names {
      let response = await service.answer(Request(method: .get, path: "/\(name)"))
      let expected = try Data(contentsOf: Self.folder.appendingPathComponent(name))
      #expect(response.status == 200)
      // A failure names the file, and does not print it.
      let isSame = bytes(response) == [UInt8](expected)
      #expect(isSame, "\(name)")
      #expect(InspectorService.serves("/\(name)"))
    }
  }

  @Test(
    "names the type of each file, and says what a browser may load",
    arguments: [
      ("/", "text/html; charset=utf-8"), ("/main.js", "text/javascript; charset=utf-8"),
      ("/style.css", "text/css; charset=utf-8"),
    ])
  func types(path: String, type: String) async {
    let response = await service.answer(Request(method: .get, path: path))
    #expect(response[header: "Content-Type"] == type)
    let policy = response[header: "Content-Security-Policy"] ?? ""
    #expect(policy.hasPrefix("default-src 'none';"))
    #expect(!policy.contains("unsafe"))
  }

  @Test("answers 304 to a browser that has the file as it is, and sends it to others")
  func tags() async throws {
    let first = await service.answer(Request(method: .get, path: "/main.js"))
    let tag = try #require(first[header: "ETag"])
    for held in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
      let second = await service.answer(
        Request(method: .get, path: "/main.js", headers: ["if-none-match": held]))
      #expect(second.status == 304)
      #expect(bytes(second).isEmpty)
      #expect(second[header: "ETag"] == tag)
    }
    let other = await service.answer(
      Request(method: .get, path: "/", headers: ["if-none-match": tag]))
    #expect(other.status == 200)
  }

  @Test(
    "refuses paths that are no file of the page",
    arguments: [
      "/views", "/views/", "/../Package.swift", "/%2e%2e/Package.swift", "//index.html", "",
      "/index.html/", "/INDEX.HTML",
    ])
  func others(path: String) async {
    let response = await service.answer(Request(method: .get, path: path))
    #expect(response.status == 404)
    #expect(!InspectorService.serves(path))
  }

  @Test("is only read", arguments: [Request.Method.put, .post, .delete, .patch])
  func methods(method: Request.Method) async {
    let response = await service.answer(Request(method: method, path: "/"))
    #expect(response.status == 405)
    #expect(response[header: "Allow"] == "GET, HEAD")
  }

  @Test("has no script and no style within the page, which the policy would refuse")
  func inline() async {
    let page = String(
      decoding: bytes(await service.answer(Request(method: .get, path: "/"))), as: UTF8.self)
    #expect(!page.contains("<style"))
    #expect(!page.contains(" style="))
    #expect(!page.contains(" onclick="))
    #expect(page.components(separatedBy: "<script").count == 2)
    #expect(page.contains("<script type=\"module\" src=\"main.js\"></script>"))
  }
}
