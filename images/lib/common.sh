# shellcheck shell=bash
# What the scripts of images/ share: messages, the cache, locks, cached builds and their
# manifests. Sourced; the sourcing script sets PART, the name that starts each of its
# messages.
#
# FARPATH_CACHE   where results are kept (default: ~/.cache/farpath)

: "${PART:?}"
MANIFEST_SCRIPT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/manifest.py
CODE_SCRIPT=${MANIFEST_SCRIPT%/images/lib/*}/farpath/base/c_source.py
readonly MANIFEST_SCRIPT CODE_SCRIPT
CACHE=${FARPATH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/farpath}
[[ $CACHE = /* ]] || CACHE=$PWD/$CACHE
held_lock=

say() {
    printf '%s: %s\n' "$PART" "$*" >&2
}

# die STATUS MESSAGE: 2 for bad input, 3 for a machine that lacks something
die() {
    say "${*:2}"
    exit "$1"
}

need_commands() {
    local command missing=()
    for command in "$@"; do
        command -v "$command" >/dev/null || missing+=("$command")
    done
    [ ${#missing[@]} -eq 0 ] ||
        die 3 "this machine lacks ${missing[*]}; install what is missing with images/host-packages"
}

# hold_lock FILE: wait for other builds under that lock; held until exit
hold_lock() {
    [ "$held_lock" != "$1" ] || return 0
    need_commands flock
    mkdir -p "$(dirname "$1")"
    exec 9>"$1"
    if ! flock --nonblock 9; then
        say "another build holds $1; waiting for it to end"
        flock 9
    fi
    held_lock=$1
}

need_space() {
    local gigabytes=$1 free_kb
    mkdir -p "$CACHE" || die 3 "cannot write to the cache $CACHE; set FARPATH_CACHE to a writable directory"
    free_kb=$(df --output=avail -k "$CACHE" | tail -n 1)
    [ "$free_kb" -ge $((gigabytes * 1024 * 1024)) ] ||
        die 3 "no space left: $CACHE has $((free_kb / 1024)) MB free, the build needs $gigabytes GB; free some or set FARPATH_CACHE to another disk"
}

sha256_of() {
    sha256sum "$@" | cut -d ' ' -f 1
}

# section_hash ELF SECTION: the hash of a section's bytes, without its name and time. objcopy would put a
# file in the place of /dev/stdout where the user may write there
section_hash() {
    local file
    file=$(mktemp)
    objcopy --output-target=binary --only-section="$2" "$1" "$file"
    sha256_of "$file"
    rm -f "$file"
}

# code_of FILE...: prints C or C++ sources without comments and blank lines, which no compiler sees
code_of() {
    python3 -I "$CODE_SCRIPT" "$@"
}

# code_hashes FILE...: a line for each, its name and the hash of its code
code_hashes() {
    python3 -I "$CODE_SCRIPT" --sha256 "$@"
}

# ---------------------------------------------------------- cached builds

# A result is a directory $CACHE/<kind>/<key>; the key is a hash of all that decides what
# is in it. It is written once and never changed.

# Whether result is there and whole; a script may define its own after sourcing this file
is_built() {
    [ -e "$result/manifest.json" ]
}

# cached_build RESULT CHECK FILL: prints RESULT, which is made if it is not there. One
# build at a time has the lock of RESULT's kind. CHECK ends the script if the machine
# lacks what FILL needs. FILL puts files into the new directory part, which is then
# renamed to RESULT. All that CHECK and FILL print goes to stderr.
cached_build() {
    local check=$2 fill=$3
    result=$1
    if ! is_built; then
        hold_lock "${result%/*}/lock"
        if ! is_built; then
            "$check" >&2
            make_result "$fill" >&2
        fi
    fi
    printf '%s\n' "$result"
}

make_result() {
    child=
    part=$(mktemp -d "$result.XXXXXX.part")
    trap discard_part EXIT
    chmod 755 "$part"
    "$1"
    rm -rf "$result"
    mv -T "$part" "$result"
    trap - EXIT
    say "made $result ($(du -sm "$result" | cut -f 1) MB, ${SECONDS} s)"
}

# What a build leaves that fails or is interrupted: child, its process in the background
# if it has one, and part, in which unpacked directories may not be writable
discard_part() {
    [ -z "$child" ] || kill "$child" 2>/dev/null || true
    chmod -R u+rwX "$part" || true
    rm -rf "$part"
}

# -------------------------------------------------------------- manifests

# write_manifest FILE: lines from stdin, each the names that lead to a value and the
# value, separated by tabs; a name alone is an object, filled by other lines or empty
write_manifest() {
    python3 -I "$MANIFEST_SCRIPT" write "$1"
}

# read_manifest FILE NAME...: prints the value to which the names lead
read_manifest() {
    python3 -I "$MANIFEST_SCRIPT" read "$@" ||
        die 3 "$1 is not as this farpath writes it, as said above; remove ${1%/*} and build it again"
}

# module_fields DIRECTORY: lines for write_manifest, of each module there and its source's code
module_fields() {
    local files=("$1"/*.ko)
    (cd "$1" && sha256sum -- *.ko) | sed 's/^\(.*\)  \(.*\)\.ko$/modules\t\2\tmodule_hash\t\1/'
    code_hashes "${files[@]/%.ko/.c}" | sed 's/^\(.*\)\.c \(.*\)$/modules\t\1\tsource_hash\t\2/'
}
