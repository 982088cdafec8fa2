#!/bin/sh
# The demo (`make demo`): trains a model on real data with a gradient taken inside the program, compares a gradient by two methods and
# with finite differences, and compiles a gradient to C. Every line after `$` can be typed as it stands.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/build:$PATH"

say() { printf '%s\n' "$@"; }

# Shows a command, then runs it, its output indented and matrices a row a line.
run() {
    say "" "  \$ $1" ""
    if output=$(sh -c "$1" 2>&1); then
        say "$output" | sed -e 's/|\],\[|/|],\n                  [|/g' -e 's/|\]|\] \[|/|]|]\n                 [|/g' | sed 's/^/    /'
    else
        say "$output"
        exit 1
    fi
}


say "" \
    "Welcome to Cotan, a language whose programs can be differentiated." \
    "" \
    "1. A model learns from real data" \
    "" \
    "In 1936 R. A. Fisher published four measurements of each of 150 irises, fifty of each of three" \
    "species (examples/iris.json). examples/iris.cot tells the species from the measurements by softmax" \
    "regression. Its loss and its training are ordinary Cotan; the gradient is the function \`grad\`," \
    "called inside the loop:" \
    "" \
    "    descend rate f model = case (model, grad f model) of …" \
    "" \
    "The gradient of a Model is a Model. Here is the loss as a thousand steps of it go by:"
run "cotan run examples/iris.cot --args @examples/iris.json"

say "" \
    "2. Is the gradient right?" \
    "" \
    "Take the loss of six flowers, two of each species, before training. Its gradient in reverse, by a tape:"
run "cotan grad examples/iris.cot sixFlowers --at @examples/untrained.json --method tape"
say "" "and forward, by dual numbers, one direction at a time (the last digits are rounding):"
run "cotan grad examples/iris.cot sixFlowers --at @examples/untrained.json --method forward"
say "" "and both against finite differences, along random directions:"
run "cotan check examples/iris.cot sixFlowers --at @examples/untrained.json"
say "" \
    "3. Not only numbers and arrays" \
    "" \
    "A gradient has the structure of its point. Here the point is a search tree, the function the squares of" \
    "its numbers, each times its depth; the gradient is a tree."
run "cotan run examples/tree.cot"

say "" \
    "4. The gradient as C" \
    "" \
    "examples/c/curve.cot says how far a damped wave is from measurements. Cotan writes that and its gradient" \
    "as C, two files that need nothing but the mathematical library; examples/c/embedded.c, a program in C," \
    "descends along the gradient."
run "cotan compile examples/c/curve.cot loss --grad -o build/loss && sed -n '/^loss_error loss_grad/,/;\$/p' build/loss.h"
run "cc -std=c11 -O2 -Ibuild examples/c/embedded.c build/loss.c -lm -o build/embedded && build/embedded"

say "" \
    "That was all. What to try next:" \
    "" \
    "  * Change examples/iris.cot (the rate in \`train\`, the weight decay in \`loss\`) and run it again." \
    "  * build/cotan run examples/newton.cot       derivatives of functions not known where they are taken" \
    "  * build/cotan run examples/quaternion.cot   seven derivatives from a paper's figure" \
    "  * build/cotan core examples/logsumexp.cot   the program as the compiler sees it, differentiated" \
    "  * docs/tutorial.md is a first hour with Cotan; docs/README.md lists all pages, build/cotan --help the command." \
    ""
