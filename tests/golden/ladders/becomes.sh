#!/bin/sh
# becomes.sh FILE FUNCTION POINT METHOD…: what a function becomes by each of the methods.
file=$1 function=$2 point=$3
shift 3
for method in "$@"; do
    cotan grad "$file" "$function" --at "$point" --method "$method" --dump differentiate | sed -n "/^$function\.$method /,/^\$/p"
done
