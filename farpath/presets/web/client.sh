#!/bin/sh
# A page over each of some versions of HTTP, on new connections: client.sh OBJECTS BYTES VERSION...
set -e
objects=$1 bytes=$2
shift 2
work=/tmp/farpath-web-client
mkdir -p "$work"
times='transfer %{http_version} %{num_connects} %{time_appconnect} %{time_starttransfer} %{time_total} %{size_download}\n'
for version; do
    echo "page $version begins $(date +%s.%N)"
    case $version in
    3)
        # gtlsclient ends with status 0 whatever came
        set --
        for number in $(seq "$objects"); do set -- "$@" "https://server/$number"; done
        mkdir "$work/page"
        gtlsclient -q --exit-on-all-streams-close --qlog-file="$work/qlog" \
            --download="$work/page" server 443 "$@"
        end=$(date +%s.%N)
        came=$(cat "$work/page"/* | wc -c)
        if [ "$came" -ne $((objects * bytes)) ]; then
            echo "of $((objects * bytes)) bytes $came came over HTTP/3" >&2
            exit 1
        fi
        cat "$work/qlog"
        ;;
    *)
        connections=6
        [ "$version" = 2 ] && connections=$objects
        curl --insecure --fail --silent --show-error --no-progress-meter "--http$version" \
            --parallel --parallel-max "$connections" --write-out "$times" --output /dev/null \
            "https://server/[1-$objects]"
        end=$(date +%s.%N)
        ;;
    esac
    echo "page $version ends $end"
    sleep 1
done
