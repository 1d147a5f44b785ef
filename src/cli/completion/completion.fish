# Completion of cc-executor for fish, made by `cc-executor completions fish`.
# On TAB, the program itself is asked what may stand there.
function __cc_executor_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l found (command $words[1] __complete $words[2..] "$typed" 2>/dev/null)
    set -l option (string match -r -- '^--[^=]+=' "$typed")
    set -l value (string replace -r -- '^--[^=]+=' '' "$typed")
    switch "$found[1]"
        case ':files'
            set found (__fish_complete_path "$value")
        case ':directories'
            set found (__fish_complete_directories "$value")
        case ':command *'
            # The other program's own completion, as if its command line stood alone.
            set -l count (string replace ':command ' '' -- $found[1])
            set -l others
            test $count -gt 1; and set others $words[(math 1 - $count)..]
            complete -C (string join ' ' -- (string escape -- $others) "$typed")
            return
    end
    printf '%s\n' "$option"$found
end
complete -c cc-executor -e
complete -c cc-executor -f -k -a '(__cc_executor_complete)'
