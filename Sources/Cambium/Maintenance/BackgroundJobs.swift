// The list of background jobs that higher layers add to those of the engine.

extension Database {
  /// The background jobs of the layers above the engine, which registers them when a database is
  /// opened. The one place where the engine refers to a higher layer.
  static func jobsAbove(_ database: Database) -> [any Job] {
    [CompactionJob(database), ScrubJob(database), TimelineJob.forOpening(database)]
  }
}
