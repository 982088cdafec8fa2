#!/bin/sh
# every.sh FILE FUNCTION POINT [OPTION…]: the gradient by each method of `cotan methods`.
file=$1 function=$2 point=$3
shift 3
cotan methods | while read -r method _; do
    printf '%s: ' "$method"
    cotan grad "$file" "$function" --at "$point" --method "$method" --json "$@" | sed 's/,"peak_memory.*}/}/'
done
