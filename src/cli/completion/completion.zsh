#compdef cc-executor
# Completion of cc-executor for zsh, made by `cc-executor completions zsh`.
# On TAB, the program itself is asked what may stand there.
_cc_executor() {
  local -a found
  found=("${(@f)$(command ${~${(Q)words[1]}} __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  [[ $found[1] == :command\ * ]] || compset -P '--[^=]##='
  case $found[1] in
    :files) _files ;;
    :directories) _files -/ ;;
    ':command 1') _command_names -e ;;
    :command\ *)
      # The other program's own completion, as if its command line stood alone.
      words=("${(@)words[CURRENT - ${found[1]#:command } + 1,-1]}")
      CURRENT=${found[1]#:command }
      _normal
      ;;
    ?*)
      found=("${(@)found//:/\\:}")
      found=("${(@)found/$'\t'/:}")
      _describe -t values value found
      ;;
  esac
}

# Loaded as a function by compinit, or sourced.
if [[ $funcstack[1] == _cc-executor ]]; then
  _cc_executor "$@"
else
  compdef _cc_executor cc-executor
fi
