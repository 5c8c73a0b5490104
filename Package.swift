// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .strictMemorySafety(), .enableUpcomingFeature("MemberImportVisibility"),
]

// Tools/test asks for an engine that is optimized and keeps its assertions: the tests take half the
// time then, and a build for debugging from nothing one to three minutes more.
let engineSettings =
  Context.environment["CAMBIUM_OPTIMIZED"] == nil
  ? settings
  : settings + [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))]

#if os(macOS)
  let utf8procConfig: String? = "libutf8proc"
#else
  let utf8procConfig: String? = nil
#endif

let package = Package(
  name: "Cambium",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "Cambium", targets: ["Cambium"]),
    .library(name: "CambiumConformance", targets: ["CambiumConformance"]),
    .library(name: "CambiumServer", targets: ["CambiumServer"]),
    .library(name: "CambiumClient", targets: ["CambiumClient"]),
    .executable(name: "cambium", targets: ["CambiumTool"]),
  ],
  targets: [
    .systemLibrary(
      name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .systemLibrary(
      name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
    .systemLibrary(
      name: "CXXHash", pkgConfig: "libxxhash",
      providers: [.apt(["libxxhash-dev"]), .brew(["xxhash"])]),
    .systemLibrary(
      name: "CSodium", pkgConfig: "libsodium",
      providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]),
    // On Debian its pkg-config file has a flag that SwiftPM refuses, and nothing that is needed.
    .systemLibrary(
      name: "CUTF8Proc", pkgConfig: utf8procConfig,
      providers: [.apt(["libutf8proc-dev"]), .brew(["utf8proc"])]),
    .systemLibrary(
      name: "CPCRE2", pkgConfig: "libpcre2-8",
      providers: [.apt(["libpcre2-dev"]), .brew(["pcre2"])]),
    .systemLibrary(
      name: "CStemmer", providers: [.apt(["libstemmer-dev"]), .brew(["snowball"])]),
    .systemLibrary(name: "CEdit", pkgConfig: "libedit", providers: [.apt(["libedit-dev"])]),
    .target(name: "LMDB", dependencies: ["CLMDB", "CXXHash"], swiftSettings: engineSettings),
    .target(
      name: "Cambium",
      dependencies: ["LMDB", "CZstd", "CXXHash", "CSodium", "CStemmer", "CUTF8Proc", "CPCRE2"],
      swiftSettings: engineSettings),
    .systemLibrary(
      name: "CMicrohttpd", pkgConfig: "libmicrohttpd",
      providers: [.apt(["libmicrohttpd-dev"]), .brew(["libmicrohttpd"])]),
    // The inspector's files as bytes in the program.
    .target(name: "CInspector"),
    .target(
      name: "CambiumServer",
      dependencies: ["Cambium", "CambiumCommands", "CInspector", "CMicrohttpd"],
      exclude: ["Inspector/Resources"], swiftSettings: settings),
    .testTarget(
      name: "CambiumServerTests", dependencies: ["CambiumServer", "CambiumCommands", "Simulation"],
      swiftSettings: settings),
    .target(name: "CambiumClient", dependencies: ["Cambium"], swiftSettings: settings),
    .testTarget(
      name: "CambiumClientTests",
      dependencies: ["CambiumClient", "CambiumServer", "CambiumConformance", "Simulation"],
      swiftSettings: settings),
    // Checks for whoever writes a store of models.
    .target(
      name: "CambiumConformance", dependencies: ["Cambium"], path: "Tests/CambiumConformance",
      swiftSettings: settings),
    // Not for apps: the commands, which the program runs and the server answers with.
    .target(
      name: "CambiumCommands", dependencies: ["Cambium", "CEdit"], path: "Tools/cambium",
      swiftSettings: settings),
    .executableTarget(
      name: "CambiumTool", dependencies: ["CambiumCommands", "CambiumServer"],
      path: "Tools/cambium-main", swiftSettings: settings),
    .executableTarget(
      name: "torture", dependencies: ["Cambium", "LMDB", "Simulation", "CZstd"],
      path: "Tools/torture-harness", swiftSettings: settings),
    .testTarget(name: "LMDBTests", dependencies: ["LMDB"], swiftSettings: settings),
    // Not for apps: what the tests and the torture harness share.
    .target(
      name: "Simulation", dependencies: ["Cambium", "LMDB"], path: "Tests/Simulation",
      swiftSettings: settings),
    // The peer that full text is compared with.
    .systemLibrary(
      name: "CSQLite", path: "Tests/CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .testTarget(
      name: "CambiumTests",
      dependencies: ["Cambium", "CambiumConformance", "Simulation", "CSQLite"],
      resources: [.copy("Fixtures")], swiftSettings: settings),
    .testTarget(
      name: "CambiumToolTests", dependencies: ["CambiumCommands", "LMDB"],
      resources: [.copy("Fixtures")],
      swiftSettings: settings),
  ]
)

// Tools/fuzz asks for the fuzz targets. What has an entry point of its own is left out.
if Context.environment["CAMBIUM_FUZZ"] != nil {
  package.products = []
  package.targets.removeAll { $0.isTest || $0.type == .executable }
  package.targets += [
    .target(name: "CFuzzer", path: "Tools/fuzz-driver", publicHeadersPath: "."),
    .executableTarget(
      name: "fuzz", dependencies: ["CFuzzer", "Cambium", "CambiumCommands", "LMDB"],
      path: "Tools/fuzz-targets", swiftSettings: settings,
      // gold, which Swift takes on Linux, cannot link libFuzzer.
      linkerSettings: [
        .unsafeFlags(
          [
            "-use-ld=lld", "-Xlinker", "--wrap=__sanitizer_cov_8bit_counters_init", "-Xlinker",
            "--wrap=__sanitizer_cov_pcs_init",
          ], .when(platforms: [.linux]))
      ]),
  ]
}
