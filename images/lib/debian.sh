# shellcheck shell=bash
# Debian's archive by way of mmdebstrap, for scripts that take packages from it. Sourced
# in place of common.sh, which it sources itself.
#
# DEBIAN_MIRROR   a mirror of Debian's main archive (default: the machine's own
#                 where its apt has one, else mmdebstrap's default)

# shellcheck source=images/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly SUITE=trixie

# The mirror of Debian's main archive that the machine's own apt is set to use;
# nothing where there is none, as on Ubuntu. Security mirrors serve other suites.
debian_mirror() {
    if [ -n "${DEBIAN_MIRROR:-}" ]; then
        printf '%s\n' "$DEBIAN_MIRROR"
    elif command -v apt-get >/dev/null; then
        # shellcheck disable=SC2016  # apt's own placeholders
        { apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' \
            'Created-By: Packages' 2>/dev/null || true; } |
            sed -n '/^Debian|Debian|https\{0,1\}:/{s/.*|//p;q}'
    fi
}

# mmdebstrap starts an apt of its own, which knows nothing of the machine's proxy
proxy_options() {
    local name value
    command -v apt-config >/dev/null || return 0
    for name in Acquire::http::Proxy Acquire::https::Proxy; do
        value=
        eval "$(apt-config shell value "$name" 2>/dev/null)"
        [ -z "$value" ] || printf '%s\n' "--aptopt=$name \"$value\""
    done
}

# debian_bootstrap LOG OPTION...: mmdebstrap for SUITE, its updates and its
# backports, in the first mode that works here. Its result goes to stdout.
debian_bootstrap() {
    local log=$1 mirror options
    shift
    need_commands mmdebstrap
    mirror=$(debian_mirror)
    mapfile -t options < <(proxy_options)
    # The source lines are derived from the one that mmdebstrap wrote, which
    # names the mirror and the key that it settled on.
    # shellcheck disable=SC2016  # for the hook's shell
    local more_suites='cd "$1/etc/apt" &&
        sed -n "s/^\(deb .*\) trixie main/\1 trixie-backports main/p" sources.list > sources.list.d/more.list &&
        { grep -q " trixie-updates main" sources.list ||
          sed -n "s/^\(deb .*\) trixie main/\1 trixie-updates main/p" sources.list >> sources.list.d/more.list; }'
    if ! LC_ALL=C mmdebstrap --mode=auto "${options[@]}" \
        --aptopt='Acquire::Retries "2"' --aptopt='Acquire::http::Timeout "20"' \
        --setup-hook="$more_suites" "$@" "$SUITE" - ${mirror:+"$mirror"} \
        2>"$log" 9>&- </dev/null; then
        explain_bootstrap "$log" "${mirror:-the default mirror}"
        return 3
    fi
}

explain_bootstrap() {
    local log=$1 mirror=$2
    if grep -qE 'Could not (resolve|connect)|Temporary failure|Unable to connect|Network is unreachable|onnection (timed out|refused|failed)|Failed to fetch|does not have a Release file' "$log"; then
        say "cannot reach Debian's archive ($mirror): $(grep -m 1 -E 'Could not|Temporary|Unable to connect|unreachable|onnection|Failed to fetch|Release file' "$log" | cut -c -160)"
        say "check the network or proxy, or name another mirror with DEBIAN_MIRROR"
    elif grep -qE 'NO_PUBKEY|keyring' "$log"; then
        say "the archive's key is unknown here; install debian-archive-keyring ($(grep -m 1 -E 'NO_PUBKEY|keyring' "$log" | cut -c -160))"
    elif [ "$(id -u)" -ne 0 ] && ! grep -q 'apt-get update' "$log"; then
        explain_modes
    else
        tail -n 20 "$log" >&2
        say "mmdebstrap failed; its last lines are above"
    fi
}

# Which ways mmdebstrap has without root, and what each of them lacks here
explain_modes() {
    local user unshare=() remedy=
    user=$(id -un)
    command -v newuidmap >/dev/null || {
        unshare+=("newuidmap is missing")
        remedy="apt-get install uidmap"
    }
    grep -qE "^($user|$(id -u)):" /etc/subuid 2>/dev/null || {
        unshare+=("/etc/subuid has no line for $user")
        remedy=${remedy:+$remedy; }"usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $user"
    }
    explain_sysctl kernel/unprivileged_userns_clone 0 1
    explain_sysctl kernel/apparmor_restrict_unprivileged_userns 1 0
    [ ${#unshare[@]} -gt 0 ] || unshare=("$(unshare --user true 2>&1 || true)")
    say "no way to make a Debian root here: mode root (not root), unshare ($(
        IFS=,
        echo "${unshare[*]}"
    )), fakechroot ($(command -v fakechroot >/dev/null && echo "failed too" || echo "not installed"))"
    say "remedy: as root, ${remedy:-allow user namespaces}; or run this script as root"
}

# Adds to unshare and remedy of explain_modes
explain_sysctl() {
    local name=${1//\//.} bad=$2 good=$3
    [ "$(cat "/proc/sys/$1" 2>/dev/null)" = "$bad" ] || return 0
    unshare+=("$name=$bad")
    remedy=${remedy:+$remedy; }"sysctl -w $name=$good"
}
