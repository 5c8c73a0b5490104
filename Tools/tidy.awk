# The rules of Tools/tidy about lines, for Swift, C headers, scripts and Markdown.
#
# Swift is not parsed. `swift format` has laid it out, so that indentation shows where a function
# ends; text in quotes and comments is taken out before words are looked for.
#
# Set by the caller: unsafe_allowed, path prefixes separated by spaces.

BEGIN {
  allowed = split(unsafe_allowed, allow, " ")
  banned_words("txn:transaction lsn:sequenceNumber journal:log wal:log mutation:operation")
  banned_words("row:record entity:node document:record column:property field:property")
  banned_words("materializer:projection watermark:position bookmark:position delta:change")
  banned_words("rehydrate:rebuild resync:replay gc:compaction publisher:feed listener:observer")
  banned_words("subscriber:observer watcher:observer")
}

function banned_words(list, pairs, n, i, pair) {
  n = split(list, pairs, " ")
  for (i = 1; i <= n; i++) {
    split(pairs[i], pair, ":")
    instead[pair[1]] = pair[2]
  }
}

function report(line, reason) {
  print FILENAME ":" line ": " reason
}

FNR == 1 {
  if (previous != "") end_file()
  start_file()
}

{ lines++ }

function start_file(i) {
  previous = FILENAME
  lines = 0
  swift = FILENAME ~ /\.swift$/
  prose = FILENAME ~ /\.md$/
  source = FILENAME ~ /^Sources\//
  before_doors = FILENAME ~ /^Sources\/Cambium\// && FILENAME !~ /^Sources\/Cambium\/Log\//
  test = FILENAME ~ /^(Tests|Benchmarks\/Tests)\//
  in_text = in_function = reason_given = unreasoned = 0
  opened = !swift || FILENAME == "Package.swift" || FILENAME ~ /\/Package\.swift$/
  may_be_unsafe = !source && FILENAME !~ /^Tools\//
  for (i = 1; i <= allowed; i++) if (index(FILENAME, allow[i]) == 1) may_be_unsafe = 1
}

function end_file() {
  if (unreasoned) report_unreasoned(previous)
  if (lines > 400 && !was_prose)
    print previous ":401: the file has " lines " lines; 400 is the limit"
}

END { if (previous != "") end_file() }

# Rules for every file.

{ was_prose = prose }

!prose && columns($0) > 100 { report(FNR, columns($0) " columns; 100 is the limit") }

# Characters, not bytes: what continues a UTF-8 character does not count.
function columns(text) {
  if (length(text) <= 100) return length(text)
  gsub(/[\200-\277]/, "", text)
  return length(text)
}

/(^|[^A-Za-z])(TODO|FIXME|XXX|HACK)([^A-Za-z]|$)/ {
  report(FNR, "unfinished work is an issue, not a comment")
}

/(^|[^A-Za-z0-9_.}])\/(work|farm|home|root|Users)\// || (!test && /(^|[^A-Za-z0-9_.}])\/tmp\//) {
  report(FNR, "a path of one machine")
}

# Rules for Swift. `code` is the line without text and comments.

swift { code = code_of($0) }

swift && /^\/\/ *(Created by|Copyright|[A-Za-z+]+\.swift *$|===|---)/ {
  report(FNR, "a banner; open with the idea of the file")
}

