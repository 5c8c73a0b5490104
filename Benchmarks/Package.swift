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
    .systemLibrary(
      name: "CLevelDB", providers: [.apt(["libleveldb-dev"]), .brew(["leveldb"])]),
    .systemLibrary(
      name: "CRocksDB", pkgConfig: "rocksdb",
      providers: [.apt(["librocksdb-dev"]), .brew(["rocksdb"])]),
    .systemLibrary(name: "CHeap"),
    .executableTarget(
      name: "benchmark",
      dependencies: [
        "CHeap", "CLevelDB", "CLMDBRaw", "CRocksDB", "CSQLite",
        .product(name: "Cambium", package: "Cambium"),
        .product(name: "CambiumServer", package: "Cambium"),
      ],
      swiftSettings: settings),
  ]
)
