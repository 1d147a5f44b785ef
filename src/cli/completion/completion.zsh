# Executions as `id:what it is`, asked of the program that is being completed.
_cc_executor_executions() {
  local -a found
  found=(${(f)"$(_call_program executions ${(q)_cc_executor_program} __executions $1 2>/dev/null)"})
  found=(${found/$'\t'/:})
  _describe -t executions execution found
}

# Compared with what the table says for `token create` and its like.
_cc_executor() {
  local curcontext=$curcontext state line ret=1
  local _cc_executor_program=$words[1]
  _arguments -C '1: :_cc_executor_commands' '*:: :->arguments' && ret=0
  [[ $state == arguments ]] || return ret

  local command=$words[1]
  if (( CURRENT > 2 )) && (( $+functions[_cc_executor_of_${command}_$words[2]] )); then
    command+=_$words[2]
    shift words
    (( CURRENT -= 1 ))
  elif (( CURRENT == 2 )) && (( $+functions[_cc_executor_family_$command] )) &&
    [[ $words[2] != -* ]]; then
    _cc_executor_family_$command
    return
  fi
  curcontext="${curcontext%:*:*}:cc-executor-$command:"
  (( $+functions[_cc_executor_of_$command] )) && _cc_executor_of_$command && ret=0
  return ret
}

# Loaded as a function by compinit, or sourced.
if [[ $funcstack[1] == _cc-executor ]]; then
  _cc_executor "$@"
else
  compdef _cc_executor cc-executor
fi
