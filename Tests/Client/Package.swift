// swift-tools-version: 6.2
// An app's view of Cambium: the public products alone, built for release, in the strictest mode
// that an app may choose. `Tools/test client` builds and runs it.

import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .strictMemorySafety(), .enableUpcomingFeature("MemberImportVisibility"),
]
let cambium: [Target.Dependency] = [.product(name: "Cambium", package: "Cambium")]
let remote: [Target.Dependency] = [
  .product(name: "CambiumServer", package: "Cambium"),
  .product(name: "CambiumClient", package: "Cambium"),
]

/// A small app, which checks its own results and prints that all is well.
func app(_ name: String) -> Target {
  .executableTarget(name: name, dependencies: cambium + ["Scratch"], swiftSettings: settings)
}

let package = Package(
  name: "Client",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Cambium", path: "../..")],
  targets: [
    .target(name: "Scratch", dependencies: cambium, swiftSettings: settings),
    app("todo"),
    app("notes"),
    app("issues"),
    app("sensors"),
    app("evolution"),
    .testTarget(
      name: "ClientTests", dependencies: cambium + remote + ["Scratch"], path: "Tests",
      swiftSettings: settings),
    // The code that the documentation shows; Tools/articles writes the sources.
    .testTarget(
      name: "ArticleTests", dependencies: cambium + remote + ["Scratch"], path: ".build/articles",
      swiftSettings: settings),
  ]
)
