# Plants bugs in Swift sources; Tools/plant runs it with the files of bugs, then those of sources.
#
#     # The log is committed without waiting for the disk.
#     bug log not synced
#     found by power single
#     in Log.init
#     - options.synced = true
#     + options.synced = false
#
# `found by` names a trial, a workload and, if they matter, the order of names and the kind of
# fault; it may come again. `found only by` says that no trial without that kind of fault finds it.
# Each `in` names a type and one of its members, wherever that lies. Below are lines of it: those
# with `-` give way to those with `+`, the others say where. Together they must be found exactly
# once; how far they are indented does not matter. A bug takes as many of these as it needs.
#
# Where a bug changes something, the source gets both forms and a switch: lines that give way to
# others must therefore be whole statements.
#
# Swift is not parsed. `swift format` has laid it out, so that indentation tells what belongs to
# which declaration.
#
# Set by the caller: into, the folder for what was changed; empty if nothing is to be written.

function fail(place, reason) {
  print place ": " reason >"/dev/stderr"
  failed = 1
}

FNR == 1 {
  end_member(length(path) ? count_of[path] : 0)
  hunk = 0
  types = in_text = 0
  path = FILENAME
  if (path !~ /\.bugs$/) paths[++path_count] = path
}

# The bugs.

path ~ /\.bugs$/ {
  if (/^ *(#|$)/) hunk = 0
  else if (sub(/^bug /, "")) begin_bug($0)
  else if (sub(/^found by /, "")) finders[bugs] = finders[bugs] $0 "\n"
  else if (sub(/^found only by /, "")) finders[bugs] = finders[bugs] "only " $0 "\n"
  else if (sub(/^in /, "")) begin_hunk($0)
  else if (/^[-+ ] / && hunk) add_line(substr($0, 1, 1), trimmed($0, 2))
  else fail(path ":" FNR, "this is neither bug, found by, in, nor a line of a change")
  next
}

function begin_bug(name) {
  hunk = 0
  if (name in number_of) fail(path ":" FNR, "there is another bug called " name)
  bug_names[++bugs] = name
  bug_places[bugs] = path ":" FNR
  number_of[name] = bugs
}

function begin_hunk(symbol) {
  hunk = ++hunks
  hunk_bugs[hunk] = bugs
  hunk_places[hunk] = path ":" FNR
  symbols[hunk] = symbol
  hunks_of[bugs]++
}

# Of a hunk's lines: what is done with each, and its text; what is looked for, without those that
# are new.
function add_line(sign, text) {
  signs[hunk, ++sizes[hunk]] = sign
  texts[hunk, sizes[hunk]] = text
  if (sign != "+") wanted[hunk, ++wanted_count[hunk]] = text
  if (sign != " ") changed[hunk] = 1
}

# The sources: their lines, and from which to which their members go.

{
  lines[path, FNR] = $0
  count_of[path] = FNR
  text = trimmed($0, 1)
  quotes = gsub(/"""/, "\"\"\"", text) % 2
  if (in_text) {
    in_text = !quotes
    next
  }
  in_text = quotes
  if (text != "") follow(text, indentation($0))
}

function follow(text, depth, name) {
  if (text ~ /^([])}{>]|where )/) return
  if (member != "" && depth <= member_depth) end_member(FNR - 1)
  while (types && depth <= type_depths[types]) types--
  if (member != "") return
  text = without_modifiers(text)
  if (text ~ /^(struct|class|enum|actor|extension|protocol) /) {
    type_depths[++types] = depth
    type_names[types] = prefix(types - 1) word(text, 2)
  } else if (text ~ /^(func|var|let) /) begin_member(word(text, 2), depth)
  else if (text ~ /^(init|deinit|subscript)([^A-Za-z]|$)/) begin_member(word(text, 1), depth)
}

function without_modifiers(text) {
  while (sub(/^(@[A-Za-z]+(\([^)]*\))?|[a-z]+\((set|unsafe|safe)\)) */, "", text) ||
    sub(/^(public|package|internal|fileprivate|private|final|static|indirect|lazy|weak) /, "",
      text) ||
    sub(/^(mutating|consuming|borrowing|nonisolated|override|required|convenience) /, "", text) ||
    sub(/^class (func|var) /, "func ", text)) {}
  return text
}

# A word without what follows it at once.
function word(text, index_of, words) {
  split(text, words, " ")
  sub(/[^A-Za-z0-9_.].*/, "", words[index_of])
  return words[index_of]
}

function prefix(depth) { return depth ? type_names[depth] "." : "" }

function begin_member(name, depth) {
  member = prefix(types) name
  member_depth = depth
  member_first = FNR
}

function end_member(last) {
  if (member == "") return
  members[++member_count] = member
  member_paths[member_count] = path
  firsts[member_count] = member_first
  lasts[member_count] = last
  member = ""
}

function indentation(line) {
  match(line, /^ */)
  return RLENGTH
}

function trimmed(text, from) {
  text = substr(text, from)
  gsub(/^[ \t]+|[ \t]+$/, "", text)
  return text
}

# Finding where the bugs go, and writing.

END {
  end_member(count_of[path])
  for (i = 1; i <= bugs; i++) check_bug(i)
  for (i = 1; i <= hunks; i++) place_hunk(i)
  for (i = 1; i <= edit_count; i++) check_apart(i)
  if (failed) exit 1
  if (into == "") exit 0
  write_list()
  for (i = 1; i <= path_count; i++) if (paths[i] in is_changed) write_source(paths[i])
  for (name in modules) write_switch(name)
}

function check_bug(number) {
  if (!(number in hunks_of)) fail(bug_places[number], bug_names[number] " changes nothing")
  if (!(number in finders)) fail(bug_places[number], "nobody says what finds " bug_names[number])
}

# Looks for the lines of a hunk in all members of its name.
function place_hunk(number, i, from, places, found_path, found_line, there) {
  if (!wanted_count[number] || !changed[number]) {
    fail(hunk_places[number], "a change needs lines that are there, and one that changes")
    return
  }
  for (i = 1; i <= member_count; i++) {
    if (!is_called(members[i], symbols[number])) continue
    there = 1
    for (from = firsts[i]; from + wanted_count[number] - 1 <= lasts[i]; from++) {
      if (!matches(number, member_paths[i], from)) continue
      places++
      found_path = member_paths[i]
      found_line = from
    }
  }
  if (!there) refuse(number, "there is no " symbols[number] " in the sources")
  else if (!places) refuse(number, symbols[number] " does not have these lines")
  else if (places > 1) refuse(number, symbols[number] " has these lines " places " times")
  else make_edits(number, found_path, found_line)
}

function refuse(number, reason) {
  fail(hunk_places[number], "the bug '" bug_names[hunk_bugs[number]] "' cannot be planted: " reason)
}

function is_called(name, symbol) {
  return name == symbol || substr(name, length(name) - length(symbol)) == "." symbol
}

function matches(number, file, from, i) {
  for (i = 1; i <= wanted_count[number]; i++)
    if (trimmed(lines[file, from + i - 1], 1) != wanted[number, i]) return 0
  return 1
}

# A hunk becomes edits: each says from which line on how many are replaced, perhaps none.
function make_edits(number, file, line, i, old, new) {
  for (i = 1; i <= sizes[number] + 1; i++) {
    if (signs[number, i] == "-") old++
    else if (signs[number, i] == "+") new = new texts[number, i] "\n"
    else {
      if (old || new != "") add_edit(number, file, line, old + 0, new)
      line += old + 1
      old = 0
      new = ""
    }
  }
}

function add_edit(number, file, line, old, new, key, i) {
  key = file SUBSEP line SUBSEP (old > 0)
  edit_hunks[++edit_count] = number
  edit_keys[edit_count] = key
  edit_lengths[edit_count] = old
  edit_lines[edit_count] = file SUBSEP line
  for (i = line + 1; i < line + old; i++) is_inside[file, i] = 1
  lengths[key] = old
  edit_bugs[key, ++edits[key]] = hunk_bugs[number]
  edit_texts[key, edits[key]] = new
  is_changed[file] = 1
  match(file, /Sources\/[^\/]+/)
  modules[substr(file, RSTART, RLENGTH)] = 1
}

# Several bugs may replace the same lines, but not some of them.
function check_apart(i) {
  if (edit_lengths[i] != lengths[edit_keys[i]] || edit_lines[i] in is_inside)
    refuse(edit_hunks[i], "another bug replaces a part of these lines")
}

function write_list(i, j, count, each) {
  for (i = 1; i <= bugs; i++) {
    count = split(finders[i], each, "\n")
    for (j = 1; j < count; j++) print bug_names[i] "\t" each[j] >(into "/bugs")
  }
  close(into "/bugs")
}

function write_source(file, i, last, target) {
  target = into "/" file
  for (i = 1; i <= count_of[file]; i++) {
    write_edits(target, file SUBSEP i SUBSEP 0)
    last = lengths[file, i, 1]
    if (last) i = write_replaced(target, file, i, i + last - 1)
    else print lines[file, i] >target
  }
  close(target)
}

# Lines that some bugs replace, and what stands there with each of these.
function write_replaced(target, file, from, to) {
  write_edits(target, file SUBSEP from SUBSEP 1)
  print "else {" >target
  while (from <= to) print lines[file, from++] >target
  print "}" >target
  return to
}

function write_edits(target, key, i, number) {
  for (i = 1; i <= edits[key]; i++) {
    number = edit_bugs[key, i]
    if (i > 1 && lengths[key]) printf "else " >target
    print "if PlantedBug.active == " number " {  // " bug_names[number] >target
    printf "%s}\n", edit_texts[key, i] >target
  }
}

# Each module gets the switch.
function write_switch(module, i, target) {
  target = into "/" module "/PlantedBug.swift"
  print "// Which of the planted bugs this process has. Tools/plant wrote this.\n" >target
  print "import Glibc\n\nenum PlantedBug {\n  private static let all = [" >target
  for (i = 1; i <= bugs; i++) print "    \"" bug_names[i] "\"," >target
  print "  ]\n\n  /// Its number, counted from 1; 0 for none." >target
  print "  static let active: Int = {" >target
  print "    guard let name = unsafe getenv(\"CAMBIUM_PLANTED_BUG\") else { return 0 }" >target
  print "    if let index = all.firstIndex(of: unsafe String(cString: name)) {" >target
  print "      return index + 1\n    }" >target
  print "    fatalError(\"CAMBIUM_PLANTED_BUG names no bug\")\n  }()\n}" >target
  close(target)
}
