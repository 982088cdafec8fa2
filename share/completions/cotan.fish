# Completion of the command cotan for fish. Verbs and options, with what they do, are asked of the command itself.

# Lines of help, "  NAME …   what it does", as NAME, a tab, what it does. (In a function, string reads pipes only behind cat.)
function __cotan_described
    cat | string replace -rf "^  ($argv[1])( .*)?  ([^ ].*)\$" '$1\t$3'
end

function __cotan_verbs
    cotan --help 2>/dev/null | __cotan_described '[a-z]+'
end

# The words behind the verb that are no options, nor values of options.
function __cotan_words
    set -l words (commandline -opc)
    set -l skip 0
    for word in $words[3..-1]
        if test $skip = 1
            set skip 0
        else if contains -- $word --count --time-passes --count-rules --profile --trap-nan --json --help --no-warnings --check --grad --vjp --jvp --errors -h; or string match -q -- '--*=*' $word
            continue
        else if string match -q -- '-*' $word
            set skip 1
        else
            echo $word
        end
    end
end

function __cotan_verb
    set -l words (commandline -opc)
    test (count $words) -ge 2; and echo $words[2]
end

function __cotan_options
    set -l verb (__cotan_verb)
    cotan $verb --help 2>/dev/null | __cotan_described '--[a-z-]+'
end

function __cotan_functions
    set -l words (__cotan_words)
    cotan type $words[1] 2>/dev/null | string replace -rf "^([a-z_][A-Za-z0-9_']*) :: (.*)" '$1\t$2'
end

function __cotan_methods
    cotan methods 2>/dev/null | string replace -r '^(\S+)\s+\S+\s+(.*)' '$1\t$2'
end

# The same behind the methods that stand there, with commas between them.
function __cotan_more_methods
    set -l others (commandline -ct | string match -r '.*,')
    __cotan_methods | string replace -r '^' "$others"
end

# Behind an option that takes a value nothing else is offered.
function __cotan_value
    set -l words (commandline -opc)
    string match -qr -- '^--(?!count$|trap-nan$|no-warnings$|json$|help$|check$|grad$|errors$)[^=]+$' $words[-1]
end

function __cotan_after
    set -l words (commandline -opc)
    contains -- $words[-1] $argv
end

function __cotan_wants
    __cotan_value; and return 1
    set -l verb (__cotan_verb); or return 1
    set -l words (__cotan_words)
    switch "$argv[1]:$verb:"(count $words)
        case 'files:cache:*' 'files:gradbench:*' 'files:methods:*' 'files:version:*' 'files:help:*'
            return 1
        case 'files:fmt:*' 'files:*:0'
            return 0
        case 'functions:repl:*' 'functions:fmt:*'
            return 1
        case 'functions:*:1'
            return 0
    end
    return 1
end

# Folders, and files with one of the extensions.
function __cotan_files
    set -l token (commandline -ct)
    for folder in $token*/
        echo $folder
    end
    for extension in $argv
        for file in $token*$extension
            echo $file
        end
    end
end

complete -c cotan -f
complete -c cotan -n 'not __cotan_verb' -a '(__cotan_verbs)'
complete -c cotan -n 'not __cotan_verb' -a '--help --version'
complete -c cotan -n 'test "$(__cotan_verb)" = help' -a '(__cotan_verbs)'
complete -c cotan -n '__cotan_verb; and not __cotan_value; and string match -q -- "-*" (commandline -ct)' -a '(__cotan_options)'
complete -c cotan -n '__cotan_wants files' -a '(__cotan_files .cot)'
complete -c cotan -n '__cotan_wants functions' -a '(__cotan_functions)'
complete -c cotan -n '__cotan_after --method; and test "$(__cotan_verb)" != fit' -a '(__cotan_methods)'
complete -c cotan -n '__cotan_after --method; and test "$(__cotan_verb)" = fit' -a 'lbfgs slsqp newton adam sgd nelder-mead'
complete -c cotan -n '__cotan_after --methods' -a '(__cotan_more_methods)'
complete -c cotan -n '__cotan_after --color' -a 'auto always never'
complete -c cotan -n '__cotan_after --math' -a 'fast exact'
complete -c cotan -n '__cotan_after --engine' -a 'auto eval native'
complete -c cotan -n '__cotan_after --dump' -a 'parse operators infer elaborate simplify differentiate prune reduce lower flow c native flow.cold_paths flow.dead_code flow.prune_lambda_sets flow.inline flow.simplify flow.specialise flow.row_parameters flow.partial_sums flow.recursion_to_loop flow.case_of_case flow.cse flow.skipped_index flow.carried_lengths flow.grown_arrays flow.extreme_reads flow.backward_sums flow.guards flow.fuse_maps flow.hoist_simple flow.induction_variables flow.carried_rows flow.previous_elements flow.unswitch flow.update_maps flow.flat_rows flow.vector_parameters flow.small_sizes flow.unroll_vectors flow.matrix_products flow.copies flow.scan_slices flow.wrapped_reads flow.powers flow.derive flow.one_sweep flow.base_cases flow.sink flow.literal_parameters flow.unroll flow.sparse_updates flow.extreme_starts flow.fuse flow.distribute flow.hoist flow.hoist_reads flow.hoist_checks flow.merged_switches flow.carried_elements flow.carried_fields flow.scales flow.extremes flow.materialise flow.shifted_reads flow.shifted_sums flow.fixed_sums flow.parted_loops flow.unbounded_loops flow.modulo_cons flow.neighbours flow.destinations flow.borrowed_parameters flow.call_sites flow.reference_counts flow.memory_reuse'
complete -c cotan -n '__cotan_after --path --programs' -a '(__cotan_files)'
complete -c cotan -n '__cotan_after --out' -a '(__cotan_files .json .npz .npy)'
complete -c cotan -n '__cotan_after --keep-c' -a '(__cotan_files .c)'
complete -c cotan -n '__cotan_after --html' -a '(__cotan_files .html)'
complete -c cotan -n '__cotan_after --log' -a '(__cotan_files .csv)'
complete -c cotan -n '__cotan_after --plot' -a '(__cotan_files .svg)'
complete -c cotan -n '__cotan_after --checkpoint' -a '(__cotan_files .checkpoint)'
