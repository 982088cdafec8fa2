# Completion of the command cotan for bash. Verbs and options are asked of the command itself.

# The verbs; the options of a verb; the functions of a file; the names of methods.
_cotan_verbs() { "$1" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\)\( .*\)\{0,1\}$/\1/p'; }
_cotan_options() { "$1" "$2" --help 2>/dev/null | sed -n 's/^  \(--[a-z][a-z-]*\).*/\1/p'; }
_cotan_functions() { "$1" type "$2" 2>/dev/null | sed -n "s/^\([a-z_][A-Za-z0-9_']*\) :: .*/\1/p"; }
_cotan_methods() { "$1" methods 2>/dev/null | sed 's/ .*//'; }

# Adds the lines of standard input that begin with $1, quoted for the shell where they need it.
_cotan_offer() {
    local line
    while IFS= read -r line; do
        case $line in "$1"*) COMPREPLY+=("$(printf '%q' "$line")") ;; esac
    done
}

# Adds folders, and the files whose names end in one of the extensions ($2 …).
_cotan_files() {
    local current=$1 name extension
    shift
    compopt -o filenames 2>/dev/null
    while IFS= read -r name; do
        if [ -d "$name" ]; then
            COMPREPLY+=("$name")
            continue
        fi
        for extension in "$@"; do
            case $name in *."$extension") COMPREPLY+=("$name") ;; esac
        done
    done < <(compgen -f -- "$current")
}

# A value of JSON: @FILE, of the usual kinds or of another.
_cotan_json() {
    local i
    case $1 in @*) ;; *) return ;; esac
    _cotan_files "${1#@}" json npz npy ${2-}
    for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=@${COMPREPLY[i]}; done
}

# Adds the methods that begin with what stands behind the last comma of $1.
_cotan_more_methods() {
    local name others=${1%"${1##*,}"}
    for name in $(_cotan_methods "$command"); do
        case $others$name in "$1"*) COMPREPLY+=("$others$name") ;; esac
    done
}

# The values of an option. False when $1 takes none.
_cotan_value() {
    case $1 in
    --method)
        if [ "$verb" = fit ]; then
            _cotan_offer "$2" < <(printf '%s\n' lbfgs slsqp newton adam sgd nelder-mead)
        else
            _cotan_offer "$2" < <(_cotan_methods "$command")
        fi
        ;;
    --methods) _cotan_more_methods "$2" ;;
    --color) _cotan_offer "$2" < <(printf '%s\n' auto always never) ;;
    --math) _cotan_offer "$2" < <(printf '%s\n' fast exact) ;;
    --engine) _cotan_offer "$2" < <(printf '%s\n' auto eval native) ;;
    --dump) _cotan_offer "$2" < <(printf '%s\n' parse operators infer elaborate simplify differentiate prune reduce lower flow c native flow.cold_paths flow.dead_code flow.prune_lambda_sets flow.inline flow.simplify flow.specialise flow.row_parameters flow.partial_sums flow.recursion_to_loop flow.case_of_case flow.cse flow.skipped_index flow.carried_lengths flow.grown_arrays flow.extreme_reads flow.backward_sums flow.guards flow.fuse_maps flow.hoist_simple flow.induction_variables flow.carried_rows flow.previous_elements flow.unswitch flow.update_maps flow.flat_rows flow.vector_parameters flow.small_sizes flow.unroll_vectors flow.matrix_products flow.copies flow.scan_slices flow.wrapped_reads flow.powers flow.derive flow.one_sweep flow.base_cases flow.sink flow.literal_parameters flow.unroll flow.sparse_updates flow.extreme_starts flow.fuse flow.distribute flow.hoist flow.hoist_reads flow.hoist_checks flow.merged_switches flow.carried_elements flow.carried_fields flow.scales flow.extremes flow.materialise flow.shifted_reads flow.shifted_sums flow.fixed_sums flow.parted_loops flow.unbounded_loops flow.modulo_cons flow.neighbours flow.destinations flow.borrowed_parameters flow.call_sites flow.reference_counts flow.memory_reuse) ;;
    --path | --programs) _cotan_files "$2" ;;
    --keep-c) _cotan_files "$2" c ;;
    --out) _cotan_files "$2" json npz npy ;;
    --html) _cotan_files "$2" html ;;
    --at | --to | --args | --tangent | --cotangent | --start) _cotan_json "$2" ;;
    --data) _cotan_json "$2" csv ;;
    --log) _cotan_files "$2" csv ;;
    --plot) _cotan_files "$2" svg ;;
    --checkpoint) _cotan_files "$2" checkpoint ;;
    --wrt | --prefix | --lower | --upper | --constraint | --equality | --plot-model | --steps | --time | --tolerance | --rate | --batch | --seed | --restarts | --max-*) ;;
    *) return 1 ;;
    esac
}

_cotan() {
    local command=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local verb=${COMP_WORDS[1]-} file= i count=0
    COMPREPLY=()
    # bash makes three words of --method=tape
    if [ "$current" = = ]; then
        current=
    elif [ "$before" = = ] && [ "$COMP_CWORD" -ge 2 ]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if [ "$COMP_CWORD" -le 1 ]; then
        _cotan_offer "$current" < <(_cotan_verbs "$command" && printf '%s\n' --help --version)
        return
    fi
    case $before in -*) _cotan_value "$before" "$current" && return ;; esac
    if [[ $current == -* ]]; then
        _cotan_offer "$current" < <(_cotan_options "$command" "$verb")
        return
    fi
    # the words that are no options, nor values of options
    for ((i = 2; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --count | --time-passes | --count-rules | --profile | --json | --help | --no-warnings | --check | --grad | --vjp | --jvp | --errors | -h) ;;
        -*) ((i++)) && [ "${COMP_WORDS[i]-}" = = ] && ((i++)) ;;
        *)
            ((++count == 1)) && file=${COMP_WORDS[i]}
            ;;
        esac
    done
    case $verb:$count in
    help:0) _cotan_offer "$current" < <(_cotan_verbs "$command") ;;
    cache:* | gradbench:* | methods:* | version:* | help:* | repl:1) ;;
    fmt:* | *:0) _cotan_files "$current" cot ;;
    *:1) _cotan_offer "$current" < <(_cotan_functions "$command" "$file") ;;
    esac
}

complete -F _cotan cotan
