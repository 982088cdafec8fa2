#!/bin/sh
# growth.sh FILE LIMIT SIZE SIZE FUNCTION…: whether the steps of each function of a size grow by no more than LIMIT times.
file=$1 limit=$2 small=$3 large=$4
shift 4
steps() {
    cotan run "$file" "$1" --args "[$2]" --count 2>&1 | sed -n 's/^steps = //p'
}
for f in "$@"; do
    a=$(steps "$f" "$small") b=$(steps "$f" "$large")
    if [ -n "$a" ] && [ -n "$b" ] && [ $((b * 10)) -le $((a * limit)) ]; then
        echo "$f: ok"
    else
        echo "$f: from '$a' to '$b' steps"
    fi
done
