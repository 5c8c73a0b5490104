import CambiumCommands
import CambiumServer

/// The program `cambium`: the commands, and the server that one of them starts.
@main
enum Main {
  static func main() async {
    await Tool.main(serve: { settings, log in
      try await settings.untilStopped()
      log("nothing was served")
    })
  }
}