swift && !opened && !/^ *$/ && !/^#(if|else|elseif|endif)/ && !is_import($0) {
  opened = 1
  if (!/^ *\/(\/|\*)/ && !(test && /^@Suite\("/))
    report(FNR, "open the file with its one idea, in a comment")
}

function is_import(line) {
  return line ~ /^ *(@[A-Za-z_]+(\([A-Za-z_]*\))? +)*((public|package|internal|private) +)?import /
}

swift && /^ *\/\/\/?( *- [A-Za-z]+( [A-Za-z_]+)?:)? *(What|Whether|Those|How)($|[^A-Za-z])/ {
  report(FNR, "a comment says what something is or does; it does not begin with a question word")
}

# Swift 6.3 takes a large structure in which such an optional is nil for nil itself.
swift && code ~ /unowned\(unsafe\) +(let|var) .*\?/ {
  report(FNR, "an optional `unowned(unsafe)` is miscompiled; keep an `Unmanaged`")
}

# Swift 6.3 releases what such closures hold once more each time that they are passed on.
swift && code ~ /: repeat \(.*\) *(async +)?(throws(\([^)]*\))? *)?->/ {
  report(FNR, "a pack of closures is miscompiled where it is passed on; make them `@escaping`")
}

swift && code ~ /(^|[^A-Za-z_])try!/ { report(FNR, "`try!` traps on what may happen; throw") }

# The exceptions belong to an iterator, a result or a subscription, which cancels its one as it goes;
# and to a server or a client of one, which is no part of the engine and ends its own.
swift && source && FILENAME !~ /^Sources\/Cambium(Server|Client)\// &&
FILENAME !~ /Live\/.*\/(SequencePump|FollowedResults|SequencePublisher)/ &&
code ~ /(^|[^A-Za-z_.])Task *(\{|\(|\.detached)/ {
  report(FNR, "a task that nobody awaits; the engine's work ends with its caller")
}

swift && !may_be_unsafe && code ~ /(^|[^A-Za-z_.`])unsafe($|[^A-Za-z_:`])/ {
  report(FNR, "`unsafe` outside LMDB and the files that Tools/tidy allows")
  may_be_unsafe = 1  # Once per file is enough.
}

# The reason for `@unchecked Sendable` is at most six lines above it or three below.

swift && /\/\// && tolower($0) ~ /sendable|thread|lock|mutex|atomic|immutable|never change|owner/ {
  reason_given = FNR
  unreasoned = 0
}

swift && unreasoned && FNR - unreasoned >= 3 { report_unreasoned(FILENAME) }

swift && code ~ /@unchecked +Sendable/ && !(reason_given && FNR - reason_given <= 6) {
  unreasoned = FNR
}

function report_unreasoned(file) {
  print file ":" unreasoned ": `@unchecked Sendable` without a comment that says what makes it true"
  unreasoned = 0
}

swift && source && tolower($0) ~ /planted/ {
  report(FNR, "the product has no planted bugs; Tools/torture-bugs has them")
}

# The log's doors: LogReader, LogWriter and LogFile. Only its layer makes the first two, and names the
# environment, tables and file behind them. The compiler keeps the rest: it is private.

swift && before_doors && names_behind_doors() {
  report(FNR, "what lies behind LogReader, LogWriter and LogFile is named in the log's layer alone")
}

function names_behind_doors() {
  if (code ~ /(^|[^A-Za-z_])(lmdb|LogTables)($|[^A-Za-z_])/) return 1
  if (code ~ /(^|[^A-Za-z_])(LogReader|LogWriter|RecordScan) *(\.init *)?\(/) return 1
  return code !~ /^ *$/ && /log\/data\.mdb/
}

swift && source && declared_name(code) != "" { check_words(declared_name(code)) }

# The name of the type or function that a line declares.
function declared_name(code, found) {
  if (!match(code, /(^| )(struct|class|enum|actor|protocol|typealias|func) +[A-Za-z_]+/)) return ""
  found = substr(code, RSTART, RLENGTH)
  sub(/.* /, "", found)
  return found
}

# Splits a name at its capitals and looks each word up; LMDB's own words may stay in LMDB.
function check_words(name, words, n, i, word) {
  gsub(/[A-Z]+/, " &", name)
  n = split(tolower(name), words, /[ _]+/)
  for (i = 1; i <= n; i++) {
    word = words[i]
    if (word == "txn" && FILENAME ~ /^Sources\/LMDB\//) continue
    # Combine's own words are used where an app gives something to it.
    if (word in instead && FILENAME !~ /Live\/Apple\//) report(FNR, "the glossary says " instead[word] ", not " word)
  }
}

# Functions: from the line that declares one to the closing brace at the same depth.

swift && in_function { follow_function() }
swift && !in_function && opens_function(code) {
  in_function = FNR
  depth = indentation(code)
}

function opens_function(code) {
  if (code ~ /\}[ ,;)]*$/ && code ~ /\{/) return 0
  if (code ~ /(^| )(func|subscript)[ (]/ || code ~ /(^| )(init[?(<]|deinit)/) return 1
  return code ~ /(^| )(var|let|get|set|willSet|didSet)[ {(].*\{[^}]*$/
}

function follow_function() {
  if (code ~ /^ *$/ || indentation(code) > depth) return
  if (indentation(code) == depth && code ~ /^ *(\)|where |\{)/) return
  if (indentation(code) == depth && code ~ /^ *\}/ && FNR - in_function + 1 > 70)
    report(in_function, "a function of " (FNR - in_function + 1) " lines; 70 is the limit")
  in_function = 0
}

function indentation(line) {
  match(line, /^ */)
  return RLENGTH
}

# Removes comments and the content of quotes. Lines within a text of several lines become empty.
function code_of(line) {
  gsub(/\\\\/, "", line)
  gsub(/\\"/, "", line)
  if (in_text) {
    if (line !~ /"""/) return ""
    in_text = 0
    sub(/"""/, "", line)
    return line
  }
  if (line ~ /^ *\/\//) return ""
  if (line ~ /"""/) {
    in_text = 1
    sub(/"""[#]*.*/, "\"\"", line)
  }
  gsub(/"[^"]*"/, "\"\"", line)
  sub(/\/\/.*/, "", line)
  return line
}
