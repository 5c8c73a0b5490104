// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .strictMemorySafety(), .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Cambium", path: "..")],
  targets: [
    .systemLibrary(
      name: "CLMDBRaw", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .systemLibrary(name: "CHeap"),
    .executableTarget(
      name: "benchmark",
      dependencies: [
        "CHeap", "CLMDBRaw", "CSQLite", .product(name: "Cambium", package: "Cambium"),
        .product(name: "CambiumServer", package: "Cambium"),
      ],
      swiftSettings: settings),
  ]
)
