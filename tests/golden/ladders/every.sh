#!/bin/sh
# every.sh FILE FUNCTION POINT [OPTION…]: the gradient by each method of `cotan methods` on the evaluator.
file=$1 function=$2 point=$3
shift 3
cotan methods | grep -v "^native" | while read -r method _; do
    printf '%s: ' "$method"
    cotan grad "$file" "$function" --at "$point" --method "$method" --json "$@" | sed 's/,"peak_memory.*}/}/'
done
