# The command that is being typed and how many operands it has already: `token create 0`.
function __cc_executor_at
    set -l words (commandline -opc)
    set -e words[1]
    set -l command $words[1]
    set -e words[1]
    if contains -- "$command $words[1]" $__cc_executor_double
        set command "$command $words[1]"
        set -e words[1]
    end
    set -l place 0
    set -l skip 0
    for word in $words
        if test $skip -eq 1
            set skip 0
        else if string match -q -- '--*=*' $word
        else if string match -q -- '-*' $word; and begin
                test $place -eq 0; or not contains -- "$command" $__cc_executor_programs
            end
            contains -- "$command $word" $__cc_executor_with_value; and set skip 1
        else
            set place (math $place + 1)
        end
    end
    echo "$command $place"
end

# Whether a command's options may stand here: not behind another program's name.
function __cc_executor_is
    set -l at (string split -r -m 1 ' ' -- (__cc_executor_at))
    test "$at[1]" = "$argv[1]"; or return 1
    test $at[2] -eq 0; or not contains -- "$argv[1]" $__cc_executor_programs
end

# Whether the next operand of a command is the given one; `+` is that or any after it.
function __cc_executor_next
    set -l at (string split -r -m 1 ' ' -- (__cc_executor_at))
    test "$at[1]" = "$argv[1]"; or return 1
    test $at[2] -eq $argv[2]; or test "$argv[3]" = + -a $at[2] -ge $argv[2]
end

function __cc_executor_executions
    set -l program (commandline -opc)[1]
    command $program __executions $argv[1] 2>/dev/null
end
