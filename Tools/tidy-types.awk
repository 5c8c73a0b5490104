# The rule of Tools/tidy about types: the stored properties of each type in Sources, and its lines
# together with those of its extensions in the same module. Lines of a nested type count for that
# type alone.
#
# Loaded after tidy.awk, which sets `code` and knows a line's indentation. The formatter gives each
# property a line of its own, two columns within its type, so that they can be counted.
#
# Set by the caller: large_types, the names of types that may be larger, separated by spaces.

BEGIN {
  fields_max = 12
  type_lines_max = 500
}

source && swift && FNR == 1 { nesting = conditions = unsettled = 0 }
source && swift { follow_types(indentation(code)) }

function follow_types(level) {
  if (code ~ /^ *#if/) conditions++
  if (code ~ /^ *#endif/) conditions--
  if (code ~ /^ *([@a-z][^{=:"]* )?(struct|class|enum|actor|protocol|extension) +[A-Z]/)
    open_type(level)
  if (!nesting) return
  lines_of[type[nesting]]++
  if (code !~ /^ *$/) count_fields(level - type_level[nesting])
  if (level == type_level[nesting] && code ~ /^ *\}|\{.*\} *$/) nesting--
}

function open_type(level, name, extends, module) {
  module = FILENAME
  sub(/^Sources\//, "", module)
  sub(/\/.*/, "", module)
  name = code
  extends = sub(/^.*extension +/, "", name)
  if (!extends) sub(/^.*(struct|class|enum|actor|protocol) +/, "", name)
  match(name, /^[A-Za-z0-9_.]+/)
  name = (nesting ? type[nesting] "." : module "/") substr(name, 1, RLENGTH)
  type[++nesting] = name
  type_level[nesting] = level
  type_conditions[nesting] = conditions
  if (!extends) type_place[name] = FILENAME ":" FNR
}

# A property is stored unless a block other than an observer follows its type.
function count_fields(column, name) {
  name = type[nesting]
  column -= 2 * (conditions - type_conditions[nesting])
  if (column == 4 && code ~ /^ *(willSet|didSet)/) fields[name]++
  if (unsettled && (column > 2 || code ~ /^ *\{/)) {
    if (code ~ /\{ *$/) fields[name]--
    if (code ~ /[{=]/) unsettled = 0
    return
  }
  unsettled = 0
  if (column != 2 || code !~ /^ *([@a-z][^{=]* )?(let|var) / || code ~ / static /) return
  if (code ~ /(let|var) [^{=]*\{/) return
  fields[name]++
  unsettled = code !~ /=/
}

# Only types that Sources declare are checked, not those that they extend.
END {
  for (name in type_place)
    check_type(name, substr(name, index(name, "/") + 1), fields[name] + 0, lines_of[name])
}

function check_type(key, name, properties, type_lines, is_large) {
  is_large = properties > fields_max || type_lines > type_lines_max
  if (index(" " large_types " ", " " name " ")) {
    if (!is_large) print type_place[key] ": " name " needs no exception in Tools/tidy any more"
  } else if (is_large) {
    print type_place[key] ": " name " has " properties " stored properties and " type_lines \
      " lines; " fields_max " and " type_lines_max " are the limits: find the second idea in it"
  }
}
