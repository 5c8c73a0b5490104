import Cambium

/// The steps that bring a tree from one commit to the next, in an order in which each is possible.
///
/// Removals come first. Where a file becomes a folder, `a` goes before `a/b` comes; where a folder
/// becomes a file, `a/b` goes before `a` comes. Removing a node takes what is below it along, which
/// is nothing: no file is below a file, and nothing has been put yet.
///
///     D a          remove a
///     A a/b   ──►  remove c/d
///     D c/d        put a/b
///     A c          put c
struct GitImportPlan: Equatable {
  enum Step: Hashable {
    case remove(NodePath)
    case put(NodePath, mode: String, blob: String)
  }

  let steps: [Step]

  /// The changes left out because their paths cannot be ours.
  let skipped: [GitChange]

  /// Plans a commit, below the node that stands for the repository's top. The first path that
  /// cannot be ours is an error, unless they are skipped.
  init(_ commit: GitCommit, under parent: NodePath, skipInvalid: Bool = false) throws(GitError) {
    var removals: [Step] = []
    var puts: [Step] = []
    var skipped: [GitChange] = []
    for change in commit.changes {
      do throws(GitError) {
        let path = try commit.path(for: change, under: parent)
        if change.status == .delete {
          removals.append(.remove(path))
        } else {
          puts.append(.put(path, mode: change.mode, blob: change.blob))
        }
      } catch {
        guard skipInvalid else { throw error }
        skipped.append(change)
      }
    }
    steps = removals + puts
    self.skipped = skipped
  }
}
