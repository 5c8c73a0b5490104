/// The table of commands, in the order of the overview. Parsing, help, and what else is generated
/// read nothing but this.
enum Commands {
  static let all: [Command] = [
    InfoCommand.command, LogCommand.command, ShowCommand.command, GetCommand.command,
    TreeCommand.command, HistoryCommand.command, BlameCommand.command, DiffCommand.command,
    QueryCommand.command, SearchCommand.command, TailCommand.command, WatchCommand.command,
    SchemaCommand.command, ShellCommand.command,
    ImportCommand.command, ExportCommand.command, VerifyCommand.command, ScrubCommand.command,
    ReplayCommand.command, RepairCommand.command, BackupCommand.command, RestoreCommand.command,
    CompactCommand.command, VacuumCommand.command, EraseCommand.command,
    ConsumersCommand.command, ServeCommand.command,
    PutCommand.command, PatchCommand.command, UpdateCommand.command, MoveCommand.command,
    DeleteCommand.command, ApplyCommand.command,
    DeclareCommand.command, MigrateCommand.command, UndoCommand.command, RedoCommand.command,
    RevertCommand.command, TagCommand.command,
    BranchCommand.command, CompareCommand.command, MergeCommand.command,
    HelpCommand.command, VersionCommand.command, CompletionsCommand.command, ManCommand.command,
  ]

  /// Commands that neither help nor completions list: one that other programs call and nobody
  /// types, and one that shares its name with another, whose help has both.
  static let hidden: [Command] = [PathsCommand.command, RestoreNodeCommand.command]
}
